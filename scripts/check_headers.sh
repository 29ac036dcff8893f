#!/bin/bash
# Every public header and every header of abi/ compiles alone: as C11 and C++17 by gcc and clang, as CUDA by nvcc, and those of abi/
# and device/ by NVRTC 12 and 13 without any include path. abi/roles.h and its parts (role_copies.h, role_ends.h) are a text for
# bindings and no headers to include alone; they are compiled through device/ring_binding.cuh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

flags="-Wall -Wextra -pedantic -Werror -fsyntax-only -Iinclude"
host_headers=$(cd include && ls tmaring/*.h tmaring/abi/*.h | grep -vE 'abi/role(s|_copies|_ends)\.h')
device_headers=$(cd include && ls tmaring/device/*.cuh 2>/dev/null || true)

compile_text() { # HEADER COMPILER...
  local header=$1
  shift
  echo "#include \"$header\"" | "$@" -
}

for compiler in gcc clang; do
  if ! command -v $compiler >/dev/null; then
    count_skip "headers: $compiler is not installed"
    continue
  fi
  for header in $host_headers; do
    check "headers: $header, C11, $compiler" compile_text "$header" $compiler -x c -std=c11 $flags
  done
done
for compiler in g++ clang++; do
  if ! command -v $compiler >/dev/null; then
    count_skip "headers: $compiler is not installed"
    continue
  fi
  for header in $host_headers; do
    check "headers: $header, C++17, $compiler" compile_text "$header" $compiler -x c++ -std=c++17 $flags
  done
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
compile_cuda() {
  echo "#include \"$1\"" >"$work/alone.cu"
  "$nvcc" -std=c++17 -Iinclude -gencode=arch=compute_90a,code=sm_90a -Werror all-warnings -cubin -o /dev/null "$work/alone.cu"
}
if [ -n "$nvcc" ]; then
  for header in $host_headers $device_headers; do check "headers: $header, CUDA, nvcc" compile_cuda "$header"; done
else
  count_skip "headers: nvcc is not installed"
fi

nvrtc_files=()
for header in $host_headers $device_headers; do
  case $header in tmaring/abi/* | tmaring/device/*) nvrtc_files+=("include/$header") ;; esac
done
nvrtc_alone() { # LIBRARY FILE
  LD_LIBRARY_PATH=$(dirname "$1") "$work/nvrtc_headers" "$1" -arch=sm_90a -std=c++17 -- "$2" include/tmaring/abi/role*.h \
    "${nvrtc_files[@]}"
}
cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -O1 -o "$work/nvrtc_headers" tests/tools/nvrtc_headers.c
for release in 12 13; do
  if ! scripts/fetch_nvrtc.sh $release; then
    count_skip "headers: NVRTC $release could not be fetched"
    continue
  fi
  library=$(ls "$root/.cache/nvrtc$release"/lib/libnvrtc.so.*)
  for file in "${nvrtc_files[@]}"; do check "headers: ${file#include/}, NVRTC $release" nvrtc_alone "$library" "$file"; done
done
finish
