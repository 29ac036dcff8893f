# Shared by the scripts of this folder: sourced, never run. Sets root and leaves the caller in it.
#
# Counting: count_pass, count_fail and count_skip per test; finish prints the closing line "N passed, N failed, N skipped" and
# exits. A script that is called by another one hands its counts over in the file that TMARING_COUNTS names.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export LC_ALL=C # order of names, and decimal points
export TMARING_CACHE_DIR=${TMARING_CACHE_DIR-} # empty: nothing is left in the user's own cache, nor taken from it
script=$(basename "$0")
passed=0
failed=0
skipped=0
failures=()
skips=()

say() { printf '%s: %s\n' "$script" "$*"; }
die() { printf '%s: %s\n' "$script" "$*" >&2; exit 1; }

count_pass() { passed=$((passed + 1)); }
count_fail() { failed=$((failed + 1)); failures+=("$1"); printf 'FAILED: %s\n' "$1"; }
count_skip() { skipped=$((skipped + 1)); skips+=("$1"); }

# check NAME COMMAND...: one counted test; its output is shown when it fails.
check() {
  local name=$1 log
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    count_pass
  else
    cat "$log"
    count_fail "$name"
  fi
  rm -f "$log"
}

# part SCRIPT ARGUMENTS...: runs another script of ours and takes its counts over.
part() {
  local counts log_rc=0 p f s kind name
  counts=$(mktemp)
  TMARING_COUNTS=$counts "$@" || log_rc=$?
  while read -r kind name; do
    case $kind in
    counts) read -r p f s <<<"$name"; passed=$((passed + p)); failed=$((failed + f)); skipped=$((skipped + s)) ;;
    failed) failures+=("$name") ;;
    skipped) skips+=("$name") ;;
    esac
  done <"$counts"
  if ! grep -q '^counts ' "$counts"; then
    count_fail "$1: ended with status $log_rc before its closing line"
  elif [ "$log_rc" -ne 0 ] && grep -q '^counts [0-9]* 0 ' "$counts"; then
    count_fail "$1: ended with status $log_rc"
  fi
  rm -f "$counts"
}

# finish: the names of what failed and what was skipped, then the closing line as the very last one. Nothing run is a failure.
finish() {
  local name rc=0
  if [ $((passed + failed + skipped)) -eq 0 ]; then count_fail "$script: no test ran"; fi
  if [ "$failed" -ne 0 ]; then rc=1; fi
  if [ -n "${TMARING_COUNTS:-}" ]; then
    {
      for name in ${failures[@]+"${failures[@]}"}; do echo "failed $name"; done
      for name in ${skips[@]+"${skips[@]}"}; do echo "skipped $name"; done
      echo "counts $passed $failed $skipped"
    } >>"$TMARING_COUNTS"
    say "$passed passed, $failed failed, $skipped skipped"
    exit $rc
  fi
  for name in ${skips[@]+"${skips[@]}"}; do echo "skipped: $name"; done
  for name in ${failures[@]+"${failures[@]}"}; do echo "failed: $name"; done
  echo "$passed passed, $failed failed, $skipped skipped"
  exit $rc
}

# want PROBE PACKAGE: remembers PACKAGE as missing unless the shell command PROBE succeeds. install_wanted then installs them
# together.
wanted=()
want() { eval "$1" >/dev/null 2>&1 || wanted+=("$2"); }

install_wanted() {
  local sudo=()
  [ ${#wanted[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "missing: ${wanted[*]} (Debian names), and there is no apt-get; install them and run again"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing: ${wanted[*]}; run as root: apt-get install ${wanted[*]}"
    sudo=(sudo)
  fi
  say "installing ${wanted[*]}"
  if ! ${sudo[@]+"${sudo[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${wanted[@]}" </dev/null >/dev/null 2>&1; then
    ${sudo[@]+"${sudo[@]}"} apt-get update -qq </dev/null
    ${sudo[@]+"${sudo[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${wanted[@]}" </dev/null >/dev/null ||
      die "apt-get could not install ${wanted[*]}"
  fi
  wanted=()
}

# A header that the compiler finds.
has_header() { echo "#include <$1>" | ${CC:-cc} -E - >/dev/null 2>&1; }

want_build_tools() {
  want 'command -v cc || command -v gcc' gcc
  want 'has_header stdlib.h' libc6-dev
  want 'command -v cmake' cmake
  want 'command -v ninja' ninja-build
  want 'has_header jansson.h' libjansson-dev
  want 'has_header xxhash.h' libxxhash-dev
}

want_test_tools() {
  want_build_tools
  want 'has_header criterion/criterion.h' libcriterion-dev
}

has_gpu() { [ -e /dev/nvidiactl ] || nvidia-smi -L 2>/dev/null | grep '^GPU' >/dev/null; }

# Settings for a build with headers and NVRTC in .cache, for a machine that has a GPU (or, with TMARING_FETCH_TOOLKIT=1, none) and no
# toolkit of its own.
toolkit_settings() {
  toolkit=()
  if [ -e /usr/local/cuda/include/cuda.h ] || has_header cuda.h; then return 0; fi
  if ! has_gpu && [ "${TMARING_FETCH_TOOLKIT:-0}" != 1 ]; then return 0; fi
  if scripts/fetch_nvrtc.sh 12; then
    toolkit=("-DTMARING_CUDA_INCLUDE=$root/.cache/nvrtc12/include" "-DTMARING_NVRTC=$root/.cache/nvrtc12/lib/libnvrtc.so.12")
  else
    say "no CUDA toolkit and no way to fetch its headers: building the CPU backend only"
  fi
}

# configure_and_build FOLDER CMAKE-SETTINGS...
configure_and_build() {
  local folder=$1
  shift
  if [ ! -e "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then set -- -G Ninja "$@"; fi
  cmake -S "$root" -B "$folder" "$@" </dev/null >"$folder.log" 2>&1 || { cat "$folder.log"; return 1; }
  cmake --build "$folder" -j "$(nproc)" </dev/null >"$folder.log" 2>&1 || { cat "$folder.log"; return 1; }
  rm -f "$folder.log"
}

# run_criterion PROGRAM ARGUMENTS...: runs a Criterion program and counts its tests from its TAP report. A program that dies or
# runs no test is a failure of its own name. Words before the program come from the array `under`.
under=()
run_criterion() {
  local program=$1 name tap rc=0 p f s plan
  shift
  name=$(basename "$program")
  tap=$(mktemp)
  ${under[@]+"${under[@]}"} "$program" --tap="$tap" "$@" </dev/null || rc=$?
  # Criterion reports what a filter left out as skipped.
  case " $* " in *" --filter "*) sed -i '/# SKIP test was skipped$/d; /^1\.\./d' "$tap" ;; esac
  p=$(grep -c '^ok - ' "$tap" || true)
  s=$(grep -c '^ok - .*# SKIP' "$tap" || true)
  f=$(grep -c '^not ok - ' "$tap" || true)
  plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$tap")
  passed=$((passed + p - s))
  while IFS= read -r line; do count_skip "$name: $line"; done < <(sed -n 's/^ok - \(.*\)# SKIP \(.*\)$/\1(\2)/p' "$tap")
  while IFS= read -r line; do count_fail "$name: $line"; done < <(sed -n 's/^not ok - //p' "$tap")
  if [ $((p + f)) -eq 0 ]; then
    count_fail "$name: ran no test (status $rc)"
  elif [ "${plan:-0}" -gt $((p + f)) ]; then
    count_fail "$name: $((plan - p - f)) of $plan tests gave no result (status $rc)"
  elif [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then
    count_fail "$name: ended with status $rc"
  fi
  rm -f "$tap"
  say "$name: $((p - s)) passed, $f failed, $s skipped"
}

# copy_libraries PROGRAM FOLDER: libraries that ldd names, apart from those that every glibc system has in its own, matching version.
copy_libraries() {
  ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*)\.so' | xargs -r cp -Lu -t "$2"
}
