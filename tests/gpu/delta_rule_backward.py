"""wg.delta_rule_backward beside the backward passes of flash-linear-attention's chunk_gated_delta_rule and, with decays for each channel,
its chunk_kda, on a GPU: delta_rule_backward.py [ROUNDS [ROW...]]; WGRUN_LIBRARY and PYTHONPATH say where things are. For each row both are replayed in turn from CUDA graphs, and the
gradients of some heads are compared with binary64. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is
wrong."""

import functools
import math
import statistics
import sys

from hopper import Graph, device, in_turn, torch  # first: ends where there is no GPU

from delta_rule_inputs import DIM, error, inputs

from torch.utils.checkpoint import checkpoint

import wgrun

try:
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    from fla.ops.kda import chunk_kda
except ImportError:
    chunk_gated_delta_rule = chunk_kda = None  # then ours alone

SIDE = torch.cuda.Stream()
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
WANTED = sys.argv[2:]  # numbers of rows; all of them without
NAMES = ("dQ", "dK", "dV", "dg", "dbeta", "dS")


def rows():
    """batch, tokens, heads of Q and K, heads of V, lengths of packed sequences, and what a decay is for."""
    yield 1, 8192, 16, 16, None, "head"
    yield 1, 65536, 16, 64, None, "head"
    yield 1, 8192, 2, 8, None, "head"
    yield 1, 8192, 16, 32, None, "head"
    yield 1, 32768, 16, 32, None, "head"
    yield 4, 4096, 16, 32, None, "head"
    yield 16, 1024, 16, 32, None, "head"
    yield 1, 8192, 4, 16, [1000, 24, 1, 3071, 4096], "head"
    yield 1, 8192, 16, 16, None, "channel"
    yield 1, 8192, 64, 64, None, "channel"
    yield 4, 4096, 16, 32, None, "channel"
    yield 1, 8192, 16, 16, [1000, 24, 1, 3071, 4096], "channel"


def chunk(s, q, k, v, g, beta):
    """O of a chunk and the state after it, by that before it; g is heads x tokens x 1 or dim."""
    total = g.cumsum(1)
    decay = (total[:, :, None] - total[:, None]).clamp(max=0).exp()  # rows x columns x channels
    kk, qk = ((decay * (x[:, :, None] * k[:, None])).sum(-1) for x in (k, q))
    a = torch.eye(k.shape[1], dtype=torch.float64, device="cuda") + (beta * kk).tril(-1)
    u = torch.linalg.solve_triangular(a, beta * (v - (total.exp() * k) @ s), upper=False, unitriangular=True)
    o = DIM ** -0.5 * ((total.exp() * q) @ s + qk.tril() @ u)
    return o, total[:, -1:].exp().mT * s + ((total[:, -1:] - total).exp() * k).mT @ u


def expected(q, k, v, g, beta, d, d_state):
    """The gradients of one sequence, heads x tokens x dim each, in binary64, by the derivative of chunks of 64."""
    leaves = [x.double().requires_grad_() for x in (q, k, v, g, beta)] + [torch.zeros_like(d_state, dtype=torch.float64).requires_grad_()]
    q, k, v, g, beta, s = leaves
    group, loss = v.shape[0] // q.shape[0], 0
    q, k = (x.repeat_interleave(group, 0) for x in (q, k))
    g = g if g.dim() == 3 else g[..., None]
    for first in range(0, v.shape[1], 64):
        at = slice(first, min(first + 64, v.shape[1]))
        o, s = checkpoint(chunk, s, q[:, at], k[:, at], v[:, at], g[:, at], beta[:, at, None], use_reentrant=False)
        loss = loss + (o * d[:, at].double()).sum()
    return torch.autograd.grad(loss + (s * d_state.double()).sum(), leaves)


def measure(batch, tokens, qk_heads, heads, lengths, decay):
    q, k, v, g, beta = inputs(batch, tokens, qk_heads, heads, decay)
    sequences = len(lengths) if lengths else batch
    starts = [0]
    for length in lengths or []:
        starts.append(starts[-1] + length)
    starts = torch.tensor(starts, dtype=torch.int32, device="cuda") if lengths else None
    states = torch.zeros(sequences, heads, DIM, DIM, device="cuda")
    d, d_states = torch.randn_like(v), torch.randn_like(states)
    results = [torch.full_like(x, math.nan) for x in (q, k, v, g, beta, states)]
    script = wgrun.loads(f"""return require("wgrun").delta_rule_backward {{ heads = {heads}, qk_heads = {qk_heads},
        decay = "{decay}", packed = {str(bool(lengths)).lower()}, initial_state = true, final_state = true }}:steps()""")
    named = {"Q": q, "K": k, "V": v, "g": g, "beta": beta, "dO": d, **dict(zip(NAMES[:5], results))}
    if lengths:
        named = {name: tensor[0] for name, tensor in named.items()} | {"starts": starts}
    named |= {"initial_state": states, "d_initial_state": results[5], "d_final_state": d_states}

    def ours():
        for step in script:
            step(**named)
        return results

    graphs = [Graph(ours, SIDE)]
    theirs = {"head": chunk_gated_delta_rule, "channel": chunk_kda and functools.partial(chunk_kda, safe_gate=True)}[decay]
    if theirs:
        leaves = [x.clone().requires_grad_() for x in (q, k, v, g, beta, states)]
        torch.cuda.synchronize()
        with torch.cuda.stream(SIDE):  # where the backward pass then is, too
            outputs = theirs(*leaves[:3], g=leaves[3], beta=leaves[4], initial_state=leaves[5], output_final_state=True, cu_seqlens=starts)
        graphs.append(Graph(lambda: torch.autograd.grad(outputs, leaves, (d, d_states), retain_graph=True), SIDE))
    medians = [statistics.median(t) for t in in_turn(graphs, ROUNDS)]
    parts = [statistics.median(t) for t in in_turn([Graph(lambda step=step: step(**named), SIDE) for step in script], ROUNDS)]
    errors = [[0] * len(NAMES) for _ in graphs]
    group = heads // qk_heads
    for sequence in sorted({0, sequences - 1}):
        first = starts[sequence].item() if lengths else 0
        index, at = (0, slice(first, first + lengths[sequence])) if lengths else (sequence, slice(0, tokens))
        for qk_head in sorted({0, qk_heads - 1}):
            of_v = slice(qk_head * group, qk_head * group + group)

            def pick(x, heads_of):
                return x[index, at, heads_of].transpose(0, 1)

            def of_heads(q, k, v, *gates):
                return [pick(x, slice(qk_head, qk_head + 1)) for x in (q, k)] + [pick(x, of_v) for x in (v, *gates)]

            want = expected(*of_heads(q, k, v, g, beta), pick(d, of_v), d_states[sequence, of_v])
            for graph, off in zip(graphs, errors):
                graph.graph.replay()
                torch.cuda.synchronize()
                got = of_heads(*graph.result[:5]) + [graph.result[5][sequence, of_v]]
                for i, (mine, other) in enumerate(zip(got, want)):
                    off[i] = max(off[i], error(mine, other))
    return medians, parts, errors


def text(errors):
    return " ".join("%.5f" % e for e in errors)


print(f"{device()}, {ROUNDS} rounds")
print("batch tokens qk_heads heads decay     wgrun us  theirs us  ratio   kernels alone, us     errors of " + " ".join(NAMES) + "; theirs")
wrong = False
for number, row in enumerate(rows()):
    if WANTED and str(number) not in WANTED:
        continue
    medians, parts, errors = measure(*row)
    wrong = wrong or not max(errors[0]) <= 0.02
    theirs = "%9.1f  %6.3f" % (medians[1] * 1e3, medians[1] / medians[0]) if len(medians) > 1 else ""
    print("%5d %6d %8d %5d %-7s  %9.1f  %s   %s   %s%s" % (*row[:4], row[5], medians[0] * 1e3, theirs, " ".join("%.1f" % (p * 1e3) for p in parts),
                                                   "   ".join(text(e) for e in errors), "  packed" if row[4] else ""), flush=True)
sys.exit(1 if wrong else 0)
