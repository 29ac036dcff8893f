#!/bin/bash
# Takes the 64-bit step out of one expression after the other, and shows that a test sees each: a test that passes with such a mutant
# would not have found the fault.
#   mutate_index.sh [cpu]           here: builds and runs the tests of the CPU's mutants, about a minute
#   mutate_index.sh pack [FOLDER]   builds tests/far_rows_test against each mutant of the GPU's, into .gpu-mutants/
#                                   TMARING_PACK_KERNELS=no leaves the kernels out: for a GPU machine that has NVRTC
#   mutate_index.sh run [FOLDER]    on the GPU machine: runs them
#   mutate_index.sh check           whether every expression is still there; builds nothing
# Prints "caught" or "MISSED" per mutant; "none" is the tree as it is, which has to pass.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

verb=${1:-cpu}
folder=${2:-$root/.gpu-mutants}
tree=

# name | file | perl substitution over the whole file | test program | tests that have to fail
cpu_mutants=$(cat <<'END'
none|include/tmaring/abi/run.h||index_width_test far_plan_test far_rows_test|*/*
row times pitch|include/tmaring/abi/run.h|s/return row \* s->pitch;/return (tmaring_i32)((tmaring_u32)row * (tmaring_u32)s->pitch);/|far_plan_test|far_plan/F12_last_rows*
row times pitch, unsigned|include/tmaring/abi/run.h|s/return row \* s->pitch;/return (tmaring_i64)((tmaring_u32)row * (tmaring_u32)s->pitch);/|far_rows_test|far_rows/far_pitch_cpu
group times pitch|include/tmaring/abi/run.h|s/return \(tmaring_i64\)group \* s->group_pitch/return (tmaring_i32)(group * (tmaring_u32)s->group_pitch)/|far_rows_test|far_rows/far_groups_cpu
column times element size|include/tmaring/abi/run.h|s/\(tmaring_u64\)col \* s->elem_bytes/(tmaring_u64)((tmaring_u32)col * s->elem_bytes)/|far_plan_test|far_plan/F12_last_rows*
values: row times pitch|include/tmaring/abi/args.h|s/\(tmaring_u64\)\(row \* v->pitch\)/(tmaring_u64)((tmaring_u32)row * (tmaring_u32)v->pitch)/|far_rows_test|far_rows/far_values_cpu
values: group times step|include/tmaring/abi/args.h|s/\(tmaring_u64\)\(g \* v->step\)/(tmaring_u64)((tmaring_u32)g * (tmaring_u32)v->step)/|far_rows_test|far_rows/far_values_cpu
partial results|include/tmaring/abi/args.h|s/return \(output \* rows \+ chunk \* seats \+ seat\) \* tmaring_column_stride\(a\)/return (tmaring_i32)((tmaring_u32)(output * rows + chunk * seats + seat) * (tmaring_u32)tmaring_column_stride(a))/|far_plan_test|far_plan/partial*
tile times rows|include/tmaring/abi/walk.h|s/fill->row = \(tile \* w->chunk \+ part\) \* w->tile_rows;/fill->row = (tmaring_i32)(((tmaring_u32)tile * (tmaring_u32)w->chunk + (tmaring_u32)part) * (tmaring_u32)w->tile_rows);/|far_plan_test|far_plan/F12_last_rows*
walk: adds before it compares|include/tmaring/abi/index.h|s/s->live = s->count - s->at > s->step;\s*\\\s*if \(s->live\) s->at \+= s->step;/s->at = (index)((tmaring_u64)s->at + (tmaring_u64)s->step); s->live = s->at < s->count;/|index_width_test|index_width/the_last_step*
walk: starts in 32 bits|include/tmaring/abi/index.h|s/s->live = first < count;/s->live = (index)first < count;/|index_width_test|index_width/the_last_step*
walk: steps in 32 bits|include/tmaring/abi/index.h|s/\(index\)tmaring_min_i64\(step, count\)/(index)step/|index_width_test|index_width/the_last_step*
width: numel alone|src/host/describe/index_width.c|s/ && r\.offset < TMARING_INDEX_LIMIT//|index_width_test|index_width/numel_and*
width: offset alone|src/host/describe/index_width.c|s/r\.numel < TMARING_INDEX_LIMIT && //|index_width_test|index_width/numel_and*
width: limit taken in|src/host/describe/index_width.c|s/r\.numel < TMARING_INDEX_LIMIT/r.numel <= TMARING_INDEX_LIMIT/|index_width_test|index_width/numel_and*
width: products wrap|src/host/describe/index_width.c|s/b > 0 && a > INT64_MAX \/ b \? INT64_MAX : a \* b/(int64_t)((uint64_t)a * (uint64_t)b)/|index_width_test|index_width/numel_and*
width: the first tensor alone|src/host/describe/index_width.c|s/i < count; \+\+i\) \{\s*TMARING__TRY\(check_tensor/i < 1; ++i) {\n    TMARING__TRY(check_tensor/|index_width_test|index_width/any_tensor*
grid: no limit on y and z|src/host/describe/index_width.c|s/&budget, TMARING_MAX_GRID_YZ/&budget, TMARING_MAX_GRID_X/g|index_width_test|index_width/grids*
limit: no coordinates|src/host/plan/row_limit.c|s/return tiled \? TMARING_MAX_COORDINATES : INT64_MAX;/return tiled ? INT64_MAX : INT64_MAX;/|far_plan_test|far_plan/coordinates*
END
)
# Kernels are made of the same headers; these are seen on the device. Of several tests each has to fail.
gpu_mutants=$(cat <<'END'
none|include/tmaring/abi/run.h|||far_rows/far_*_cuda
row times pitch|include/tmaring/abi/run.h|s/return row \* s->pitch;/return (tmaring_i64)((tmaring_u32)row * (tmaring_u32)s->pitch);/||far_rows/far_pitch_cuda
dense rows times pitch|include/tmaring/abi/run.h|s/return row \* s->pitch;/return (tmaring_i32)((tmaring_u32)row * (tmaring_u32)s->pitch);/||far_rows/copy_i8_cuda far_rows/copy_bf16_cuda far_rows/x_plus_x_i8_cuda far_rows/x_plus_x_bf16_cuda far_rows/row_sum_i8_cuda far_rows/row_sum_bf16_cuda far_rows/softmax_i8_cuda far_rows/softmax_bf16_cuda far_rows/rmsnorm_i8_cuda far_rows/rmsnorm_bf16_cuda far_rows/col_sum_i8_cuda far_rows/col_sum_bf16_cuda far_rows/F12_rmsnorm_cuda far_rows/F12_quantize_cuda
group times pitch|include/tmaring/abi/run.h|s/return \(tmaring_i64\)group \* s->group_pitch/return (tmaring_i64)(group * (tmaring_u32)s->group_pitch)/||far_rows/far_groups_cuda
values: row times pitch|include/tmaring/abi/args.h|s/\(tmaring_u64\)\(row \* v->pitch\)/(tmaring_u64)((tmaring_u32)row * (tmaring_u32)v->pitch)/||far_rows/far_values_cuda
values: group times step|include/tmaring/device/row.cuh|s/\(tmaring_u64\)\(\(tmaring_u32\)col \/ COLS\) \* \(tmaring_u64\)vector->step/(tmaring_u64)((tmaring_u32)col \/ COLS * (tmaring_u32)vector->step)/||far_rows/far_values_cuda
END
)

# A copy of what is built, with a build folder of its own: mutants differ by one file from one another.
make_tree() {
  tree=$(mktemp -d)
  trap 'rm -rf "$tree"' EXIT
  cp -r CMakeLists.txt cmake include src tests docs "$tree"
  cmake -S "$tree" -B "$tree/build" -G Ninja -DTMARING_NVRTC=OFF -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=$1" >"$tree/log" 2>&1 ||
    { cat "$tree/log"; die "cannot configure the copy"; }
}

# apply FILE SUBSTITUTION: 1 where nothing was substituted. The file as it was is kept, and put back by restore.
apply() {
  cp "$tree/$1" "$tree/kept"
  [ -n "$2" ] || return 0
  perl -0pi -e "$2" "$tree/$1"
  ! cmp -s "$tree/kept" "$tree/$1"
}
restore() { cp "$tree/kept" "$tree/$1"; }
build() { ninja -C "$tree/build" "$@" >"$tree/log" 2>&1 || { tail -20 "$tree/log"; return 1; }; }

# verdict NAME STATUS: none has to pass, all others have to fail.
verdict() {
  if [[ $1 == none* ]]; then
    if [ "$2" -eq 0 ]; then count_pass; say "$1: passes"; else count_fail "the tree as it is fails"; fi
  elif [ "$2" -ne 0 ]; then
    count_pass
    say "caught: $1"
  else
    count_fail "MISSED: $1"
  fi
}

run_tests() { # STATUS-OF: programs, filter
  local program rc=0
  for program in $1; do
    timeout 120 "$program" --filter "$2" </dev/null >"$tree/log" 2>&1 || rc=$?
  done
  return $rc
}

# A mutant whose expression has moved on tests nothing.
check_expressions() {
  local name file edit rest
  tree=$(mktemp -d)
  trap 'rm -rf "$tree"' EXIT
  cp -r include src "$tree"
  while IFS='|' read -r name file edit rest; do
    if apply "$file" "$edit"; then count_pass; else count_fail "$name: $file has no such expression"; fi
    restore "$file"
  done <<<"$cpu_mutants"$'\n'"$gpu_mutants"
  finish
}

on_cpu() {
  local name file edit programs filter rc paths program
  make_tree -O0
  while IFS='|' read -r name file edit programs filter; do
    if ! apply "$file" "$edit"; then count_fail "$name: $file has no such expression"; continue; fi
    # shellcheck disable=SC2086
    if build $programs; then
      rc=0
      paths=
      for program in $programs; do paths+=" $tree/build/tests/$program"; done
      run_tests "$paths" "$filter" || rc=$?
      verdict "$name" $rc
    else
      count_fail "$name: does not build"
    fi
    restore "$file"
  done <<<"$cpu_mutants"
  finish
}

pack() {
  local name file edit filter number=0 own
  make_tree -O1
  rm -rf "$folder"
  mkdir -p "$folder/lib"
  while IFS='|' read -r name file edit _ filter; do
    apply "$file" "$edit" || die "$name: $file has no such expression"
    build far_rows_test || die "$name: does not build"
    own=$folder/$number
    mkdir -p "$own/kernels"
    printf '%s|%s\n' "$name" "$filter" >"$own/mutant"
    cp "$tree/build/tests/far_rows_test" "$own"
    copy_libraries "$own/far_rows_test" "$folder/lib"
    if [ "${TMARING_PACK_KERNELS:-yes}" != no ]; then
      TMARING_TEST_COMPILE=1 TMARING_CACHE_DIR=$own/kernels "$own/far_rows_test" --filter 'far_rows/plans*' </dev/null >"$tree/log" 2>&1 ||
        { tail -20 "$tree/log"; die "$name: kernels do not compile"; }
    fi
    strip "$own/far_rows_test"
    restore "$file"
    number=$((number + 1))
  done <<<"$gpu_mutants"
  say "packed $number mutants, $(du -sh "$folder" | cut -f1), into $folder"
}

# A mutant's stray stores may stop the device's context: each program has one of its own.
run_there() { # FOLDER NAME FILTER
  local rc=0
  TMARING_CACHE_DIR=$1/kernels timeout 300 "$1/far_rows_test" -j1 --filter "$3" </dev/null >"$tree/log" 2>&1 || rc=$?
  # a stray access may end the program before it has its line out
  if ! grep -qE '^far |: CRASH|FAILED|FAIL' "$tree/log"; then
    count_fail "$2: no case of $3 ran"
    return
  fi
  verdict "$2${3:+ ($3)}" $rc
  grep -hE '^far .*FAILED' "$tree/log" | head -1 || true
}

run() {
  local own name filter one filters
  has_gpu || die "no NVIDIA GPU and driver on this machine"
  [ -d "$folder/0" ] || die "$folder is empty; run mutate_index.sh pack first, and bring the folder along"
  export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  tree=$(mktemp -d)
  trap 'rm -rf "$tree"' EXIT
  for own in "$folder"/[0-9]*; do
    IFS='|' read -r name filter <"$own/mutant"
    read -ra filters <<<"$filter"
    for one in "${filters[@]}"; do run_there "$own" "$name" "$one"; done
  done
  finish
}

case $verb in
cpu) on_cpu ;;
check) check_expressions ;;
pack) pack ;;
run) run ;;
*) die "usage: mutate_index.sh [cpu] | check | pack [FOLDER] | run [FOLDER]" ;;
esac
