"""wg.delta_rule beside flash-linear-attention's chunk_gated_delta_rule and, with decays for each channel, its chunk_kda, on a GPU:
delta_rule.py [ROUNDS [ROW...]]; WGRUN_LIBRARY and PYTHONPATH say where things are. For each row both are replayed in turn from CUDA graphs, and O and the final states of some heads are
compared with binary64. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import math
import statistics
import sys

from hopper import Graph, device, in_turn, torch  # first: ends where there is no GPU

from delta_rule_inputs import DIM, error, inputs

import wgrun

try:
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    from fla.ops.kda import chunk_kda
except ImportError:
    chunk_gated_delta_rule = chunk_kda = None  # then ours alone

SIDE = torch.cuda.Stream()
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
WANTED = sys.argv[2:]  # numbers of rows; all of them without


def rows():
    """batch, tokens, heads of Q and K, heads of V, segments, lengths of packed sequences, and what a decay is for."""
    yield 1, 65536, 16, 64, 1, None, "head"
    yield 1, 8192, 2, 8, 1, None, "head"
    for segments in (4, 5, 6, 8):
        yield 1, 8192, 2, 8, segments, None, "head"
    yield 1, 8192, 16, 32, 1, None, "head"
    yield 1, 8192, 16, 32, 2, None, "head"
    yield 1, 32768, 16, 32, 1, None, "head"
    yield 4, 4096, 16, 32, 1, None, "head"
    yield 16, 1024, 16, 32, 1, None, "head"
    yield 1, 8192, 4, 16, 1, [1000, 24, 1, 3071, 4096], "head"
    yield 1, 8192, 4, 16, 2, [1000, 24, 1, 3071, 4096], "head"
    for segments in (1, 3):
        yield 1, 8192, 16, 16, segments, None, "channel"
    yield 1, 8192, 64, 64, 1, None, "channel"
    yield 1, 8192, 8, 8, 5, None, "channel"
    yield 4, 4096, 16, 32, 1, None, "channel"
    yield 1, 8192, 16, 16, 1, [1000, 24, 1, 3071, 4096], "channel"


def expected(q, k, v, g, beta, scale):
    """O and the last state of one sequence, heads x tokens x dim each, in binary64, in chunks of 64; g is heads x tokens x 1 or dim."""
    heads, tokens, _ = v.shape
    s = torch.zeros(heads, DIM, DIM, dtype=torch.float64, device="cuda")
    out = torch.empty(heads, tokens, DIM, dtype=torch.float64, device="cuda")
    for first in range(0, tokens, 64):
        at = slice(first, min(first + 64, tokens))
        qc, kc, vc, bc = (x[:, at].double() for x in (q, k, v, beta))
        total = g[:, at].double().cumsum(1)
        decay = (total[:, :, None] - total[:, None]).clamp(max=0).exp()  # rows x columns x channels
        kk, qk = ((decay * x[:, :, None] * kc[:, None]).sum(-1) for x in (kc, qc))
        a = torch.eye(kk.shape[1], dtype=torch.float64, device="cuda") + (bc[:, :, None] * kk).tril(-1)
        x = vc - (total.exp() * kc) @ s
        u = torch.linalg.solve_triangular(a, bc[:, :, None] * x, upper=False, unitriangular=True)
        out[:, at] = scale * ((total.exp() * qc) @ s + qk.tril() @ u)
        s = total[:, -1:].exp().mT * s + ((total[:, -1:] - total).exp() * kc).mT @ u
    return out, s


def measure(batch, tokens, qk_heads, heads, segments, lengths, decay):
    q, k, v, g, beta = inputs(batch, tokens, qk_heads, heads, decay)
    sequences = len(lengths) if lengths else batch
    o = torch.full_like(v, math.nan)
    state = torch.full((sequences, heads, DIM, DIM), math.nan, device="cuda")
    starts = [0]
    for length in lengths or []:
        starts.append(starts[-1] + length)
    starts = torch.tensor(starts, dtype=torch.int32, device="cuda") if lengths else None
    options = f"heads = {heads}, qk_heads = {qk_heads}, packed = {str(bool(lengths)).lower()}, segments = {segments}, " \
        f"decay = '{decay}', final_state = true"
    script = wgrun.loads(f"""local wg = require "wgrun"
        local delta = wg.delta_rule {{ {options} }}
        return delta:steps()""")
    ours_q, ours_k, ours_v, ours_o, ours_g, ours_beta = ((x[0] if lengths else x) for x in (q, k, v, o, g, beta))
    given = {"starts": starts} if lengths else {}

    def ours():
        for step in script:
            step(ours_q, ours_k, ours_v, ours_o, g=ours_g, beta=ours_beta, final_state=state, **given)
        return o, state

    def theirs():
        if decay == "head":
            return chunk_gated_delta_rule(q, k, v, g=g, beta=beta, output_final_state=True, cu_seqlens=starts)
        return chunk_kda(q, k, v, g=g, beta=beta, output_final_state=True, cu_seqlens=starts, safe_gate=True)

    graphs = [Graph(ours, SIDE)] + ([Graph(theirs, SIDE)] if chunk_gated_delta_rule else [])
    times = in_turn(graphs, ROUNDS)
    medians = [statistics.median(t) for t in times]
    errors = [[0, 0] for _ in graphs]
    chosen = sorted({0, heads // 2, heads - 1})
    for sequence in range(sequences):
        if lengths:
            first = starts[sequence].item()
            index, at = 0, slice(first, first + lengths[sequence])
        else:
            index, at = sequence, slice(0, tokens)
        if sequence not in (0, sequences - 1) and not lengths:
            continue
        of_qk = [h // (heads // qk_heads) for h in chosen]
        want = expected(q[index, at, of_qk].transpose(0, 1), k[index, at, of_qk].transpose(0, 1), v[index, at, chosen].transpose(0, 1),
                        (g if decay == "channel" else g[..., None])[index, at, chosen].transpose(0, 1),
                        beta[index, at, chosen].T, DIM ** -0.5)
        for graph, off in zip(graphs, errors):
            graph.graph.replay()
            torch.cuda.synchronize()
            got_o, got_state = graph.result
            for h, head in enumerate(chosen):
                off[0] = max(off[0], error(got_o[index, at, head], want[0][h]))
                off[1] = max(off[1], error(got_state[sequence, head], want[1][h]))
    return medians, errors


print(f"{device()}, {ROUNDS} rounds")
print("batch tokens qk_heads heads segments decay    wgrun us  theirs us  ratio   error of O and S   theirs")
wrong = False
for number, row in enumerate(rows()):
    if WANTED and str(number) not in WANTED:
        continue
    medians, errors = measure(*row)
    wrong = wrong or not max(errors[0]) <= 0.02
    theirs = "%9.1f  %6.3f   %.5f %.5f   %.5f %.5f" % (medians[1] * 1e3, medians[1] / medians[0], *errors[0], *errors[1]) if len(medians) > 1 else \
        "                    %.5f %.5f" % tuple(errors[0])
    print("%5d %6d %8d %5d %8d %-7s  %9.1f  %s%s" % (*row[:5], row[6], medians[0] * 1e3, theirs, "  packed" if row[5] else ""), flush=True)
sys.exit(1 if wrong else 0)
