"""What the scripts that measure wg.ssd and its gradients share: shapes, inputs, errors."""

from hopper import torch

HEADDIM, DSTATE = 64, 128
PACKED = [1000, 24, 1, 3071, 4096]  # lengths of sequences, 8192 tokens


def shapes():
    """batch, tokens, heads, groups."""
    for batch, tokens in ((1, 8192), (1, 65536), (4, 4096), (16, 1024)):
        for heads, groups in ((80, 1), (128, 8), (16, 1)):  # Mamba-2 2.7B, 8B, and an eighth of the latter
            yield batch, tokens, heads, groups


def inputs(batch, tokens, heads, groups):
    """As Mamba-2 begins: A from -1 to -16, steps of 0.001 to 0.1 on the average."""
    def random(*shape):
        return torch.nn.functional.silu(torch.randn(*shape, device="cuda")).bfloat16()

    torch.manual_seed(tokens + heads)
    x, b, c = random(batch, tokens, heads, HEADDIM), random(batch, tokens, groups, DSTATE), random(batch, tokens, groups, DSTATE)
    dt = torch.randn(batch, tokens, heads, device="cuda").bfloat16()
    a = -torch.linspace(1, 16, heads, device="cuda")
    step = torch.logspace(-3, -1, heads, device="cuda")[torch.randperm(heads, device="cuda")]
    bias = step + torch.log(-torch.expm1(-step))
    return x, dt, a, b, c, torch.rand(heads, device="cuda"), bias


def starts_of(lengths):
    starts = [0]
    for length in lengths or []:
        starts.append(starts[-1] + length)
    return starts


def error(got, want):
    return ((got.double() - want).square().mean() / want.square().mean()).sqrt().item()
