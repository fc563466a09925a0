"""Attention with sinks, with dropout, and of head size 512, beside PyTorch's, on a GPU: attention_options.py [ROUNDS];
WGRUN_LIBRARY and PYTHONPATH say where things are. Graphs of both are replayed in turn, and a part of each result is compared with
binary64. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import math
import statistics
import sys

from hopper import device, graph_of, microseconds, torch  # first: ends where there is no GPU

import torch.nn.functional as F
import wgrun.torch as wt
from torch.nn.attention import SDPBackend, sdpa_kernel

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
P = 0.1
ALL = [SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
WRONG = []


def theirs(q, k, v, causal, p=0.0, backend=SDPBackend.FLASH_ATTENTION):
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)), dropout_p=p, is_causal=causal)


def tensors(batch, length, heads, dim, gradients=False):
    torch.manual_seed(dim + length)
    return [torch.randn(batch, length, heads, dim, device="cuda", dtype=torch.bfloat16).requires_grad_(gradients) for _ in range(3)]


def check(name, q, k, v, o, causal, sink=None, state=None):
    """The root of the mean square of the errors, of the values, in 128 queries of the last head."""
    at = torch.arange(0, q.shape[1], q.shape[1] // 128, device="cuda")
    scores = q[-1, at, -1].double() @ k[-1, :, -1].double().T / math.sqrt(q.shape[3])
    if causal:
        scores.masked_fill_(torch.arange(k.shape[1], device="cuda") > at[:, None], -math.inf)
    if sink is not None:
        scores = torch.cat((scores, sink[-1].double().expand(len(at), 1)), 1)
    weights = torch.softmax(scores, -1)[:, :k.shape[1]]
    if state is not None:
        weights = weights * wt.dropout_mask(state, P, q.shape[0], q.shape[2], q.shape[1], k.shape[1])[-1, -1, at] / (1 - P)
    want = weights @ v[-1, :, -1].double()
    off = ((o[-1, at, -1].double() - want).norm() / want.norm()).item()
    print(f"    {name}: error {off:.5f}")
    if not off < 0.005:
        WRONG.append(name)


def compare(title, flops, **bodies):
    """TFLOP/s of each, in graphs of 7 ms; the first replays are left out."""
    ready = {}
    for name, body in bodies.items():
        launches = max(2, round(7000 / microseconds(graph_of([body], 1), 1)))
        ready[name] = graph_of([body], launches), launches
    times = [{name: microseconds(*one) for name, one in ready.items()} for _ in range(ROUNDS + 1)][1:]
    print(title, *(f"{name} {flops / statistics.median(t[name] for t in times) / 1e6:.0f}" for name in ready), flush=True)


@torch.no_grad()
def head_size_512():
    for batch, length, heads, causal in ((4, 4096, 4, False), (4, 4096, 4, True), (1, 16384, 4, False), (1, 16384, 4, True), (2, 1024, 8, True)):
        q, k, v = tensors(batch, length, heads, 512)
        compare(f"512 {causal=} {batch} x {length} x {heads}", 4 * batch * heads * length**2 * 512 / (2 if causal else 1),
                wgrun=lambda: wt.flash_attn_func(q, k, v, causal=causal), sdpa=lambda: theirs(q, k, v, causal, 0.0, ALL))
        check("512", q, k, v, wt.flash_attn_func(q, k, v, causal=causal), causal)


@torch.no_grad()
def forward(batch, length, heads, dim, causal):
    q, k, v = tensors(batch, length, heads, dim)
    sink = torch.randn(heads, device="cuda")
    compare(f"forward {dim} {causal=} {batch} x {length} x {heads}", 4 * batch * heads * length**2 * dim / (2 if causal else 1),
            plain=lambda: wt.flash_attn_func(q, k, v, causal=causal), sink=lambda: wt.flash_attn_func(q, k, v, causal=causal, learnable_sink=sink),
            dropout=lambda: wt.flash_attn_func(q, k, v, P, causal=causal),
            sdpa=lambda: theirs(q, k, v, causal), sdpa_dropout=lambda: theirs(q, k, v, causal, P))
    check("sink", q, k, v, wt.flash_attn_func(q, k, v, causal=causal, learnable_sink=sink), causal, sink)
    few = [x[:1, :, :2] for x in (q, k, v)]  # the mask takes eight bytes for each weight, several times
    o, _, state = wt.flash_attn_func(*few, P, causal=causal, return_attn_probs=True)
    check("dropout", *few, o, causal, state=state)


def both_ways(batch, length, heads, dim, causal):
    q, k, v = tensors(batch, length, heads, dim, True)
    sink, d = torch.randn(heads, device="cuda", requires_grad=True), torch.randn(batch, length, heads, dim, device="cuda", dtype=torch.bfloat16)

    def of(function, d, *more):
        return lambda: torch.autograd.grad(function(), (q, k, v, *more), d)

    compare(f"both ways {dim} {causal=} {batch} x {length} x {heads}", 14 * batch * heads * length**2 * dim / (2 if causal else 1),
            plain=of(lambda: wt.flash_attn_func(q, k, v, causal=causal), d), sink=of(lambda: wt.flash_attn_func(q, k, v, causal=causal, learnable_sink=sink), d, sink),
            dropout=of(lambda: wt.flash_attn_func(q, k, v, P, causal=causal), d), sdpa=of(lambda: theirs(q, k, v, causal), d.transpose(1, 2)),
            sdpa_dropout=of(lambda: theirs(q, k, v, causal, P), d.transpose(1, 2)))


if __name__ == "__main__":
    print(f"{device()}, TFLOP/s, {ROUNDS} rounds")
    head_size_512()
    for row in ((4, 4096, 32, 64, True), (4, 4096, 16, 128, True), (4, 4096, 16, 128, False), (4, 4096, 8, 256, True)):
        forward(*row)
        both_ways(*row)
    sys.exit(1 if WRONG else 0)
