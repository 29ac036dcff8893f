#!/bin/bash
# The conformance list's table (docs/conformance.md) from the tests of one backend, after a build.
#   conformance.sh cpu|cuda [FOLDER]    FOLDER has the programs: build/tests; of gpu_test.sh pack: .gpu/tests
# Fails where a program of the list does not conform.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

backend=${1:-}
folder=${2:-build/tests}
[[ $backend == cpu || $backend == cuda ]] || die "usage: conformance.sh cpu|cuda [FOLDER]"
[ -d "$folder" ] || die "$folder is missing; run scripts/test.sh or scripts/gpu_test.sh pack first"
if [ -d "$folder/../lib" ]; then
  export LD_LIBRARY_PATH=$folder/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TMARING_CACHE_DIR=$folder/../kernels
fi
if [ "$backend" = cuda ] && ! has_gpu; then die "no NVIDIA GPU and driver on this machine"; fi

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
export TMARING_TEST_TABLE=$rows
for program in "$folder"/grid_test "$folder"/conformance_*_test; do
  [ -x "$program" ] || die "$program is missing"
  check "$(basename "$program")" "$program" --filter "*/*$backend*"
done
echo "| section | program | cells | passed | refused | failed | reasons of refusals |"
echo "|---|---|---|---|---|---|---|"
sort -t'|' -k2,2n -k3,3 "$rows"
finish
