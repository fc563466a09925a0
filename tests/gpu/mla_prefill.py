"""Prefill of multi-head latent attention, wg.attention with heads of 192 and of V of 128, beside FlashAttention-3 (fa3-fwd) and cuDNN where
they are, on a GPU: mla_prefill.py [ROUNDS [ROW...]]; WGRUN_LIBRARY and PYTHONPATH say where things are. Normally distributed; a part of each
result is compared with binary64. Hot: bursts of 7 ms in any order; cool: a twelfth as many launches after a pause of 30 ms. Ends with 77 where
there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import statistics
import sys
import time

from attention import cudnn, error, flops, made, tensors
from bursts import shuffled
from hopper import device, graph_of, microseconds, torch

try:
    from fa3_fwd_interface import flash_attn_func
except ImportError:
    flash_attn_func = None  # then without

ROUNDS, *WANTED = sys.argv[1:] or ["7"]  # WANTED: numbers of rows; all of them without
ROUNDS = int(ROUNDS)
ROWS = [(causal, *row) for causal in (True, False) for row in ((1, 16384, 16), (4, 4096, 16), (16, 1024, 16), (1, 4096, 128))]


def measure(causal, batch, length, heads):
    q, k, v, o = tensors(batch, heads, heads, length, length, 192, 128)
    attention = made(192, 128, heads, heads, causal, f"problem = {{ {length}, {length} }}")
    bodies = {"wgrun": lambda: attention(q, k, v, o), "cuDNN": lambda: cudnn(q, k, v, causal)}
    if flash_attn_func:
        bodies["FlashAttention-3 (fa3-fwd)"] = lambda: flash_attn_func(q, k, v, causal=causal)
    title = f"{'causal' if causal else 'full'} b{batch} s{length} h{heads}"
    attention(q, k, v, o)
    off = error(q, k, v, o, causal)
    count, graphs = 0, {}
    for name, body in bodies.items():
        count = count or max(2, int(7000 / microseconds(graph_of([body], 2), 2)))
        graphs[name] = {"hot": (graph_of([body], count), count), "cool": (graph_of([body], max(1, count // 12)), max(1, count // 12))}
    speeds = {}
    for state in ("hot", "cool"):
        times = {name: [] for name in bodies}
        for turn in range(ROUNDS + 1):
            for name, of in shuffled(graphs.items()):
                if state == "cool":
                    torch.cuda.synchronize()
                    time.sleep(0.03)
                spent = microseconds(*of[state])
                if turn:
                    times[name].append(spent)
        speeds[state] = {name: flops((192, 128), causal, batch, length, heads) / statistics.median(t) / 1e6 for name, t in times.items()}
    cells = ", ".join("%s %.0f/%.0f" % (name, *(speeds[state][name] for state in speeds)) for name in bodies)
    best = ["%.3f" % (s["wgrun"] / max(x for name, x in s.items() if name != "wgrun")) for s in speeds.values()]
    print(f"{title} | TFLOP/s hot/cool: {cells} | ratio {'/'.join(best)}, error {off:.2f}", flush=True)
    return not off <= 1


print(f"{device()}, {ROUNDS} rounds", flush=True)
wrong = [measure(*row) for i, row in enumerate(ROWS) if not WANTED or str(i) in WANTED]
sys.exit(1 if any(wrong) else 0)
