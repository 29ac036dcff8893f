#!/bin/bash
# What run.sh does, then every test that can run on this machine. The last line is "N passed, N failed, N skipped" over all
# Criterion programs; tests that need a GPU are skipped by name where there is none.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

want_test_tools
install_wanted
if scripts/run.sh "$@"; then count_pass; else count_fail "run.sh"; fi

toolkit_settings
if configure_and_build build -DTMARING_BUILD_CLI=ON -DTMARING_BUILD_TESTS=ON ${TMARING_CMAKE_ARGS:-} ${toolkit[@]+"${toolkit[@]}"}; then
  for program in tests/*_test.c; do
    program=build/tests/$(basename "$program" .c)
    TMARING_CLI=$root/build/tmaring run_criterion "$program"
  done
  for shell_test in tests/*_test.sh; do
    [ -e "$shell_test" ] || continue
    if TMARING_CLI=$root/build/tmaring bash "$shell_test" </dev/null; then count_pass; else count_fail "$shell_test"; fi
  done
else
  count_fail "building the tests"
fi
finish
