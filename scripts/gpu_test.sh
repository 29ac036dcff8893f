#!/bin/bash
# Tests for a machine that has a GPU, but no network and no build tools.
#   gpu_test.sh pack [FOLDER]    after a build: programs, Criterion and its libraries, kernels; into .gpu/
#                                TMARING_PACK_KERNELS=no leaves the kernels out: for a GPU machine that has NVRTC (saves minutes)
#   gpu_test.sh run [FOLDER]     there: runs them; fails when the GPU is missing or no test ran
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

verb=${1:-}
folder=${2:-$root/.gpu}

# The kernels of docs/examples check their own results.
pack_examples() {
  local nvcc example
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
  mkdir -p "$folder/examples"
  for example in docs/examples/*.cu; do
    [ -n "$nvcc" ] || { say "without nvcc $example is left out"; continue; }
    "$nvcc" -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a -Iinclude -o "$folder/examples/$(basename "$example" .cu)" "$example" build/libtmaring.a
  done
}

# GPU tests carry the backend in their name.
is_gpu_program() { "$1" --list </dev/null 2>/dev/null | grep cuda >/dev/null; }

# The same cases on the CPU backend, with the kernels they would need compiled into the cache.
compile_kernels() {
  say "compiling the kernels of $(basename "$1")"
  TMARING_TEST_COMPILE=1 TMARING_CACHE_DIR=$folder/kernels "$1" --filter '*/*cpu*' </dev/null >"$folder/log" 2>&1 ||
    { cat "$folder/log"; die "$1 fails on the CPU backend"; }
}

pack() {
  local program
  [ -x build/tmaring ] || die "build/tmaring is missing; run scripts/test.sh first"
  rm -rf "$folder"
  mkdir -p "$folder/tests" "$folder/lib" "$folder/kernels"
  for program in build/tests/*_test; do
    [ -e "tests/$(basename "$program").c" ] || continue
    is_gpu_program "$program" || continue
    cp "$program" "$folder/tests"
    copy_libraries "$program" "$folder/lib"
    if [ "${TMARING_PACK_KERNELS:-yes}" != no ]; then compile_kernels "$program"; fi
  done
  cp build/tmaring "$folder"
  cp -L build/libtmaring.so.0 "$folder/lib"
  rm -f "$folder/log"
  [ -x build/npy_random ] || ${CC:-cc} -std=c11 -O2 -o build/npy_random scripts/npy_random.c
  build/npy_random 8191 64 1 "$folder/in.npy"
  copy_libraries build/tmaring "$folder/lib"
  pack_examples
  strip "$folder"/tests/*_test "$folder/tmaring" "$folder"/lib/*
  say "packed $(ls "$folder/tests" | wc -l) test programs, $(ls "$folder/kernels" | wc -l) kernels, $(du -sh "$folder" | cut -f1) in all, into $folder"
}

run() {
  local program name
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  has_gpu || die "no NVIDIA GPU and driver on this machine"
  [ -d "$folder/tests" ] || die "$folder/tests is missing; run gpu_test.sh pack first, and bring the folder along"
  export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TMARING_CLI=$folder/tmaring
  export TMARING_CACHE_DIR=$folder/kernels
  "$folder/tmaring" info </dev/null
  if [ -e "$folder/in.npy" ]; then
    check "tmaring run on the GPU" "$folder/tmaring" run 'y = x + x' --in "x=$folder/in.npy" --out "y=$work/y.npy" \
      --backend cuda --verify
  fi
  for program in "$folder"/examples/*; do
    if [ -x "$program" ]; then check "example $(basename "$program")" "$program"; fi
  done
  for program in "$folder"/tests/*_test; do run_criterion "$program" -j4; done
  # A test that found no GPU here has not tested what this run is for.
  for name in ${skips[@]+"${skips[@]}"}; do
    if [[ $name == *"no GPU"* ]]; then count_fail "$name"; fi
  done
  finish
}

case $verb in
pack) pack ;;
run) run ;;
*) die "usage: gpu_test.sh pack|run [FOLDER]" ;;
esac
