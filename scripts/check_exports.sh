#!/bin/bash
# What libtmaring.so shows and needs: check_exports.sh [BUILD-FOLDER]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=${1:-build}
library=$build/libtmaring.so
map=src/host/tmaring.map
[ -e "$library" ] || die "$library is missing; build first"

# The names after TMARING_API in the headers; a declaration may go over several lines.
declared() {
  cat include/tmaring/*.h | tr '\n' ' ' | grep -oE 'TMARING_API [^;(]*\(' | grep -oE 'tmaring_[a-z0-9_]+\($' | tr -d '(' | sort -u
}
mapped() { sed -n 's/^ *\(tmaring_[a-z0-9_]*\);$/\1/p' $map | sort; }
exported() { nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort; }
needed() { readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | sort; }

same() { diff <("$1") <("$2") || { echo "< $1, > $2"; return 1; }; }
map_is_sorted() { mapped | sort -c && [ "$(mapped | wc -l)" -gt 0 ]; }
needs_libc_only() {
  local others
  others=$(needed | grep -vxE 'libc\.so\.6|ld-linux-[a-z0-9-]*\.so\.[0-9]' || true)
  [ -z "$others" ] || { echo "also needs: $others"; return 1; }
}
# The driver and NVRTC are opened at run time: no symbol of theirs may be wanted at load time, nor any of the C++ run time.
wants_no_driver() {
  local undefined
  undefined=$(nm -D --undefined-only "$library" | awk '{ print $2 }' | grep -E '^(cu[A-Z]|cuda|nvrtc|nvJit|_Z|__cxa_throw|__gxx)' || true)
  [ -z "$undefined" ] || { echo "undefined: $undefined"; return 1; }
}
# In a statically linked program ours may not clash with the user's own names either.
archive_names() {
  local foreign
  foreign=$(nm --defined-only --extern-only "$build/libtmaring.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -vE '^tmaring_' || true)
  [ -z "$foreign" ] || { echo "names without our prefix: $foreign"; return 1; }
}
soname() { readelf -d "$library" | grep 'SONAME.*\[libtmaring\.so\.0\]' >/dev/null; }

check "exports: the map lists the calls of the headers" same declared mapped
check "exports: the map is in order" map_is_sorted
check "exports: the library exports what the map lists" same mapped exported
check "exports: the library needs libc only" needs_libc_only
check "exports: no symbol of the driver, NVRTC or C++" wants_no_driver
check "exports: every global name of the archive has the prefix" archive_names
check "exports: the soname" soname
finish
