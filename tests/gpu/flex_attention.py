"""wg.attention with functions of one's own beside FlexAttention and beside the library's own options, on a GPU: flex_attention.py [ROUNDS];
WGRUN_LIBRARY and PYTHONPATH say where things are. For each row all are replayed in turn from CUDA graphs, and a part of each result is compared
with binary64. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result of wgrun is wrong."""

import math
import statistics
import sys

from hopper import Graph, device, in_turn, torch  # first: ends where there is no GPU

import wgrun
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

ROUNDS = next((int(x) for x in sys.argv[1:] if x.isdigit()), 10)
SHAPES = ((2, 8192, 16, 128), (4, 4096, 16, 64), (2, 8192, 8, 256))

CAUSAL = """mask = function(_, at) return at.key:le(at.place) end,
    block_mask = function(_, at) return at.first_key:le(at.last_place), at.last_key:le(at.first_place) end"""
DOCUMENTS = """causal = true, mask = function(_, at) return (at.key >> 10):eq(at.place >> 10) end, block_mask = function(_, at)
      local keys, places = { at.first_key >> 10, at.last_key >> 10 }, { at.first_place >> 10, at.last_place >> 10 }
      return keys[1]:le(places[2]) & keys[2]:ge(places[1]), keys[1]:eq(places[2]) & keys[2]:eq(places[1])
    end"""
WINDOW = """mask = function(_, at) return at.key:le(at.place) & at.key:gt(at.place - 1024) end, block_mask = function(_, at)
      return at.first_key:le(at.last_place) & at.last_key:gt(at.first_place - 1024),
        at.last_key:le(at.first_place) & at.first_key:gt(at.last_place - 1024)
    end"""
ALIBI = """causal = true, score = function(k, x, at)
      return k:fma(k:ex2_approx_ftz(k:neg(k:cvt_rn_f32_u32(at.head + 1))), at.distance, x)
    end"""
CAP = "causal = true, score = function(k, x) return k:tanh_approx(x * (1 / 30)) * 30 end"


def causal(b, h, q, k):
    return q >= k


# A name; options with functions; options of the library that do the same, or none; FlexAttention's functions.
ROWS = (
    ("causal", CAUSAL, "causal = true", causal, None),
    ("documents", DOCUMENTS, None, lambda b, h, q, k: (q >= k) & (q // 1024 == k // 1024), None),
    ("window", WINDOW, "causal = true, window = 1024", lambda b, h, q, k: (q >= k) & (k > q - 1024), None),
    ("alibi", ALIBI, None, causal, lambda x, b, h, q, k: x + torch.exp2(-(h + 1.0)) * (k - q)),
    ("softcap", CAP, "causal = true, softcap = 30", causal, lambda x, b, h, q, k: 30 * torch.tanh(x / 30)),
)


def made(dim, heads, options):
    return wgrun.loads(f'return {{ it = require "wgrun".attention {{ dim = {dim}, heads = {heads}, {options} }} }}')["it"]


def error(tensors, o, mask, score):
    """The worst error of some rows of the first and the last head, over what rounding to bf16 may cost."""
    q, k, v = tensors
    worst = 0.0
    for b, h in ((0, 0), (q.shape[0] - 1, q.shape[2] - 1)):
        at = torch.arange(0, q.shape[1], max(1, q.shape[1] // 128), device="cuda")
        keys = torch.arange(k.shape[1], device="cuda")[None, :]
        scores = q[b, at, h].double() @ k[b, :, h].double().T / math.sqrt(q.shape[3])
        if score:
            scores = score(scores, b, torch.tensor(h, device="cuda", dtype=torch.float64), at[:, None], keys)
        scores.masked_fill_(~mask(b, h, at[:, None], keys), -math.inf)
        want = torch.softmax(scores, -1) @ v[b, :, h].double()
        worst = max(worst, ((o[b, at, h].double() - want).abs() / (2**-7 * (want.abs() + 0.5))).max().item())
    return worst


def main():
    print(f"{device()}, {ROUNDS} rounds; us: functions, the library's options, FlexAttention; ratios to the functions; errors")
    wrong = False
    for batch, length, heads, dim in SHAPES:
        torch.manual_seed(dim)
        tensors = [torch.randn(batch, length, heads, dim, device="cuda", dtype=torch.bfloat16) for _ in range(3)]
        o, own = torch.empty_like(tensors[0]), torch.empty_like(tensors[0])
        turned = [x.transpose(1, 2) for x in tensors]
        for name, options, same, mask, score in ROWS:
            functions, library = made(dim, heads, options), same and made(dim, heads, same)
            blocks = create_block_mask(mask, None, None, length, length, device="cuda")
            torch.compiler.reset()  # it compiles a function a few times only
            compiled = torch.compile(flex_attention, dynamic=False)
            graphs = [Graph(lambda: functions(*tensors, o)), Graph(lambda: compiled(*turned, score_mod=score, block_mask=blocks))]
            if library:
                graphs.append(Graph(lambda: library(*tensors, own)))
            times = in_turn(graphs, ROUNDS)
            us = [1e3 * statistics.median(t) for t in times]
            ratios = [statistics.median(b / a for a, b in zip(times[0], t)) for t in times]
            off = error(tensors, o, mask, score), error(tensors, graphs[1].result.transpose(1, 2), mask, score)
            wrong = wrong or not off[0] <= 1
            print("%dx%dx%dx%-3d %-10s %8.1f %8s %8.1f   %6s %6.3f   %5.2f %5.2f" % (
                batch, length, heads, dim, name, us[0], "%.1f" % us[2] if library else "-", us[1], "%.3f" % ratios[2] if library else "-",
                ratios[1], *off), flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
