#!/bin/bash
# Time of the ready ops at server sizes: cold operands, graph replay, medians, beside a copy of as many bytes in the same run (a copy reads as
# much as it writes: where an op's mix differs the ratio says less). Needs a GPU and build/tmaring (or TMARING_CLI).
#   ops_table.sh [NAME...]      without names: all cells
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

tool=${TMARING_CLI:-build/tmaring}
names=" $* "

# cell OP M,N OPTIONS...
cell() {
  local op=$1 shape=$2
  shift 2
  [ "$names" = "  " ] || [[ $names == *" $op "* ]] || return 0
  "$tool" bench --op "$op" --shape "$shape" --backend cuda --reps "${REPS:-15}" "$@" 2>&1 | awk -v op="$op" -v shape="$shape" -v options="$*" '
    /^  time/ { us = $2 } /^  rate/ { rate = $2 } /^  ratio/ { ratio = $2 } { last = $0 }
    END { if (us == "") printf "%-30s %-14s %-24s %s\n", op, shape, options, last
          else printf "%-30s %-14s %-24s %9.2f us %7.0f GB/s  %s of a copy\n", op, shape, options, us, rate, ratio }'
}

cell add 65537,4096 --type f32
cell add 65537,4096 --type bf16
cell cast 65537,4096 --type bf16 --tensor y=f32
cell cast 65537,4096 --type f32 --tensor y=bf16
cell cast 65537,4096 --type bf16 --tensor y=e4m3
cell add_rmsnorm 1,4096 --type bf16
cell add_rmsnorm 128,4096 --type bf16
cell add_rmsnorm 1024,8192 --type bf16
cell add_rmsnorm_f32sum 16384,4096 --type bf16
cell add_rmsnorm_f32sum 16384,7168 --type bf16
cell add_rmsnorm_f32sum 8191,2880 --type bf16
cell rmsnorm 16384,4096 --type bf16
cell rmsnorm 1048573,128 --type bf16
cell layernorm 8191,4096 --type bf16
cell layernorm 16384,8192 --type bf16
cell softmax 16384,4096 --type f32
cell softmax 4096,32768 --type f32
cell softmax 1024,131072 --type f32
cell softmax 1024,151937 --type f32
cell softmax 64,151937 --type f32
cell softmax 4096,32768 --type bf16
cell softmax 1024,131072 --type bf16
cell softmax 1024,151937 --type bf16
cell log_softmax 1024,128256 --type bf16
cell cross_entropy 4096,128256 --type bf16
cell silu_mul 128,14336 --type bf16
cell silu_mul 8192,14336 --type bf16
cell swiglu_clamp_interleaved 8192,2880 --type bf16 --scalar limit=7 --scalar alpha=1.702 --scalar beta=1
cell gelu_tanh 65537,4096 --type bf16
cell quantize_fp8_row 128,4096 --type bf16
cell quantize_fp8_row 16384,7168 --type bf16
cell quantize_fp8_group 16384,7168 --type bf16
cell quantize_i8_row 16384,4096 --type bf16
cell rmsnorm_quantize_fp8_row 16384,7168 --type bf16
cell silu_mul_quantize_fp8_row 8192,14336 --type bf16
cell dequantize_fp8_row 16384,7168 --type bf16 --tensor q=e4m3
cell row_argmax 1024,151937 --type bf16
cell col_sum 65537,4096 --type f32
cell col_sum 65537,4096 --type bf16
cell col_sum 1048573,256 --type bf16
cell rmsnorm_backward 16384,4096 --type bf16
cell layernorm_backward 16384,4096 --type bf16
