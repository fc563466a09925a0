"""wg.attention of 8-bit floats, on a GPU: attention_fp8.py [--forms] [--times] [ROUNDS]; WGRUN_LIBRARY and PYTHONPATH say where things
are. --forms compares results with binary64; --times measures speed beside the bf16 form and cuDNN's bf16, replayed in turn
from CUDA graphs (PyTorch has no attention of 8-bit floats). Without either, both. Errors are root mean squares relative to the values,
against binary64 of the given Q, K and V; beside them those of binary64 but for P, which is rounded to e4m3 after it has been
multiplied by 2^8, as FlashAttention-3 does. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import math
import statistics
import sys

from attention import ROUNDS, cudnn, flops, wgrun
from hopper import Graph, device, in_turn, torch

E4M3 = torch.float8_e4m3fn


def made(**options):
    def value(x):
        if isinstance(x, tuple):
            return "{ " + ", ".join(map(value, x)) + " }"
        return str(x).lower() if isinstance(x, bool) else f'"{x}"' if isinstance(x, str) else str(x)

    text = ", ".join(f"{key} = {value(x)}" for key, x in options.items())
    return wgrun.loads(f'return {{ it = require "wgrun".attention {{ {text} }} }}')["it"]


def head(q, k, v, at, factors=(1, 1, 1), causal=False, window=None, softcap=None):
    """Rows `at` of one head (sequence x dim): O and lse in binary64, and O where P is rounded to e4m3."""
    queries, keys = len(q), len(k)
    q, k, v = (x.double() * f for x, f in zip((q[at], k, v), factors))
    scores = q @ k.T / math.sqrt(q.shape[1])
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    own, key = at[:, None] + (keys - queries), torch.arange(keys, device="cuda")[None, :]
    if causal:
        scores.masked_fill_(key > own, -math.inf)
    if window:
        scores.masked_fill_((own - key >= window) | (key - own >= window), -math.inf)
    top = scores.amax(1, keepdim=True).clamp(min=-1e300)
    p = torch.exp(scores - top)
    total = p.sum(1, keepdim=True)
    inverse = torch.where(total > 0, 1 / total, 0)
    rounded = (p * 256).float().to(E4M3).double() / 256
    return p @ v * inverse, (top + total.log())[:, 0], rounded @ v * inverse


def error(got, want):
    return ((got.double() - want).square().mean() / want.square().mean()).sqrt().item()


def random(*shape):
    return torch.randn(*shape, device="cuda").to(E4M3)


def check(dim, heads, kv_heads, batch, queries, keys, layout="bshd", o="bf16", descale=None, lse=False, value_dim=None, **mask):
    """The errors of O, ours and of rounding P, and the worst of lse."""
    swap = (lambda x: x.transpose(1, 2)) if layout == "bhsd" else lambda x: x
    value_dim = value_dim or dim
    q, k, v = random(batch, queries, heads, dim), random(batch, keys, kv_heads, dim), random(batch, keys, kv_heads, value_dim)
    out = swap(torch.full((batch, queries, heads, value_dim), math.nan, device="cuda", dtype=getattr(torch, {"bf16": "bfloat16", "f16": "float16"}[o])))
    out = out.contiguous()
    given, shape = {}, (batch, kv_heads) if descale == "head" else (1,)
    if descale:
        given = {name + "_descale": torch.rand(shape, device="cuda") + 0.5 for name in "qkv"}
    if lse:
        given["lse"] = torch.empty(batch, heads, queries, device="cuda")
    options = {"descale": descale} if descale else {}
    attention = made(dtype="e4m3", dim=dim, value_dim=value_dim, heads=heads, kv_heads=kv_heads, layout=layout, o=o, lse=lse, **options, **mask)
    attention(*(swap(x).contiguous() for x in (q, k, v)), out, **given)
    torch.cuda.synchronize()
    got, at, sets, off = swap(out), torch.arange(queries, device="cuda"), [], 0.0
    for b in range(batch):
        for h in range(heads):
            kv = h * kv_heads // heads
            factors = [given[name + "_descale"][(b, kv) if descale == "head" else 0].item() if descale else 1 for name in "qkv"]
            want, logarithm, rounded = head(q[b, :, h], k[b, :, kv], v[b, :, kv], at, factors, **mask)
            sets.append((got[b, :, h], want, rounded))
            if lse:
                difference = (given["lse"][b, h].double() - logarithm).abs()
                off = max(off, difference[logarithm > -math.inf].max().item())
    ours, want, rounded = (torch.cat(x) for x in zip(*sets))
    return error(ours, want), error(rounded, want), off


FORMS = [
    dict(dim=64, heads=4, kv_heads=4, batch=2, queries=1000, keys=1000, lse=True),
    dict(dim=64, heads=4, kv_heads=2, batch=2, queries=777, keys=777, causal=True, descale="head", lse=True),
    dict(dim=96, heads=3, kv_heads=3, batch=1, queries=500, keys=900, causal=True),
    dict(dim=128, heads=4, kv_heads=4, batch=2, queries=1024, keys=1024, descale="tensor"),
    dict(dim=128, heads=8, kv_heads=2, batch=3, queries=333, keys=2049, causal=True, o="f16", lse=True),
    dict(dim=128, heads=2, kv_heads=2, batch=2, queries=1500, keys=1500, causal=True, window=300, layout="bhsd"),
    dict(dim=128, heads=2, kv_heads=1, batch=2, queries=600, keys=600, softcap=5.0, descale="head"),
    dict(dim=128, heads=1, kv_heads=1, batch=1, queries=1, keys=1, lse=True),
    dict(dim=192, heads=2, kv_heads=2, batch=2, queries=700, keys=700, window=200),
    dict(dim=192, value_dim=128, heads=4, kv_heads=4, batch=2, queries=1000, keys=1000, causal=True, lse=True),
    dict(dim=128, value_dim=64, heads=4, kv_heads=2, batch=2, queries=777, keys=900, descale="head", layout="bhsd"),
    dict(dim=256, heads=2, kv_heads=2, batch=2, queries=2000, keys=2000, lse=True),
    dict(dim=256, heads=4, kv_heads=1, batch=2, queries=900, keys=900, causal=True, descale="head", layout="bhsd"),
    dict(dim=128, heads=1, kv_heads=1, batch=1, queries=512, keys=65536),
]


def limit(rounded):
    """Of our error: most probabilities are linear between powers of two, which adds 0.018 in quadrature to rounding's 0.026."""
    return 1.2 * rounded + 0.006


def forms():
    wrong = 0
    for form in FORMS:
        torch.manual_seed(form["dim"] + form["queries"])
        ours, rounded, off = check(**form)
        bad = not (ours <= limit(rounded) and off <= 2e-3)
        wrong += bad
        print("%s error %.4f, of P alone %.4f, lse %.1e %s" % ("WRONG" if bad else "right", ours, rounded, off, form), flush=True)
    return wrong


def measure(dim, causal, batch, length):
    torch.manual_seed(dim + length)
    heads = 2048 // dim
    narrow = [random(batch, length, heads, dim) for _ in range(3)]
    wide, o = [x.bfloat16() for x in narrow], torch.empty(batch, length, heads, dim, device="cuda", dtype=torch.bfloat16)
    o8 = torch.empty_like(o)
    common = dict(dim=dim, heads=heads, causal=causal, problem=(length, length))
    fp8, bf16 = made(dtype="e4m3", **common), made(dtype="bf16", **common)
    graphs = [Graph(lambda: fp8(*narrow, o8)), Graph(lambda: bf16(*wide, o)), Graph(lambda: cudnn(*wide, causal))]
    times = in_turn(graphs, ROUNDS)
    speeds = [flops((dim, dim), causal, batch, length, heads) / statistics.median(t) / 1e9 for t in times]
    ratios = [statistics.median(other / own for own, other in zip(times[0], t)) for t in times[1:]]
    at = torch.arange(0, length, max(1, length // 256), device="cuda")
    want, _, rounded = head(*(x[-1, :, -1] for x in narrow), at, causal=causal)
    return *speeds, *ratios, error(o8[-1, at, -1], want), error(rounded, want)


def main():
    asked = [x for x in sys.argv[1:] if x.startswith("--")]
    print(f"{device()}, {ROUNDS} rounds")
    wrong = forms() if not asked or "--forms" in asked else 0
    if not asked or "--times" in asked:
        print("dim causal batch length   e4m3   bf16  cuDNN bf16, TFLOP/s   ratios        error  of P alone")
        for dim in (128, 256, 64):
            for causal in (False, True):
                for batch, length in ((16, 1024), (4, 4096), (1, 16384)):
                    found = measure(dim, causal, batch, length)
                    wrong += not found[5] <= limit(found[6])
                    print("%3d %6s %5d %6d   %5.0f  %5.0f  %5.0f                 %5.3f %5.3f   %.4f  %.4f" % (dim, causal, batch, length, *found), flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
