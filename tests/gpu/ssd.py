"""wg.ssd beside mamba-ssm's mamba_chunk_scan_combined and flash-linear-attention's chunk_simple_gla, on a GPU: ssd.py [ROUNDS [ROW...]];
WGRUN_LIBRARY and PYTHONPATH say where things are. For each row all are replayed in turn from CUDA graphs, and y and the final states of
some heads are compared with binary64. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import functools
import math
import statistics
import sys

from hopper import device, graph_of, microseconds, torch  # first: ends where there is no GPU
from state_space import DSTATE, HEADDIM, PACKED, error, inputs, shapes, starts_of

import wgrun

try:
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined
except ImportError:
    mamba_chunk_scan_combined = None
try:
    from fla.ops.simple_gla import chunk_simple_gla
except ImportError:
    chunk_simple_gla = None

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
WANTED = sys.argv[2:]  # numbers of rows; all of them without
LAUNCHES = 4  # of a graph


def rows():
    """batch, tokens, heads, groups, options (None: what the plan chooses for the problem), lengths of packed sequences."""
    for shape in shapes():
        yield *shape, None, None
    for options in ("segments = 1", "segments = 4", "segments = 8", "pairs = true, segments = 16"):
        yield 1, 8192, 16, 1, options, None
    yield 1, 8192, 80, 1, "pairs = true, segments = 3", None
    for options in ("segments = 1", "pairs = true, segments = 2"):
        yield 1, 8192, 80, 1, options, PACKED


def expected(x, dt, a, b, c, skip):
    """y and the last state of one sequence, heads x tokens x headdim and heads x headdim x dstate, in binary64, in chunks of 64."""
    heads, tokens, _ = x.shape
    s = torch.zeros(heads, HEADDIM, DSTATE, dtype=torch.float64, device="cuda")
    out = torch.empty(heads, tokens, HEADDIM, dtype=torch.float64, device="cuda")
    for first in range(0, tokens, 64):
        at = slice(first, min(first + 64, tokens))
        xc, bc, cc, step = (t[:, at].double() for t in (x, b, c, dt))
        total = (step * a[:, None].double()).cumsum(1)
        decay = (total[:, :, None] - total[:, None, :]).tril().exp().tril()
        out[:, at] = total.exp()[:, :, None] * (cc @ s.mT) + (decay * (cc @ bc.mT)) @ (step[:, :, None] * xc) + skip[:, None, None] * xc
        rest = (step * (total[:, -1:] - total).exp())[:, :, None]
        s = total[:, -1, None, None].exp() * s + (rest * xc).mT @ bc
    return out, s


@functools.cache
def script_of(heads, groups, packed, options):
    return wgrun.loads(f"""local wg = require "wgrun"
        local ssd = wg.ssd {{ heads = {heads}, groups = {groups}, dt_dtype = "bf16", dt_bias = true, dt_softplus = true, D = true,
                              final_state = true, packed = {str(packed).lower()}, {options} }}
        local function step(number, kernel)
          return {{ kernel = kernel, launch = function(_, ...) return ssd:launches(...)[number][2] end }}
        end
        if ssd.plan.segments == 1 then return {{ step(1, ssd.kernel) }} end
        return {{ step(1, ssd.summary), step(2, ssd.kernel) }}""")


def ours_of(x, dt, a, b, c, y, values, options, packed):
    batch, tokens, heads = (1, *x.shape[:2]) if packed else x.shape[:3]
    script = script_of(heads, b.shape[-2], packed, options or f"problem = {{ {tokens}, {batch} }}")

    def run():
        for step in range(len(script)):
            script[step](x, dt, a, b, c, y, **values)
    return run


def measure(batch, tokens, heads, groups, options, lengths):
    x, dt, a, b, c, skip, bias = inputs(batch, tokens, heads, groups)
    step = torch.nn.functional.softplus(dt.float() + bias)
    y = torch.full_like(x, math.nan)
    starts = starts_of(lengths)
    sequences = len(lengths) if lengths else batch
    state = torch.full((sequences, heads, HEADDIM, DSTATE), math.nan, device="cuda")
    values = {"D": skip, "dt_bias": bias, "final_state": state}
    if lengths:
        values["starts"] = torch.tensor(starts, dtype=torch.int32, device="cuda")
    bodies, results = [], []

    bodies.append(ours_of(*((t[0] if lengths else t) if t is not a else t for t in (x, dt, a, b, c, y)), values, options, bool(lengths)))
    results.append(lambda: (y, state))
    held = {}
    if mamba_chunk_scan_combined:
        index = torch.cat([torch.full((n,), i, dtype=torch.int32) for i, n in enumerate(lengths)]).cuda()[None] if lengths else None

        def mamba():
            held["mamba"] = mamba_chunk_scan_combined(
                x, dt, a, b, c, 256, D=skip, dt_bias=bias, dt_softplus=True, return_final_states=not lengths, seq_idx=index,
                **({"cu_seqlens": values["starts"], "return_varlen_states": True} if lengths else {}))
        bodies.append(mamba)
        results.append(lambda: held["mamba"])
    if chunk_simple_gla:
        # What it has no options for is done beforehand: dt x, A dt, and B and C for each head.
        v, g = (x * step[..., None]).bfloat16(), step * a
        q, k = (t.repeat_interleave(heads // groups, 2) for t in (c, b))

        def gla():
            held["gla"] = chunk_simple_gla(q, k, v, g, scale=1.0, output_final_state=True, state_v_first=True,
                                           cu_seqlens=values["starts"].long() if lengths else None)
        bodies.append(gla)
        results.append(lambda: held["gla"])
    graphs = [graph_of([body], LAUNCHES) for body in bodies]
    times = [[] for _ in graphs]
    for turn in range(ROUNDS + 3):
        for graph, out in zip(graphs, times):
            spent = microseconds(graph, LAUNCHES)
            if turn >= 3:
                out.append(spent)
    errors = [[0, 0] for _ in graphs]
    chosen = sorted({0, heads // 2, heads - 1})
    for sequence in range(sequences):
        index, at = (0, slice(starts[sequence], starts[sequence + 1])) if lengths else (sequence, slice(0, tokens))
        if sequence not in (0, sequences - 1) and not lengths:
            continue
        of_group = [h // (heads // groups) for h in chosen]
        want = expected(x[index, at, chosen].transpose(0, 1), step[index, at, chosen].T, a[chosen], b[index, at, of_group].transpose(0, 1),
                        c[index, at, of_group].transpose(0, 1), skip[chosen])
        for number, (result, off) in enumerate(zip(results, errors)):
            got_y, got_state = result()
            for h, head in enumerate(chosen):
                without = skip[head] * x[index, at, head].double() if number == 2 or not mamba_chunk_scan_combined and number == 1 else 0
                off[0] = max(off[0], error(got_y[index, at, head], want[0][h] - without))
                off[1] = max(off[1], error(got_state[sequence, head], want[1][h]))
    return [statistics.median(t) for t in times], errors


names = ["wgrun", *(["mamba-ssm"] if mamba_chunk_scan_combined else []), *(["simple_gla"] if chunk_simple_gla else [])]
print(f"{device()}, {ROUNDS} rounds")
print("batch tokens heads groups   " + "   ".join(f"{name} us, error of y and S" for name in names))
wrong = False
for number, row in enumerate(rows()):
    if WANTED and str(number) not in WANTED:
        continue
    medians, errors = measure(*row)
    wrong = wrong or not max(errors[0]) <= 0.02
    print("%5d %6d %5d %6d" % row[:4], "".join("   %9.1f  %.5f %.5f" % (m, *e) for m, e in zip(medians, errors)),
          "  ", row[4] or "", "packed" if row[5] else "", flush=True)
sys.exit(1 if wrong else 0)
