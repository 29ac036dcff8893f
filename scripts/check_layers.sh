#!/bin/bash
# Includes go one way only: base <- describe <- formula <- plan <- check <- jit <- backends <- launch <- tile <- ops <- bench <- cli; public
# headers in flow order; abi/ includes abi/ alone; device/ includes abi/ and device/. Tests may include anything.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Layers that a layer may include besides itself.
declare -A allowed=(
  [base]="public abi"
  [describe]="base public abi"
  [formula]="base describe public abi"
  [plan]="base describe formula public abi"
  [check]="base describe formula plan public abi"
  [jit]="base describe formula plan public abi cuda.h"
  [backend]="base describe formula plan public abi"
  [backend/cpu]="base describe formula plan check backend public abi"
  [backend/cuda]="base describe formula plan jit backend public abi cuda.h"
  [launch]="base describe formula plan check backend public abi"
  [tile]="base describe formula plan check backend launch public abi"
  [ops]="base describe formula plan backend backend/cuda launch public abi cuda.h"
  [bench]="base describe formula plan check jit backend backend/cuda launch ops public abi cuda.h"
  [cli]="base describe formula plan check jit backend launch ops bench public abi"
  [public]="abi"
  [abi]=""
  [device]="abi"
)
flow="version status tensor tensor_map machine index formula plan launch tile_program ops tmaring"

layer_of() {
  case $1 in
  include/tmaring/abi/*) echo abi ;;
  include/tmaring/device/*) echo device ;;
  include/tmaring/*) echo public ;;
  src/host/backend/*/*) echo "$1" | cut -d/ -f3-4 ;;
  src/host/*/*) echo "$1" | cut -d/ -f3 ;;
  *) echo other ;;
  esac
}

# resolve INCLUDING-FILE NAME: the file an #include "NAME" means, "" when it is none of ours.
resolve() {
  local path
  for path in "$(dirname "$1")/$2" "include/$2" "src/$2"; do
    if [ -e "$path" ]; then realpath --relative-to=. "$path"; return; fi
  done
}

fault() { echo "$1 includes \"$2\": $3"; faults=$((faults + 1)); }

check_quoted() {
  local file=$1 layer=$2 name=$3 target target_layer
  target=$(resolve "$file" "$name")
  if [ -z "$target" ]; then
    [[ $name == cuda.h || $name == cudaTypedefs.h || $name == nvrtc.h ]] || fault "$file" "$name" "there is no such file"
    return 0
  fi
  target_layer=$(layer_of "$target")
  if [ "$target_layer" = "$layer" ]; then
    [ "$layer" != public ] || check_flow "$file" "$target"
  elif [[ " ${allowed[$layer]} " != *" $target_layer "* ]]; then
    fault "$file" "$name" "$layer may only include: $layer ${allowed[$layer]}"
  fi
}

# Public headers include only headers before them in the flow.
check_flow() {
  local from to word
  from=$(basename "$1" .h) to=$(basename "$2" .h)
  for word in $flow; do
    if [ "$word" = "$to" ]; then return 0; fi
    if [ "$word" = "$from" ]; then break; fi
  done
  fault "$1" "$to.h" "not before it in the flow: $flow"
}

check_angled() {
  local file=$1 layer=$2 name=$3
  case $layer in
  abi | device) fault "$file" "$name" "$layer takes no header of the system: it is compiled without an include path" ;;
  public) [[ $name == stddef.h || $name == stdint.h ]] || fault "$file" "$name" "public headers take stddef.h and stdint.h only" ;;
  *)
    case $name in
    cuda* | nvrtc.h)
      [[ " ${allowed[$layer]} " == *" cuda.h "* ]] || fault "$file" "$name" "$layer is compiled without the toolkit" ;;
    esac
    ;;
  esac
}

check_file() {
  local file=$1 layer line name faults=0
  layer=$(layer_of "$file")
  if [ "$layer" = other ]; then echo "$file: in no known layer"; return 1; fi
  while IFS= read -r line; do
    name=$(sed -E 's/.*[<"]([^">]+)[">].*/\1/' <<<"$line")
    case $line in
    *\"*) check_quoted "$file" "$layer" "$name" ;;
    *) check_angled "$file" "$layer" "$name" ;;
    esac
  done < <(grep -hE '^[[:space:]]*#[[:space:]]*include' "$file" || true)
  [ $faults -eq 0 ]
}

while IFS= read -r file; do check "layers: $file" check_file "$file"; done < <(
  find include src -type f \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) | sort)
finish
