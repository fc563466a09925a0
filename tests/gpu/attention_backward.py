"""wg.attention_backward beside cuDNN's through PyTorch, on a GPU: attention_backward.py [ROUNDS]; WGRUN_LIBRARY and PYTHONPATH say where
things are. For each row both are replayed in turn from CUDA graphs, ours with all of its three kernels, and the gradients of one
head are compared with binary64. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import math
import statistics
import sys

from hopper import Graph, device, in_turn, torch  # first: ends where there is no GPU

import torch.nn.functional as F
import wgrun
from torch.nn.attention import SDPBackend, sdpa_kernel

SIDE = torch.cuda.Stream()  # autograd works on the stream of the forward pass, hence one for all
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20


def rows():
    for dim in (64, 128, 256):
        for causal in (False, True):
            for batch, length in ((16, 1024), (4, 4096), (1, 16384)):
                yield dim, causal, batch, length, 2048 // dim, 2048 // dim
    yield 128, True, 4, 4096, 32, 8
    for dim in (96, 192):
        for causal in (False, True):
            yield dim, causal, 4, 4096, 16, 16


def expected(q, k, v, do, causal):
    """dQ of the last head, dK and dV of the last head of K and V, in binary64."""
    group, length = q.shape[2] // k.shape[2], q.shape[1]
    keys, values = (x[-1, :, -1].double() for x in (k, v))
    dk, dv = torch.zeros_like(keys), torch.zeros_like(values)
    scale = 1 / math.sqrt(q.shape[3])
    for h in range(q.shape[2] - group, q.shape[2]):
        dq = torch.empty_like(q[-1, :, h].double())
        for first in range(0, length, 2048):
            at = slice(first, first + 2048)
            queries, gradient = q[-1, at, h].double(), do[-1, at, h].double()
            scores = scale * queries @ keys.T
            if causal:
                hidden = torch.arange(length, device="cuda")[None, :] > torch.arange(first, first + scores.shape[0], device="cuda")[:, None]
                scores.masked_fill_(hidden, -math.inf)
            p = torch.softmax(scores, -1)
            dp = gradient @ values.T
            ds = scale * p * (dp - (p * dp).sum(-1, keepdim=True))
            dq[at] = ds @ keys
            dk += ds.T @ queries
            dv += p.T @ gradient
    return dq, dk, dv


def error(want, got):
    """The root of the mean square of the errors, over that of the values."""
    return max(((x[-1, :, -1].double() - y).square().mean() / y.square().mean()).sqrt().item() for x, y in zip(got, want))


def autograd(leaves, gradient, causal):
    """A function that returns the gradients of the leaves by PyTorch, of cuDNN or, where that refuses the shape, FlashAttention-2; and whose."""
    for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
        try:
            with torch.cuda.stream(SIDE), sdpa_kernel(backend):
                result = F.scaled_dot_product_attention(*leaves, is_causal=causal, enable_gqa=leaves[0].shape[1] != leaves[1].shape[1])
                torch.autograd.grad(result, leaves, gradient, retain_graph=True)
        except RuntimeError:
            continue
        return lambda: torch.autograd.grad(result, leaves, gradient, retain_graph=True), backend.name
    raise RuntimeError("PyTorch has no backward attention for this shape")


def measure(dim, causal, batch, length, heads, kv_heads):
    torch.manual_seed(dim + length)
    q, o, do = (torch.randn(batch, length, heads, dim, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    k, v = (torch.randn(batch, length, kv_heads, dim, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    dq, dk, dv = (torch.zeros_like(x) for x in (q, k, v))
    lse = torch.empty(batch, heads, length, device="cuda")
    options = f"dim = {dim}, heads = {heads}, kv_heads = {kv_heads}, causal = {str(causal).lower()}"
    script = wgrun.loads(f"""local wg = require "wgrun"
        local backward = wg.attention_backward {{ {options} }}
        return {{ forward = wg.attention {{ {options}, lse = true }}, before = backward.before, main = backward.kernel, after = backward.after }}""")
    script["forward"](q, k, v, o, lse=lse)
    queries, keys = {64: 128, 128: 80}.get(dim, 64), 128 if dim <= 128 else 64  # of a block
    blocks = -(-length // queries)
    stats = torch.empty(batch * heads * blocks * 2 * queries, device="cuda")
    sums = torch.empty(batch * heads * blocks * queries * dim, device="cuda")
    scale = 1 / math.sqrt(dim)

    def ours():
        script["before"][blocks, heads, batch](o, do, lse, stats, sums, length)
        script["main"][-(-length // keys), kv_heads, batch](q, k, v, do, dk, dv, stats, sums, length, length, scale, scale / math.log(2))
        script["after"][blocks, heads, batch](dq, sums, scale)
        return dq, dk, dv

    leaves = [x.detach().transpose(1, 2).requires_grad_() for x in (q, k, v)]
    torch.cuda.synchronize()
    theirs, name = autograd(leaves, do.transpose(1, 2), causal)
    graphs = [Graph(ours, SIDE), Graph(theirs, SIDE)]
    times = in_turn(graphs, ROUNDS)
    flops = 10 * batch * heads * length * length * dim / (2 if causal else 1)
    speeds = [flops / statistics.median(t) / 1e9 for t in times]
    ratio = statistics.median(b / a for a, b in zip(*times))
    want = expected(q, k, v, do, causal)
    return speeds, ratio, error(want, (dq, dk, dv)), error(want, [x.transpose(1, 2) for x in graphs[1].result]), name


print(f"{device()}, {ROUNDS} rounds")
print("dim causal batch length heads kv_heads   wgrun theirs  TFLOP/s   ratio   error  theirs")
ratios, wrong = [], False
for row in rows():
    (speed, theirs), ratio, off, theirs_off, name = measure(*row)
    if row[0] in (64, 128) and row[4] == row[5]:
        ratios.append(ratio)
    wrong = wrong or not off <= 1.5 * theirs_off
    print("%3d %6s %5d %6d %5d %8d   %5.0f  %5.0f           %6.3f  %.5f  %.5f  %s" % (*row, speed, theirs, ratio, off, theirs_off, name), flush=True)
print("geometric mean of %d rows: %.3f, the least %.3f" % (len(ratios), math.exp(sum(map(math.log, ratios)) / len(ratios)), min(ratios)))
sys.exit(1 if wrong else 0)
