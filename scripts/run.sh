#!/bin/bash
# Builds tmaring and runs the main job, from file to file: y = x + x over the rows of a .npy file.
#   run.sh [FILE.npy]      without a file, one of random floats is made
# TMARING_CMAKE_ARGS adds settings for CMake.
# On a fresh Debian machine the packages it needs are installed with apt-get. The tool takes the GPU where
# there is a Hopper one, else the CPU backend.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

want_build_tools
install_wanted
toolkit_settings
say "building into build/"
configure_and_build build -DTMARING_BUILD_CLI=ON -DTMARING_BUILD_TESTS=OFF ${TMARING_CMAKE_ARGS:-} ${toolkit[@]+"${toolkit[@]}"} || die "the build failed"

input=${1:-}
if [ -z "$input" ]; then
  input=build/in.npy
  ${CC:-cc} -std=c11 -O2 -o build/npy_random scripts/npy_random.c
  build/npy_random 8191 256 "$(date +%s)" "$input"
  say "made $input: 8191 x 256 random floats"
fi
rm -f build/y.npy
say "build/tmaring run 'y = x + x' --in x=$input --out y=build/y.npy --verify"
build/tmaring run 'y = x + x' --in x="$input" --out y=build/y.npy --verify </dev/null
[ -s build/y.npy ] || die "build/y.npy was not written"
say "wrote build/y.npy ($(wc -c <build/y.npy) bytes), checked against the formula in double"
