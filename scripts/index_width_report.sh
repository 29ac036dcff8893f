#!/bin/bash
# What a second instance with 64-bit indexes costs, both candidates from this one tree: kernels whose indexes are per element
# (scripts/bench/index_kernels.cu), and kernels of the ring with their indexes inside a fill widened (TMARING_INDEX_64).
#   index_width_report.sh [static]          bytes of the cubin, symbols, registers: needs nvcc and build/tmaring
#   index_width_report.sh pack [FOLDER]     what the times need, into .gpu-index/
#   index_width_report.sh time [FOLDER]     on the GPU machine, which has NVRTC: prints the tables, and leaves them in FOLDER/times.md
# Widths in turn, cold operands, medians. Never under a sanitizer.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

verb=${1:-static}
folder=${2:-$root/.gpu-index}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)

elementwise="contiguous strided_divide strided_copy gather"
# NAME|arguments of tmaring emit and bench|small shape|large shape
ring=(
  "x + x|y = x + x|1024,4096|262144,4096"
  "rmsnorm|--op rmsnorm|1024,4096|262144,4096"
  "softmax|--op softmax|1024,4096|262144,4096"
  "col_sum|--op col_sum|1024,4096|262144,4096"
)

compile() { # OUTPUT SOURCE FLAGS...: the compiler's resource lines
  local output=$1 source=$2
  shift 2
  "$nvcc" -std=c++17 -O3 -Iinclude -gencode=arch=compute_90a,code=sm_90a -cubin -Xptxas -v -o "$output" "$@" "$source" 2>"$work/log" ||
    { cat "$work/log"; die "$source does not compile"; }
  cat "$work/log"
}

# Registers of each kernel, in the order of the compiler's report; its entry points.
registers() { sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$1" | paste -sd/; }
symbols() { sed -n "s/.*Compiling entry function '\([^']*\)'.*/\1/p" "$1" | paste -sd' '; }

row() { # NAME SOURCE FLAGS-OF-32 FLAGS-OF-64
  local bytes=() used=() named=() width
  for width in 32 64; do
    # shellcheck disable=SC2086
    if [ $width = 32 ]; then compile "$work/cubin" "$2" $3 >"$work/$width"; else compile "$work/cubin" "$2" $4 >"$work/$width"; fi
    bytes+=("$(stat -c %s "$work/cubin")")
    used+=("$(registers "$work/$width")")
    named+=("$(symbols "$work/$width")")
  done
  if [ "${named[0]}" = "${named[1]}" ]; then named[1]="the same"; fi
  echo "| $1 | ${bytes[0]} | ${bytes[1]} | ${used[0]} | ${used[1]} | \`${named[0]}\`, ${named[1]} |"
}

emit() { # FORMULA SHAPE
  case $1 in
  --op*) build/tmaring emit $1 --shape "$2" --type bf16 >"$work/ring.cu" ;;
  *) build/tmaring emit "$1" --shape "$2" --type bf16 >"$work/ring.cu" ;;
  esac
}

static() {
  local kernel entry name formula large
  [ -n "$nvcc" ] || die "nvcc is not installed"
  [ -x build/tmaring ] || die "build/tmaring is missing; build first"
  echo "| kernel | bytes, 32 | bytes, 64 | registers, 32 | registers, 64 | entry points, 32 and 64 |"
  echo "|---|---|---|---|---|---|"
  for kernel in $elementwise; do
    row "$kernel" scripts/bench/index_kernels.cu "-DONLY_KERNEL=$kernel -DONLY_INDEX=tmaring_i32" \
      "-DONLY_KERNEL=$kernel -DONLY_INDEX=tmaring_i64"
  done
  for entry in "${ring[@]}"; do
    IFS='|' read -r name formula _ large <<<"$entry"
    emit "$formula" "$large"
    row "ring: $name, bf16" "$work/ring.cu" "" "-DTMARING_INDEX_64"
  done
}

# The tool with the device sources of one width in it.
pack_tool() { # WIDTH
  local tree=$work/tree
  rm -rf "$tree"
  mkdir "$tree"
  cp -r CMakeLists.txt cmake include src "$tree"
  if [ "$1" = 64 ]; then sed -i '0,/^#define TMARING_DEVICE_MEMORY_CUH/s//&\n#define TMARING_INDEX_64 1/' "$tree/include/tmaring/device/memory.cuh"; fi
  configure_tree "$tree" || { tail -20 "$work/log"; die "the tool does not build"; }
  cp "$tree/build/tmaring" "$folder/tmaring-$1"
  strip "$folder/tmaring-$1"
  copy_libraries "$folder/tmaring-$1" "$folder/lib"
}
configure_tree() {
  cmake -S "$1" -B "$1/build" -G Ninja -DTMARING_NVRTC=OFF -DTMARING_BUILD_TESTS=OFF >"$work/log" 2>&1 &&
    ninja -C "$1/build" tmaring_tool >"$work/log" 2>&1
}

pack() {
  [ -n "$nvcc" ] || die "nvcc is not installed"
  rm -rf "$folder"
  mkdir -p "$folder/lib"
  pack_tool 32
  pack_tool 64
  cmp -s "$folder/tmaring-32" "$folder/tmaring-64" && die "both tools are the same: TMARING_INDEX_64 was not entered"
  "$nvcc" -std=c++17 -O3 -Iinclude -gencode=arch=compute_90a,code=sm_90a -o "$folder/index_kernels" scripts/bench/index_kernels.cu
  say "packed into $folder, $(du -sh "$folder" | cut -f1)"
}

bench() { # WIDTH FORMULA SHAPE: median microseconds
  local out
  case $2 in
  --op*) out=$("$folder/tmaring-$1" bench $2 --shape "$3" --type bf16 --backend cuda --reps 31) ;;
  *) out=$("$folder/tmaring-$1" bench "$2" --shape "$3" --type bf16 --backend cuda --reps 31) ;;
  esac
  awk '/^  time/ { print $2 }' <<<"$out"
}
middle() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

time_ring() {
  local entry name formula small large shape round
  echo "| ring kernel, bf16 | elements | 32-bit us | 64-bit us | 64 / 32 |"
  echo "|---|---|---|---|---|"
  for entry in "${ring[@]}"; do
    IFS='|' read -r name formula small large <<<"$entry"
    for shape in "$small" "$large"; do
      : >"$work/32" && : >"$work/64"
      for round in 1 2 3 4 5; do
        bench 32 "$formula" "$shape" >>"$work/32"
        bench 64 "$formula" "$shape" >>"$work/64"
      done
      paste <(middle <"$work/32") <(middle <"$work/64") | awk -v name="$name" -v shape="[${shape/,/, }]" \
        '{ printf "| %s | %s | %.2f | %.2f | %.3f |\n", name, shape, $1, $2, $2 / $1 }'
    done
  done
}

times() {
  has_gpu || die "no NVIDIA GPU and driver on this machine"
  [ -x "$folder/index_kernels" ] || die "$folder is empty; run index_width_report.sh pack first, and bring the folder along"
  export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TMARING_CACHE_DIR=$work
  { "$folder/index_kernels" && echo && time_ring; } | tee "$folder/times.md"
}

case $verb in
static) static ;;
pack) pack ;;
time | --time) times ;;
*) die "usage: index_width_report.sh [static] | pack [FOLDER] | time [FOLDER]" ;;
esac
