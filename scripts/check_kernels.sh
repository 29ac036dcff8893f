#!/bin/bash
# Compiles every built-in kernel with NVRTC 12 and 13, a kernel for each feature of the language and of the planner, and the
# examples for kernel authors with nvcc. Each image must be for sm_90a and hold no PTX; the features' kernels must keep all they
# have in registers: check_kernels.sh [BUILD-FOLDER]. Needs no GPU.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --build "$build" --target tmaring-builtin tmaring_tool </dev/null >"$work/log" 2>&1 || { cat "$work/log"; die "the tools did not build"; }

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

# Features that no built-in kernel need have, each once: NAME|arguments of `tmaring emit`. [M,N] outputs have the inputs' type.
features=(
  "double|y = tanh(x) * sigmoid(x) / 3 + erf(x)|--shape 8191,4095 --type f64"
  "double_e4m3|y = x * 2|--shape 8191,4096 --type f64 --tensor y=e4m3"
  "i32|y = x * 2 + col|--shape 8191,4096 --type i32"
  "fp8_rows|y = q / s[M]|--shape 8191,4096 --type e5m2 --tensor y=bf16 --tensor s=f32"
  "i8|y = clamp(round(x * w[N]), -127, 127)|--shape 8191,4093 --type i8 --tensor w=f32"
  "paired|--op swiglu_clamp_interleaved|--shape 8191,2880 --type bf16"
  "halves|--op silu_mul|--shape 8191,2881 --type bf16"
  "groups|--op quantize_fp8_group|--shape 8191,7000 --type bf16"
  "groups_in|d(q[M,N], s[M,N/128]) = q * s|--shape 8191,4096 --type e4m3 --tensor s=f32 --tensor y=bf16"
  "columns|--op layernorm_backward|--shape 8191,4096 --type bf16"
  "columns_held|--op col_sum|--shape 8191,1023 --type f32"
  "columns_pieces|y = colmax(x); z = colmean(x)|--shape 8191,4096 --piece-cols 1024"
  "argmax|--op row_argmax|--shape 8191,4097 --type bf16"
  "gather|--op cross_entropy|--shape 1024,32001 --type bf16 --tensor label=i64"
  "cluster|--op softmax|--shape 1024,131072 --type f32 --scope cluster --cluster 4"
  "pieces|--op softmax|--shape 1024,32001 --type f32 --piece-cols 4096"
  "bulk|--op softmax|--shape 8191,4097 --type bf16 --store bulk --mode pipelined"
  "view|--op rmsnorm|--shape 8192,128 --type bf16 --tensor x=bf16,group-rows=32,group-pitch=6144"
  "fill|--op fill|--shape 8191,4097 --type bf16"
  "tile|--op rmsnorm|--shape 8191,4096 --type bf16 --load tile --store tile"
  "async|y = a + b|--shape 8191,4096 --load async --load b=ordinary --mode pipelined"
  "direct|--op add_rmsnorm|--shape 8191,4096 --type bf16 --load direct"
  "strips|--op col_sum|--shape 8191,4096 --type bf16 --piece-cols 256 --tile-rows 8 --load tile"
  "squads|--op layernorm|--shape 8191,4096 --type bf16 --squads 2 --order ticket"
  "multicast|--op layernorm|--shape 8191,4096 --type bf16 --multicast 4"
)
cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -O1 -o "$work/nvrtc" tests/tools/nvrtc_headers.c -ldl

emit_feature() { # NAME FORMULA-OR-OP OPTIONS
  case $2 in
  --op*) "$build/tmaring" emit $2 $3 >"$work/$1.cu" ;;
  *) "$build/tmaring" emit "$2" $3 >"$work/$1.cu" ;;
  esac
}
compile_feature() { # RELEASE NAME
  local folder=$root/.cache/nvrtc$1/lib log=$work/$1/$2.log
  NVRTC_CUBIN=$work/$1/$2.feature LD_LIBRARY_PATH=$folder "$work/nvrtc" "$folder/libnvrtc.so.$1" -arch=sm_90a -std=c++17 \
    --modify-stack-limit=false --ptxas-options=-v -- "$work/$2.cu" include/tmaring/abi/*.h include/tmaring/device/*.cuh >"$log" || { cat "$log"; return 1; }
  if grep 'stack frame' "$log" | grep -v ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'; then echo "$2: not all in registers"; return 1; fi
  is_sm_90a "$work/$1/$2.feature"
}
for feature in "${features[@]}"; do
  IFS='|' read -r name formula options <<<"$feature"
  check "kernels: feature $name is emitted" emit_feature "$name" "$formula" "$options"
  for release in 12 13; do
    [ -e "$root/.cache/nvrtc$release/lib/libnvrtc.so.$release" ] || { count_skip "kernels: feature $name: no NVRTC $release"; continue; }
    check "kernels: feature $name, NVRTC $release" compile_feature $release "$name"
  done
done

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
for example in docs/examples/*.cu; do
  [ -e "$example" ] || continue
  if [ -z "$nvcc" ]; then
    count_skip "kernels: $example: nvcc is not installed"
    continue
  fi
  name=$(basename "$example" .cu)
  check "kernels: $example compiles" "$nvcc" -std=c++17 -Iinclude -gencode=arch=compute_90a,code=sm_90a -O3 -o "$work/$name" "$example" "$build/libtmaring.a" -lcuda
  check "kernels: $example, image" "$nvcc" -std=c++17 -Iinclude -gencode=arch=compute_90a,code=sm_90a -O3 -cubin -o "$work/$name.cubin" "$example"
  check "kernels: $example is for sm_90a" is_sm_90a "$work/$name.cubin"
done
finish
