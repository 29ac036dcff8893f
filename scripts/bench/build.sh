#!/usr/bin/env bash
# Builds the comparison with the peers (nvcc, CUB, the static library) into build-bench/. Needs the CUDA toolkit, no GPU.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake -S . -B build-bench -G Ninja -DTMARING_BUILD_TESTS=OFF -DTMARING_BUILD_CLI=OFF -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build-bench --target tmaring_static
nvcc -std=c++17 -O2 -gencode=arch=compute_90a,code=sm_90a -I include scripts/bench/peer_compare.cu build-bench/libtmaring.a \
  -o build-bench/peer_compare -lm -ldl -lpthread
echo "built build-bench/peer_compare"
