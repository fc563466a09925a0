"""A linear layer of wgrun's as an operator of PyTorch: D = gelu(A @ W.T + bias) in one kernel, under torch.compile, in
CUDA graphs and with autograd's bookkeeping, as torch.library makes it.

    python3 linear.py            needs a Hopper GPU and PyTorch
"""

import functools

import torch

import wgrun


@functools.lru_cache(maxsize=None)
def _gemm(m: int, n: int, k: int) -> wgrun.Launcher:
    """The kernel for a problem: the plan of wg.gemm depends on it."""
    return wgrun.gemm(dtype="bf16", problem=(m, n, k), epilogue={"bias": "column", "activation": "gelu"})


@torch.library.custom_op("wgrun::linear_gelu", mutates_args=())
def linear_gelu(a: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    d = torch.empty(a.shape[0], weight.shape[0], dtype=a.dtype, device=a.device)
    _gemm(*d.shape, a.shape[1])(a, weight, d, bias=bias)
    return d


@linear_gelu.register_fake
def _(a: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return a.new_empty(a.shape[0], weight.shape[0])


if __name__ == "__main__":
    a = torch.randn(1024, 2048, device="cuda", dtype=torch.bfloat16)
    weight = torch.randn(4096, 2048, device="cuda", dtype=torch.bfloat16) / 2048**0.5
    bias = torch.randn(4096, device="cuda")
    got = linear_gelu(a, weight, bias)
    want = torch.nn.functional.gelu(a.double() @ weight.double().T + bias, approximate="tanh")
    print("worst error:", (got - want).abs().max().item())
