#!/bin/sh
# Mutants of the kernels that tests/ptx/recipes runs (mutate.py --recipe): each is found, or harmless.txt says why it is harmless.
# mutants.sh WGRUN FOLDER [all]; WGRUN_PTX names another folder. Without `all`, of four kernels that take seconds.
set -u
wgrun=$1
folder=${WGRUN_PTX:-$2}
[ -f "$folder/triton/tl_softmax_fp16.ptx" ] || { echo "skipped: no PTX in $folder"; exit 0; }
export WGRUN_PTX="$folder"
bad=0
mutate() {
    text=$1
    shift
    python3 "$(dirname "$0")/mutate.py" "$wgrun" "$folder/$text.ptx" --jobs 2 --recipe "$@" || bad=1
}
mutate triton/tl_softmax_fp16 triton_softmax
mutate triton/gluon_small_mma_ss gluon_mma
mutate nvcc/tk_gemm_educational_h100_level_05 kittens_level_05
mutate nvcc/cute_tutorial_wgmma_sm90 cutlass_tutorial
if [ "${3:-}" = all ]; then
    mutate triton/tl_matmul_fp16_128x256x64 triton_matmul
    mutate triton/tl_attn_fwd_hd128_causal triton_attention
    mutate public/fastcu_k12_sm90a fastcu_k12 fastcu_k12_odd
    mutate cutedsl/hopper_dense_gemm_bf16_128x128 cute_dsl_gemm
    mutate tilelang/tl_gemm_bf16_64 tilelang_gemm
    mutate nvcc/dg_fp8_1d2d_masked deepgemm_fp8_masked
fi
exit $bad
