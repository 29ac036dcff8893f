#!/bin/bash
# The CPU tests under AddressSanitizer and UndefinedBehaviorSanitizer, built by clang with warnings as errors.
# TMARING_TEST_SUBSET=n takes every n-th case of each table (default 4: the sanitizers are slow).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export TMARING_TEST_SUBSET=${TMARING_TEST_SUBSET:-4}
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
toolkit_settings
if configure_and_build build-sanitize ${toolkit[@]+"${toolkit[@]}"} -DCMAKE_C_COMPILER=clang -DTMARING_WERROR=ON -DTMARING_NVRTC=OFF -DTMARING_BUILD_TESTS=ON \
  -DTMARING_BUILD_CLI=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTMARING_SANITIZE=address,undefined; then
  count_pass
  for program in tests/*_test.c; do
    TMARING_CLI=$root/build-sanitize/tmaring run_criterion "build-sanitize/tests/$(basename "$program" .c)"
  done
else
  count_fail "clang build with sanitizers"
fi
finish
