"""wg.mla_decode beside FlashMLA, where that is installed, on a GPU: mla_decode.py [fp8] [ROUNDS [ROW...]]; WGRUN_LIBRARY and PYTHONPATH
say where things are. `fp8`: the cache has 8-bit rows; the same numbers in bf16 are for FlashMLA, and for the kernel of bf16. Pages of 64 keys in a random order,
normally distributed. Each row runs hot, in bursts of 7 ms in turn, and cool, a
twelfth as many launches after a pause of 30 ms. Before, results at uneven lengths are compared with binary64, and 20 more launches have to
give the same bits. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import math
import statistics
import sys
import time

from hopper import device, graph_of, microseconds, torch  # first: ends where there is no GPU

import wgrun

try:
    from flash_mla import flash_mla_with_kvcache, get_mla_metadata
except ImportError:
    flash_mla_with_kvcache = None  # then ours alone

FP8 = "fp8" in sys.argv
ROUNDS, *WANTED = [x for x in sys.argv[1:] if x != "fp8"] or ["5"]  # WANTED: numbers of rows; all of them without
ROUNDS = int(ROUNDS)
ROWS = [(128, 128, 4096, 1), (64, 128, 8192, 1), (128, 64, 4096, 1), (128, 16, 4096, 1), (128, 128, 4096, 2), (1, 128, 32768, 1),
        (32, 128, 4096, 1), (128, 32, 4096, 2), (256, 128, 1000, 1), (4, 16, 8192, 1)]  # batch, heads, keys, queries
SCALE = 192 ** -0.5


def expected(q, cache, table, length):
    """O of one sequence, queries x heads x 512, and the log-sum-exp, heads x queries, in binary64."""
    queries, heads, _ = q.shape
    if length == 0:
        return torch.zeros(queries, heads, 512, dtype=torch.float64, device="cuda"), torch.full((heads, queries), -math.inf, device="cuda")
    k = cache(table.long()).reshape(-1, 576)[:length]
    scores = torch.einsum("qhd,kd->hqk", q.double(), k) * SCALE
    hidden = torch.arange(length, device="cuda")[None] > length - queries + torch.arange(queries, device="cuda")[:, None]
    scores.masked_fill_(hidden, -math.inf)
    lse = scores.logsumexp(-1)
    weights = torch.where(lse[..., None] > -math.inf, (scores - lse[..., None]).exp(), 0)
    return torch.einsum("hqk,kd->qhd", weights, k[:, :512]), lse


def quantized(cache):
    """Rows of 656 bytes as FlashMLA, vLLM and SGLang have them, and the numbers that these stand for, in binary64."""
    tiles = cache[..., :512].float().unflatten(-1, (4, 128))
    scales = tiles.abs().amax(-1) / 448
    e4m3 = (tiles / scales[..., None]).to(torch.float8_e4m3fn).view(torch.uint8)
    parts = [x.contiguous().view(torch.uint8).flatten(2) for x in (e4m3, scales, cache[..., 512:])]

    def numbers(rows):
        latent = e4m3[rows].view(torch.float8_e4m3fn).double() * scales[rows][..., None].double()
        return torch.cat([latent.flatten(2), cache[rows][..., 512:].double()], -1)

    return torch.cat(parts, -1), numbers


def measure(batch, heads, keys, queries):
    torch.manual_seed(batch + keys + heads)
    width = (keys + 63) // 64
    q = torch.randn(batch, queries, heads, 576, device="cuda").bfloat16()
    # as many sequences as have 200 MB, which all others share, but at least what the batch reads
    cache = torch.randn(max(batch * width, 200_000_000 // 73728), 64, 576, device="cuda").bfloat16()
    tables = [torch.randperm(len(cache), device="cuda").to(torch.int32)[:batch * width].view(batch, width).contiguous() for _ in range(2)]
    own, numbers = quantized(cache) if FP8 else (cache, lambda rows: cache[rows].double())
    if FP8:
        cache = torch.cat([numbers(slice(i, i + 512)).bfloat16() for i in range(0, len(cache), 512)])
    o = torch.full((batch, queries, heads, 512), math.nan, device="cuda", dtype=torch.bfloat16)
    lse = torch.full((batch, heads, queries), math.nan, device="cuda")
    full = torch.full((batch,), keys, dtype=torch.int32, device="cuda")
    def ours(cache, options=""):
        script = f'return {{ require "wgrun".mla_decode {{ heads = {heads}, queries = {queries}, page = 64, lse = true{options} }} }}'
        decode = wgrun.loads(script)[0]

        def body(lengths, table):
            decode(q, cache, o, lengths=lengths, pages=table, scale=SCALE, lse=lse)
            return o, lse
        return body

    def theirs(lengths, table, known={}):
        if id(lengths) not in known:
            known[id(lengths)] = (*get_mla_metadata(lengths, queries * heads, 1), lengths)
        return flash_mla_with_kvcache(q, cache.view(-1, 64, 1, 576), table, lengths, 512, *known[id(lengths)][:2], softmax_scale=SCALE, causal=True)

    bodies = {"wgrun": ours(own, ', cache_type = "fp8_ds_mla"'), "wgrun bf16": ours(cache)} if FP8 else {"wgrun": ours(cache)}
    if flash_mla_with_kvcache:
        bodies["FlashMLA"] = theirs
    # Right first, at uneven lengths and at full ones.
    uneven = torch.randint(0, keys + 1, (batch,), device="cuda", dtype=torch.int32)
    uneven[0], uneven[-1] = keys if batch == 1 else 0, keys - 3
    errors, same = dict.fromkeys(bodies, 0.0), True
    for lengths in (uneven, full):
        first = None
        for _ in range(21):  # which CTAs have finished when differs
            bodies["wgrun"](lengths, tables[0])
            first = first if first is not None else o.clone()
            same = same and torch.equal(o, first)
        for name, body in bodies.items():
            got, got_lse = body(lengths, tables[0])
            for b in sorted({0, 1 % batch, batch // 2, batch - 1}):
                want, want_lse = expected(q[b], numbers, tables[0][b], lengths[b].item())
                if name == "wgrun" and not (torch.equal(got_lse[b].isinf(), want_lse.isinf()) and
                                   (got_lse[b].double() - want_lse).nan_to_num(0).abs().max() <= (5e-3 if FP8 else 1e-3)):
                    errors[name] = math.nan
                size = want.square().mean()
                if name == "wgrun" or size > 0:
                    error = ((got[b].double() - want).square().mean() / size.clamp(min=1e-30)).sqrt().item()
                    errors[name] = max(errors[name], error) if error == error else math.nan
    wrong = not errors["wgrun"] <= 0.01 or not same

    flops, moved = 2.0 * batch * queries * heads * keys * 1088, batch * keys * own.shape[2] * own.element_size()
    speeds = {}
    for state in ("hot", "cool"):
        graphs = {}
        for name, body in bodies.items():
            functions = [lambda t=t: body(full, t) for t in tables]
            count = max(4, min(400, int(7000 / microseconds(graph_of(functions, 4), 4))))
            count = count if state == "hot" else max(2, count // 12)
            graphs[name] = graph_of(functions, count), count
        times = {name: [] for name in bodies}
        for turn in range(ROUNDS + 1):
            for name, graph in graphs.items():
                if state == "cool":
                    torch.cuda.synchronize()
                    time.sleep(0.03)
                spent = microseconds(*graph)
                if turn:
                    times[name].append(spent)
        speeds[state] = {name: statistics.median(t) for name, t in times.items()}
    cells = []
    for name in bodies:
        size = moved if name == "wgrun" else batch * keys * 1152.0
        cells.append("%s %6.1f/%6.1f TFLOP/s %5.2f/%5.2f TB/s %7.1f us, error %.5f" % (
            name, *(flops / speeds[s][name] / 1e6 for s in speeds), *(size / speeds[s][name] / 1e6 for s in speeds),
            speeds["hot"][name], errors[name]))
        if "FlashMLA" in bodies and name != "FlashMLA":
            cells[-1] += ", ratio %.3f/%.3f" % tuple(s["FlashMLA"] / s[name] for s in speeds.values())
    print(f"b{batch} h{heads} s{keys} sq{queries} | {' | '.join(cells)}{'' if same else ', and not the same each time'}", flush=True)
    return wrong


print(f"{device()}, {ROUNDS} rounds", flush=True)
wrong = [measure(*row) for i, row in enumerate(ROWS) if not WANTED or str(i) in WANTED]
sys.exit(1 if any(wrong) else 0)
