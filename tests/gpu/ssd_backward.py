"""wg.ssd_backward beside the backward pass of mamba-ssm's mamba_chunk_scan_combined, on a GPU: ssd_backward.py [ROUNDS [ROW...]];
WGRUN_LIBRARY and PYTHONPATH say where things are. For each row both are replayed in turn from CUDA graphs, and the gradients are
compared with binary64. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import math
import statistics
import sys

from hopper import Graph, device, in_turn, torch  # first: ends where there is no GPU
from state_space import DSTATE, HEADDIM, PACKED, error, inputs, shapes, starts_of

from torch.utils.checkpoint import checkpoint

import wgrun.torch  # noqa: F401 (makes torch.ops.wgrun)

try:
    from mamba_ssm.ops.triton import ssd_combined as mamba
except ImportError:
    mamba = None

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
WANTED = sys.argv[2:]  # numbers of rows; all of them without
CHUNK = 256  # mamba-ssm's, as its models have it
NAMES = ("dx", "ddt", "dA", "dB", "dC", "dD", "dbias")


def rows():
    """batch, tokens, heads, groups, lengths of packed sequences."""
    for shape in shapes():
        yield *shape, None
    yield 1, 8192, 80, 1, PACKED


def chunk(s, x, dt, a, b, c, skip):
    """y of a chunk, and the state after it."""
    x, b, c, dt = (t.transpose(1, 2) for t in (x, b, c, dt.unsqueeze(-1)))
    total = (dt[..., 0] * a[:, None]).cumsum(2)
    decay = (total[..., :, None] - total[..., None, :]).tril().exp().tril()
    b, c = (t.repeat_interleave(x.shape[1] // b.shape[1], 1) for t in (b, c))
    y = total.exp()[..., None] * (c @ s.mT) + (decay * (c @ b.mT)) @ (dt * x) + skip[:, None, None] * x
    rest = dt * (total[..., -1:] - total).exp()[..., None]
    return y.transpose(1, 2), total[..., -1, None, None].exp() * s + (rest * x).mT @ b


def recurrence(x, dt, a, b, c, skip, bias):
    """y of batches, in binary64. A chunk's own values are computed anew for the gradients: they would take 100 GB."""
    step, out = torch.nn.functional.softplus(dt + bias), []
    s = x.new_zeros(x.shape[0], x.shape[2], HEADDIM, DSTATE)
    for at in range(0, x.shape[1], 64):
        y, s = checkpoint(chunk, s, *(t[:, at:at + 64] for t in (x, step)), a, *(t[:, at:at + 64] for t in (b, c)), skip, use_reentrant=False)
        out.append(y)
    return torch.cat(out, 1)


def expected(given, dy, lengths):
    """The gradients in binary64, of a batch or a sequence at a time."""
    x, dt, a, b, c, skip, bias = given
    starts = starts_of(lengths)
    parts = [(0, slice(*ends)) for ends in zip(starts, starts[1:])] if lengths else [(n, slice(None)) for n in range(x.shape[0])]
    sums = [torch.zeros_like(t, dtype=torch.float64) for t in given]
    for number, at in parts:
        own = [t.detach().double().requires_grad_() for t in (x[number:number + 1, at], dt[number:number + 1, at], a, b[number:number + 1, at],
                                                             c[number:number + 1, at], skip, bias)]
        for index, gradient in enumerate(torch.autograd.grad(recurrence(*own), own, dy[number:number + 1, at].double())):
            (sums[index][number:number + 1, at] if index in (0, 1, 3, 4) else sums[index]).add_(gradient)
    return sums


def measure(batch, tokens, heads, groups, lengths):
    given = inputs(batch, tokens, heads, groups)
    x, dt, a, b, c, skip, bias = given
    dy = torch.randn_like(x)
    starts = torch.tensor(starts_of(lengths), dtype=torch.int32, device="cuda") if lengths else None

    def ours():
        of_tokens = [t[0] if lengths else t for t in (x, dt, b, c, dy)]
        results = torch.ops.wgrun.ssd_backward(of_tokens[0], of_tokens[1], a, of_tokens[2], of_tokens[3], skip, None, bias, None, starts,
                                               of_tokens[4], None, True, 0.0, math.inf)
        return [t.view(like.shape) for t, like in zip((*results[:6], results[7]), given)]

    bodies = [ours]
    if mamba:
        index = torch.cat([torch.full((n,), i, dtype=torch.int32) for i, n in enumerate(lengths)]).cuda()[None] if lengths else None
        of_tokens = [t[0] if lengths else t for t in (x, dt, b, c)]
        y = torch.ops.wgrun.ssd(*of_tokens[:2], a, *of_tokens[2:], skip, None, bias, None, starts, True, 0.0, math.inf, False)[0].view_as(x)

        def theirs():
            dx, ddt, da, db, dc, dskip, _, dbias, _ = mamba._mamba_chunk_scan_combined_bwd(
                dy, x, dt, a, b, c, y, CHUNK, D=skip, dt_bias=bias, dt_softplus=True, seq_idx=index)
            return dx, ddt, da, db, dc, dskip, dbias
        bodies.append(theirs)
    graphs = [Graph(body) for body in bodies]
    times = [statistics.median(spent) * 1e3 for spent in in_turn(graphs, ROUNDS)]
    want = expected(given, dy, lengths)
    return times, [[error(got, exact) for got, exact in zip(graph.result, want)] for graph in graphs]


def main():
    names = ["wgrun", *(["mamba-ssm"] if mamba else [])]
    print(f"{device()}, {ROUNDS} rounds; errors of {', '.join(NAMES)}")
    wrong = False
    for number, row in enumerate(rows()):
        if WANTED and str(number) not in WANTED:
            continue
        times, errors = measure(*row)
        wrong = wrong or not max(errors[0]) <= 0.03
        print("%5d %6d %5d %6d" % row[:4], "".join(
            f"   {name} {spent:9.1f} us " + " ".join(f"{e:.5f}" for e in off) for name, spent, off in zip(names, times, errors)),
            "packed" if row[4] else "", flush=True)
        torch.cuda.empty_cache()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
