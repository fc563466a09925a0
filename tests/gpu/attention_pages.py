"""wg.attention of packed sequences with K and V in pages, beside the same without pages and FlashAttention-3 (fa3-fwd), where that is, on a GPU:
attention_pages.py [ROUNDS]; WGRUN_LIBRARY and PYTHONPATH say where things are. Pages in a random order; NaN behind the ends of the sequences. A part of each
result is compared with binary64. Hot: bursts of 7 ms in any order, medians. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1
where a result is wrong."""

import statistics
import sys

from attention import error, flops
from bursts import shuffled
from hopper import device, graph_of, microseconds, torch  # first: ends where there is no GPU

import wgrun.torch

try:
    from fa3_fwd_interface import flash_attn_with_kvcache
except ImportError:
    flash_attn_with_kvcache = None  # then without

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
ROWS = [(*row, page) for row in ((4, 4096, 32, 8, 128, 128), (8, 2000, 16, 16, 128, 128), (4, 4096, 16, 16, 192, 128)) for page in (1, 16, 64, 256)]


def measure(batch, length, heads, kv_heads, dim, value_dim, page):
    torch.manual_seed(page)
    width = -(-length // page)
    table = torch.randperm(batch * width, device="cuda").to(torch.int32).view(batch, width)
    starts = torch.arange(batch + 1, device="cuda", dtype=torch.int32) * length
    q = torch.randn(batch * length, heads, dim, device="cuda").bfloat16()
    flat, paged = [], []
    for columns in (dim, value_dim):
        rows = torch.randn(batch, width * page, kv_heads, columns, device="cuda").bfloat16()
        flat.append(rows[:, :length].flatten(0, 1).contiguous())
        rows[:, length:] = float("nan")
        pages = torch.empty(batch * width, page, kv_heads, columns, device="cuda", dtype=torch.bfloat16)
        pages[table.long().flatten()] = rows.view(batch * width, page, kv_heads, columns)
        paged.append(pages)

    def ours(k, v, **more):
        return wgrun.torch.flash_attn_varlen_func(q, k, v, starts, starts, length, length, causal=True, **more)

    bodies = {"pages": lambda: ours(*paged, block_table=table), "no pages": lambda: ours(*flat)}
    if flash_attn_with_kvcache:
        lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
        bodies["FlashAttention-3"] = lambda: flash_attn_with_kvcache(
            q, *paged, cache_seqlens=lengths, page_table=table, cu_seqlens_q=starts, max_seqlen_q=length, causal=True)
    shaped = [t.view(batch, length, *t.shape[1:]) for t in (q, *flat, bodies["pages"]())]
    off = error(*shaped, True)
    same = torch.equal(bodies["pages"](), bodies["no pages"]())
    graphs = {}
    for name, body in bodies.items():
        count = max(2, int(7000 / microseconds(graph_of([body], 2), 2)))
        graphs[name] = graph_of([body], count), count
    times = {name: [] for name in graphs}
    for turn in range(ROUNDS + 1):
        for name, of in shuffled(graphs.items()):
            spent = microseconds(*of)
            if turn:
                times[name].append(spent)
    speeds = {name: flops((dim, value_dim), True, batch, length, heads) / statistics.median(t) / 1e6 for name, t in times.items()}
    cells = ", ".join(f"{name} {speed:.0f}" for name, speed in speeds.items())
    print(f"b{batch} s{length} h{heads}/{kv_heads} d{dim}/{value_dim} page {page} | TFLOP/s: {cells} | error {off:.2f}"
          f"{'' if same else ', not the same as without pages'}", flush=True)
    return not (off <= 1 and same)


print(f"{device()}, {ROUNDS} rounds", flush=True)
wrong = [measure(*row) for row in ROWS]
sys.exit(1 if any(wrong) else 0)
