#!/bin/bash
# Layout of the code, by clang-format 14: another version lays out differently, and is not taken.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tool=
for name in clang-format-14 clang-format; do
  if command -v $name >/dev/null && $name --version | grep 'version 14\.' >/dev/null; then tool=$name; break; fi
done
if [ -z "$tool" ]; then
  count_skip "format: clang-format 14 is not installed"
  finish
fi
while IFS= read -r file; do
  check "format: $file" $tool --dry-run -Werror "$file"
done < <(find src include tests docs scripts cmake -type f \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) | sort)
finish
