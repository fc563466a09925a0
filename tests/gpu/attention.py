"""wg.attention beside cuDNN's through PyTorch, on a GPU: attention.py [few] [ROUNDS]; WGRUN_LIBRARY and PYTHONPATH say where things
are. For each row both are replayed in turn from CUDA graphs, and a part of the result is compared with binary64. `few`: few queries and many keys,
also beside FlashAttention-2 and wg.attention with the keys in one part. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a
result is wrong."""

import math
import statistics
import sys

from hopper import Graph, device, graph_of, in_turn, microseconds, torch  # first: ends where there is no GPU

import torch.nn.functional as F
import wgrun
from torch.nn.attention import SDPBackend, sdpa_kernel

ROUNDS = next((int(x) for x in sys.argv[1:] if x.isdigit()), 20)


def rows():
    """dim, value_dim, causal, batch, length, heads, kv_heads"""
    lengths = (16, 1024), (4, 4096), (1, 16384)
    for dim in (64, 128, 256):
        for causal in (False, True):
            for batch, length in lengths:
                yield dim, dim, causal, batch, length, 2048 // dim, 2048 // dim
    yield 128, 128, True, 4, 4096, 32, 8
    yield 96, 96, True, 4, 4096, 16, 16
    yield 192, 192, True, 4, 4096, 8, 8
    for causal in (False, True):
        for batch, length in lengths:
            yield 192, 128, causal, batch, length, 16, 16
    for dim, value_dim in ((96, 64), (128, 64), (128, 96), (192, 64), (192, 96), (256, 64), (256, 96), (256, 128), (256, 192)):
        yield dim, value_dim, True, 4, 4096, 16, 16


def error(q, k, v, o, causal):
    """The worst error of some rows of the first and the last head, over what rounding to bf16 may cost."""
    worst = 0.0
    group = q.shape[2] // k.shape[2]
    for b, h in ((0, 0), (q.shape[0] - 1, q.shape[2] - 1)):
        at = torch.arange(0, q.shape[1], max(1, q.shape[1] // 128), device="cuda")
        scores = q[b, at, h].double() @ k[b, :, h // group].double().T / math.sqrt(q.shape[3])
        if causal:
            hidden = torch.arange(k.shape[1], device="cuda")[None, :] > at[:, None] + (k.shape[1] - q.shape[1])
            scores.masked_fill_(hidden, -math.inf)
        want = torch.softmax(scores, -1) @ v[b, :, h // group].double()
        worst = max(worst, ((o[b, at, h].double() - want).abs() / (2**-7 * (want.abs() + 0.5))).max().item())
    return worst


# Few queries, many keys: batch, heads, kv_heads, queries, keys, dim; value_dim where it is another.
FEW = (
    (1, 16, 16, 128, 16384, 128), (1, 8, 8, 256, 65536, 64), (2, 8, 8, 128, 32768, 128), (1, 16, 2, 64, 32768, 256), (1, 16, 16, 128, 2048, 128),
    (1, 16, 16, 128, 512, 128), (1, 16, 16, 128, 2048, 64), (1, 8, 8, 1024, 8192, 128), (1, 16, 16, 512, 4096, 64), (1, 2, 2, 128, 32768, 128),
    (1, 4, 1, 128, 65536, 128), (1, 8, 8, 512, 4096, 256), (1, 4, 4, 512, 16384, 192), (1, 8, 8, 128, 16384, 96), (8, 8, 8, 77, 4096, 64),
    (1, 32, 8, 512, 16384, 128), (1, 16, 16, 128, 16384, 192, 128),
)


def cudnn(q, k, v, causal, backend=SDPBackend.CUDNN_ATTENTION):
    with sdpa_kernel(backend):
        F.scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)), is_causal=causal, enable_gqa=q.shape[2] != k.shape[2])


def works(body):
    """Not all of PyTorch's forms take heads of V that are narrower than those of Q and K."""
    try:
        body()
    except RuntimeError:
        return False
    return True


def flops(dims, causal, batch, length, heads):
    return 2 * batch * heads * length * length * sum(dims) / (2 if causal else 1)


def tensors(batch, heads, kv_heads, queries, keys, dim, value_dim):
    torch.manual_seed(dim + keys)
    q, o = (torch.randn(batch, queries, heads, columns, device="cuda", dtype=torch.bfloat16) for columns in (dim, value_dim))
    k, v = (torch.randn(batch, keys, kv_heads, columns, device="cuda", dtype=torch.bfloat16) for columns in (dim, value_dim))
    return q, k, v, o


def made(dim, value_dim, heads, kv_heads, causal, more):
    return wgrun.loads(f"""return {{ it = require "wgrun".attention {{
        dim = {dim}, value_dim = {value_dim}, heads = {heads}, kv_heads = {kv_heads}, causal = {str(causal).lower()}, {more} }} }}""")["it"]


def measure(dim, value_dim, causal, batch, length, heads, kv_heads):
    q, k, v, o = tensors(batch, heads, kv_heads, length, length, dim, value_dim)
    attention = made(dim, value_dim, heads, kv_heads, causal, f"problem = {{ {length}, {length} }}")
    theirs = lambda: cudnn(q, k, v, causal)
    times = in_turn([Graph(lambda: attention(q, k, v, o)), *([Graph(theirs)] if works(theirs) else [])], ROUNDS)
    times += [[math.nan]] * (2 - len(times))
    speeds = [flops((dim, value_dim), causal, batch, length, heads) / statistics.median(t) / 1e9 for t in times]
    ratio = statistics.median(b / a for a, b in zip(*times))
    return speeds, ratio, error(q, k, v, o, causal)


def few():
    print("batch heads kv_heads queries  keys dim of V   wgrun  one part  cuDNN  Flash us   ratio to cuDNN  error")
    wrong = False
    for batch, heads, kv_heads, queries, keys, *dims in FEW:
        dims = (*dims, *dims)[:2]
        q, k, v, o = tensors(batch, heads, kv_heads, queries, keys, *dims)
        problem = f"problem = {{ {queries}, {keys}, {batch} }}"
        ours, whole = made(*dims, heads, kv_heads, False, problem), made(*dims, heads, kv_heads, False, problem + ", splits = 1")
        bodies = [lambda: whole(q, k, v, o), lambda: cudnn(q, k, v, False), lambda: cudnn(q, k, v, False, SDPBackend.FLASH_ATTENTION), lambda: ours(q, k, v, o)]
        launches = 2 + int(1e11 / flops(dims, False, batch, math.sqrt(queries * keys), heads))
        graphs = [works(body) and graph_of([body], launches) for body in bodies]
        times = [[microseconds(graph, launches) if graph else math.nan for graph in graphs] for _ in range(ROUNDS + 1)][1:]
        one, theirs, flash, own = (statistics.median(t) for t in zip(*times))
        off = error(q, k, v, o, False)
        wrong = wrong or not off <= 1
        row = (batch, heads, kv_heads, queries, keys, *dims, own, one, theirs, flash, statistics.median(t[1] / t[3] for t in times), off)
        print("%5d %5d %8d %7d %5d %3d %4d   %5.1f  %8.1f  %5.1f  %5.1f           %6.3f  %5.2f" % row, flush=True)
    sys.exit(1 if wrong else 0)


def main():
    print(f"{device()}, {ROUNDS} rounds")
    if "few" in sys.argv:
        return few()
    print("dim of V causal batch length heads kv_heads   wgrun  cuDNN  TFLOP/s   ratio  error")
    ratios, wrong = [], False
    for row in rows():
        (ours, theirs), ratio, off = measure(*row)
        if row[5] == row[6] and row[0] == row[1] and row[0] not in (96, 192):
            ratios.append(ratio)
        wrong = wrong or not off <= 1
        print("%3d %4d %6s %5d %6d %5d %8d   %5.0f  %5.0f           %6.3f  %5.2f" % (*row, ours, theirs, ratio, off), flush=True)
    print("geometric mean of %d rows: %.3f, the least %.3f" % (len(ratios), math.exp(sum(map(math.log, ratios)) / len(ratios)), min(ratios)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
