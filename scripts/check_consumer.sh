#!/bin/bash
# The library as a user meets it: installs a build, then builds and runs a program (the one in README.md) by find_package, by
# pkg-config and by add_subdirectory, with the shared and the static library: check_consumer.sh [BUILD-FOLDER]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=${1:-build}
program=$root/docs/examples/readme.c
want 'command -v pkg-config' pkg-config
want 'command -v g++' g++
install_wanted
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

# README.md shows the program word for word.
same_text() {
  diff <(awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md) "$program"
}

configure() { # FOLDER MODE SETTINGS...
  local folder=$1 mode=$2
  shift 2
  cmake -S tests/consumer -B "$folder" -DMODE="$mode" -DPROGRAM="$program" "$@" && cmake --build "$folder" -j "$(nproc)"
}
run_programs() { "$1/with_shared" && "$1/with_static" && "$1/from_cxx"; }
is_shared() { ldd "$1/with_shared" | grep 'libtmaring\.so\.0' >/dev/null && ! ldd "$1/with_static" | grep libtmaring >/dev/null; }
exports_nothing_of_ours() {
  local names
  names=$(nm -D --defined-only "$1/libplugin.so" | awk '{ print $3 }' | grep '^tmaring' || true)
  [ -z "$names" ] || { echo "also exports: $names"; return 1; }
}

check "consumer: README.md shows docs/examples/readme.c" same_text
check "consumer: cmake --install" cmake --install "$build" --prefix "$prefix"
check "consumer: find_package builds" configure "$work/package" package -DCMAKE_PREFIX_PATH="$prefix"
check "consumer: find_package runs" run_programs "$work/package"
check "consumer: find_package links shared and static" is_shared "$work/package"
check "consumer: the static library exports nothing from a shared one" exports_nothing_of_ours "$work/package"

folder=$(dirname "$(find "$prefix" -name tmaring.pc)")
export PKG_CONFIG_PATH=$folder
by_pkg_config() { # OUTPUT LINK-FLAGS...
  local output=$1
  shift
  ${CC:-cc} -std=c11 "$program" $(pkg-config --cflags tmaring) "$@" -o "$output"
}
check "consumer: pkg-config builds, shared" by_pkg_config "$work/pc_shared" $(pkg-config --libs tmaring)
check "consumer: pkg-config runs, shared" env LD_LIBRARY_PATH="$(dirname "$folder")" "$work/pc_shared"
# The tree may be moved: the file finds its prefix by its own place.
check "consumer: pkg-config builds, static" by_pkg_config "$work/pc_static" \
  $(pkg-config --libs --static tmaring | sed 's/-ltmaring/-l:libtmaring.a/')
check "consumer: pkg-config runs, static" "$work/pc_static"
program=$root/docs/examples/ops.c check "consumer: docs/examples/ops.c builds" \
  by_pkg_config "$work/pc_ops" $(pkg-config --libs tmaring) -lm
check "consumer: docs/examples/ops.c runs" env LD_LIBRARY_PATH="$(dirname "$folder")" "$work/pc_ops"
program=$root/docs/examples/tiles.c check "consumer: docs/examples/tiles.c builds" \
  by_pkg_config "$work/pc_tiles" $(pkg-config --libs tmaring)
check "consumer: docs/examples/tiles.c runs" env LD_LIBRARY_PATH="$(dirname "$folder")" "$work/pc_tiles"

check "consumer: add_subdirectory builds" configure "$work/sub" subdirectory -DTMARING_SOURCE="$root" -DTMARING_NVRTC=OFF
check "consumer: add_subdirectory runs" run_programs "$work/sub"
finish
