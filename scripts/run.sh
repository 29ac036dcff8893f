#!/bin/bash
# Builds tmaring and runs the main job, from file to file: y = x + x over the rows of a .npy file.
#   run.sh [FILE.npy]      without a file, one of random floats is made
# On a fresh Debian machine the packages it needs are installed with apt-get. With a Hopper GPU the kernel runs there, else on the
# CPU backend.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

want_build_tools
install_wanted
toolkit_settings
say "building into build/"
configure_and_build build -DTMARING_BUILD_CLI=ON ${toolkit[@]+"${toolkit[@]}"} || die "the build failed"

input=${1:-}
if [ -z "$input" ]; then
  input=build/in.npy
  ${CC:-cc} -std=c11 -O2 -o build/npy_random scripts/npy_random.c
  build/npy_random 8191 256 "$(date +%s)" "$input"
  say "made $input: 8191 x 256 random floats"
fi
backend=cpu
if has_gpu; then backend=auto; fi

rm -f build/y.npy
say "build/tmaring run 'y = x + x' --in x=$input --out y=build/y.npy --backend $backend --verify"
build/tmaring run 'y = x + x' --in x="$input" --out y=build/y.npy --backend "$backend" --verify </dev/null
[ -s build/y.npy ] || die "build/y.npy was not written"
say "wrote build/y.npy ($(wc -c <build/y.npy) bytes), checked against the formula in double"
