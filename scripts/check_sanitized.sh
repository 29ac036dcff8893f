#!/bin/bash
# The CPU tests under AddressSanitizer and UndefinedBehaviorSanitizer, built by clang with warnings as errors.
# TMARING_TEST_SUBSET=n takes every n-th case of each table (default 16: the sanitizers are slow).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export TMARING_TEST_SUBSET=${TMARING_TEST_SUBSET:-16}
# The reports decide, not the exit status: Criterion takes a test that died after its last assertion for a passed one, and its own
# runner leaks.
export ASAN_OPTIONS=log_path=$logs/report:exitcode=0:detect_leaks=1:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1

# Reports, without leaks of memory that Criterion itself allocated.
reports() {
  cat "$logs"/report.* 2>/dev/null |
    awk 'BEGIN { RS = ""; ORS = "\n\n" } /leak of/ && !/#1 [^\n]*libcriterion/ || /ERROR: AddressSanitizer/ || /runtime error/'
}

run_sanitized() {
  local program=$1 text
  rm -f "$logs"/report.*
  run_criterion "$program"
  text=$(reports || true)
  if [ -n "$text" ]; then
    printf '%s\n' "$text" | head -60
    count_fail "$(basename "$program"): a sanitizer's report"
  fi
}

toolkit_settings
if configure_and_build build-sanitize ${toolkit[@]+"${toolkit[@]}"} -DCMAKE_C_COMPILER=clang -DTMARING_WERROR=ON -DTMARING_NVRTC=OFF \
  -DTMARING_BUILD_TESTS=ON -DTMARING_BUILD_CLI=ON -DTMARING_SANITIZE=address,undefined; then
  count_pass
  export TMARING_CLI=$root/build-sanitize/tmaring
  for program in tests/*_test.c; do run_sanitized "build-sanitize/tests/$(basename "$program" .c)"; done
else
  count_fail "clang build with sanitizers"
fi
finish
