#!/bin/bash
# Fuzzes what reads files and formulas with libFuzzer, under address and undefined-behaviour sanitizers:
#   fuzz.sh [SECONDS [TARGET...]]      by default 30 seconds each of npy, safetensors and formula
# Starts from tests/fuzz/corpus/TARGET. New inputs are kept in build-fuzz/corpus/TARGET; what fails is written to
# build-fuzz/failed-TARGET-*, and belongs into tests/fuzz/corpus/TARGET, which tests/fuzz_replay_test.c replays, once it is mended.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=${1:-30}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- npy safetensors formula

has_libfuzzer() {
  echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n ? 0 : 0; }' |
    clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null >/dev/null 2>&1
}
if ! has_libfuzzer; then
  count_skip "fuzz: clang has no libFuzzer (Debian: clang libclang-rt-dev)"
  finish
fi

link_target() {
  clang -std=c11 -g -O1 -Wall -Wextra -Werror -fno-sanitize-recover=all -fno-omit-frame-pointer \
    -fsanitize=fuzzer,address,undefined -Iinclude -o "build-fuzz/fuzz_$1" "tests/fuzz/fuzz_$1.c" \
    build-fuzz/libtmaring_cli_parts.a build-fuzz/libtmaring.a -ljansson -lm -ldl -lpthread
}

run_target() {
  local dictionary=()
  if [ -e "tests/fuzz/$1.dict" ]; then dictionary=("-dict=tests/fuzz/$1.dict"); fi
  mkdir -p "build-fuzz/corpus/$1"
  "build-fuzz/fuzz_$1" "build-fuzz/corpus/$1" "tests/fuzz/corpus/$1" -max_total_time="$seconds" -max_len=4096 -timeout=60 \
    -rss_limit_mb=4096 -artifact_prefix="build-fuzz/failed-$1-" ${dictionary[@]+"${dictionary[@]}"} </dev/null
}

if ! configure_and_build build-fuzz -DCMAKE_C_COMPILER=clang -DTMARING_NVRTC=OFF -DTMARING_BUILD_TESTS=OFF -DTMARING_BUILD_CLI=ON \
  "-DTMARING_SANITIZE=address,undefined,fuzzer-no-link"; then
  count_fail "fuzz: build with sanitizers"
  finish
fi
for name; do
  say "$name: $seconds seconds"
  check "fuzz: $name is built" link_target "$name"
  check "fuzz: $name" run_target "$name"
done
finish
