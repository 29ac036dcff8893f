#!/bin/bash
# DRAM bytes of five ops by ncu beside the compulsory bytes (every input read once, every output written once). Needs a GPU, ncu, and
# build/tmaring (or TMARING_CLI). Large operands: what of the results is still in L2 when a kernel ends is then a small part.
#   dram_bytes.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

tool=${TMARING_CLI:-build/tmaring}
ncu=$(command -v ncu || ls /usr/local/cuda/bin/ncu 2>/dev/null) || die "ncu is missing"

# measure NAME M,N BYTES OPTIONS...: the first launch of the op's kernels; BYTES are compulsory.
measure() {
  local name=$1 shape=$2 bytes=$3
  shift 3
  "$ncu" --clock-control none --cache-control all -k 'regex:^tmaring_' -c "${KERNELS:-1}" --csv --print-units base \
    --metrics dram__bytes_read.sum,dram__bytes_write.sum "$tool" bench "$@" --shape "$shape" --backend cuda --reps 1 2>/dev/null |
    awk -F'","' -v name="$name" -v shape="$shape" -v due="$bytes" '
      /dram__bytes_read/ { gsub(/[",]/, "", $NF); read += $NF }
      /dram__bytes_write/ { gsub(/[",]/, "", $NF); written += $NF }
      END { printf "%-12s %-14s read %14.0f  written %14.0f  compulsory %14.0f  ratio %.4f\n", name, shape, read, written, due, (read + written) / due }'
}

gib=1073741824
measure add 262144,8192 $((12 * gib)) 'add(a[M,N], b[M,N]) = a + b' --type bf16
measure rmsnorm 262144,8192 $((8 * gib + 16384)) 'rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w' --type bf16
measure softmax 65536,32768 $((8 * gib)) 'softmax(x[M,N]) = e = exp(x - max(x)); y = e / sum(e)' --type bf16
measure silu_mul 131072,14336 $((3 * 2 * 131072 * 14336)) 'silu_mul(x[M,2N]) = silu(first(x)) * second(x)' --type bf16
measure quantize_row 262144,8192 $((3 * 262144 * 8192 + 4 * 262144)) 'quantize(x[M,N]) = out s = max(amax(x) / 448, 1 / (448 * 512)); q = x / s' --type bf16 --tensor q=e4m3
