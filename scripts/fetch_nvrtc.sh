#!/bin/bash
# Brings NVRTC and the driver's header of one toolkit release, without a toolkit: fetch_nvrtc.sh 12|13
# They come from the vendor's PyPI wheels and lie in .cache/nvrtc12 or .cache/nvrtc13, as include/ and lib/.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case ${1:-} in
12) packages=(nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127) ;;
13) packages=(nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.88) ;;
*) die "usage: fetch_nvrtc.sh 12|13" ;;
esac
target=$root/.cache/nvrtc$1
[ ! -e "$target/lib" ] || exit 0

want 'python3 -m pip --version' python3-pip
install_wanted
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say "fetching ${packages[*]}"
python3 -m pip download -q --no-deps --only-binary=:all: --disable-pip-version-check -d "$work" "${packages[@]}" </dev/null ||
  die "pip could not fetch ${packages[*]}"
for wheel in "$work"/*.whl; do python3 -m zipfile -e "$wheel" "$work/tree"; done

# One folder, whatever the wheels' layout. The .alt libraries are not needed and large.
mkdir -p "$target.new/include" "$target.new/lib"
find "$work/tree" -type f -path '*/include/*' ! -name '__init__.py' ! -path '*/include/*/*/*/*' |
  while IFS= read -r file; do
    inner=${file#*/include/}
    mkdir -p "$target.new/include/$(dirname "$inner")"
    cp "$file" "$target.new/include/$inner"
  done
find "$work/tree" -type f -name 'libnvrtc*.so*' ! -name '*.alt.*' -exec cp {} "$target.new/lib" \;
for library in "$target.new"/lib/libnvrtc.so.*; do ln -s "$(basename "$library")" "$target.new/lib/libnvrtc.so"; done
rm -rf "$target"
mv "$target.new" "$target"
