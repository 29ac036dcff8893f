#!/bin/bash
# Compiles every built-in kernel with NVRTC 12 and 13, and the examples for kernel authors with nvcc; each image must be for sm_90a
# and hold no PTX: check_kernels.sh [BUILD-FOLDER]. Needs no GPU.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --build "$build" --target tmaring-builtin </dev/null >"$work/log" 2>&1 || { cat "$work/log"; die "the tool did not build"; }

# is_sm_90a FILE: up to ELF ABI 7 the flags say 90 in their low byte and the "a" in bit 11; from ABI 8 on they say 90 in the
# second byte, and the compiler's options are noted in the file.
is_sm_90a() {
  local abi flags
  abi=$(od -An -tu1 -j8 -N1 "$1" | tr -d ' ')
  flags=$((16#$(od -An -tx4 -j48 -N4 "$1" | tr -d ' ')))
  if [ "$(od -An -tx1 -N4 "$1" | tr -d ' ')" != 7f454c46 ]; then echo "$1: no ELF image"; return 1; fi
  if [ "$abi" -le 7 ]; then
    [ $((flags & 255)) -eq 90 ] && [ $((flags & 2048)) -ne 0 ] || { printf '%s: flags %x\n' "$1" "$flags"; return 1; }
  else
    [ $((flags >> 8 & 255)) -eq 90 ] && grep -qa -e '-arch sm_90a' "$1" || { printf '%s: flags %x\n' "$1" "$flags"; return 1; }
  fi
  if grep -qa '\.target' "$1"; then echo "$1: holds PTX"; return 1; fi
}

# Both releases at the same time. What the build itself has compiled is taken from its cache (cmake/TmaringBuiltin.cmake).
compile_all() { # RELEASE
  local folder=$root/.cache/nvrtc$1/lib cache
  cache=$build/kernels-$(printf %s "$folder/libnvrtc.so.$1" | sha1sum | cut -c1-8)
  LD_LIBRARY_PATH=$folder TMARING_NVRTC=$folder/libnvrtc.so.$1 TMARING_CACHE_DIR=$cache \
    "$build/tmaring-builtin" --cubins "$work/$1" >"$work/$1.log" 2>&1
  touch "$work/$1.good"
}
all_compiled() { cat "$work/$1.log" && [ -e "$work/$1.good" ]; }

for release in 12 13; do
  mkdir "$work/$release"
  if scripts/fetch_nvrtc.sh $release; then
    compile_all $release &
  else
    echo "NVRTC $release could not be fetched" >"$work/$release.log"
  fi
done
wait
for release in 12 13; do
  check "kernels: NVRTC $release compiles them all" all_compiled $release
  for cubin in "$work/$release"/*.cubin; do
    [ -e "$cubin" ] || continue
    check "kernels: $(basename "$cubin"), NVRTC $release, is for sm_90a" is_sm_90a "$cubin"
  done
  say "$(cat "$work/$release.log")"
done

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
for example in docs/examples/*.cu; do
  [ -e "$example" ] || continue
  if [ -z "$nvcc" ]; then
    count_skip "kernels: $example: nvcc is not installed"
    continue
  fi
  name=$(basename "$example" .cu)
  check "kernels: $example compiles" "$nvcc" -std=c++17 -Iinclude -gencode=arch=compute_90a,code=sm_90a -O3 -o "$work/$name" "$example" -lcuda
  check "kernels: $example, image" "$nvcc" -std=c++17 -Iinclude -gencode=arch=compute_90a,code=sm_90a -O3 -cubin -o "$work/$name.cubin" "$example"
  check "kernels: $example is for sm_90a" is_sm_90a "$work/$name.cubin"
done
finish
