#!/bin/bash
# The GPU tests under compute-sanitizer: sanitize.sh [TOOL...], by default memcheck synccheck initcheck racecheck.
# Runs the programs in .gpu/ (gpu_test.sh pack) or else build/. memcheck, synccheck and initcheck see the kernels as they ship, with
# one arrival per consumer warp; racecheck takes such a release for a race, so it sees the same ring with one arrival per thread.
# Kernels come from .gpu/kernels where it exists. A missing tool or a tool under which no test ran is a failure. TMARING_TEST_SUBSET=n takes every n-th case of each table.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
[ -n "$sanitizer" ] || die "compute-sanitizer is missing; install the CUDA toolkit's cuda-sanitizer package"
has_gpu || die "no NVIDIA GPU and driver on this machine"
folder=$root/.gpu
if [ ! -d "$folder/tests" ]; then folder=$root/build; fi
[ -d "$folder/tests" ] || die "no test programs in .gpu/ or build/; run scripts/test.sh first"
export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TMARING_CLI=$folder/tmaring
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
kernels=$logs
if [ -d "$folder/kernels" ]; then kernels=$folder/kernels; fi
export TMARING_CACHE_DIR=${TMARING_CACHE_DIR:-$kernels}

# Sum of the numbers in the tool's closing lines, one per process that used the GPU.
findings() { { grep -hoE 'SUMMARY: [0-9]+' "$@" || true; } | awk '{ sum += $2 } END { print sum + 0 }'; }

run_tool() {
  local tool=$1 release=warp before_run program name filter count tests
  shift
  if [ "$tool" = racecheck ]; then release=thread; fi
  before_run=$((passed + failed))
  for program in "$folder"/tests/*_test; do
    # GPU tests carry the backend in their name.
    "$program" --list </dev/null 2>/dev/null | grep cuda >/dev/null || continue
    name=$(basename "$program")
    # Ordinary loads by all lanes of a warp, for which one lane arrives: see docs/findings/sanitizers.md.
    if [ "$tool" = racecheck ] && [[ $name == load_paths_test || $name == mixed_fill_test ]]; then
      count_skip "racecheck: $name: takes what one lane's arrival stands for, for a race"
      continue
    fi
    # Ready ops plan for themselves, with one arrival per warp; the same formulas run with the other count in op_*_test.
    if [ "$tool" = racecheck ] && [[ $name == ops_* ]]; then
      count_skip "racecheck: $name: its release is not to choose"
      continue
    fi
    under=(env "TMARING_TEST_RELEASE=$release" "$sanitizer" --tool "$tool" --target-processes all --error-exitcode 9
      --require-cuda-init no --launch-timeout 120 --print-limit 20 --log-file "$logs/$tool.$name.%p.log" "$@")
    # One test of fault_test lets the kernel trap: any tool would report it.
    if [ "$name" = fault_test ]; then filter='fault/a_sound*cuda'; else filter='*/*cuda*'; fi
    run_criterion "$program" -j4 --filter "$filter"
  done
  under=()
  tests=$((passed + failed - before_run))
  count=$(findings "$logs/$tool".*.log)
  say "$tool (release $release): $tests tests, $count findings"
  if [ "$tests" -eq 0 ]; then count_fail "$tool: no test ran"; fi
  if [ "$tool" = memcheck ]; then check "memcheck sees what the unsafe policy does" unsafe_is_seen; fi
  if [ "$count" -ne 0 ]; then
    # The first reports, for the log.
    grep -hE -A12 '^=========.*(Invalid|Error|Race|hazard|Uninitialized|Barrier|Program hit|Leaked)' "$logs/$tool".*.log | head -80 || true
    count_fail "$tool: $count findings"
  fi
}

# memcheck has to see the reads and writes past the end of the test that makes them on purpose: else its silence means nothing.
unsafe_is_seen() {
  env TMARING_TEST_UNSAFE=1 "$sanitizer" --tool memcheck --target-processes all --require-cuda-init no --launch-timeout 120 \
    --log-file "$logs/unsafe.%p.log" "$folder/tests/cases_test" -j1 --filter 'cases/unsafe_cuda' </dev/null >"$logs/unsafe.out" 2>&1 || true
  [ "$(findings "$logs"/unsafe.*.log)" -gt 0 ] || { cat "$logs/unsafe.out" "$logs"/unsafe.*.log; return 1; }
}

if [ $# -eq 0 ]; then set -- memcheck synccheck initcheck racecheck; fi
for tool; do run_tool "$tool"; done
finish
