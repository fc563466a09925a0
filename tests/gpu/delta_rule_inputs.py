"""What the scripts that measure the delta rule have in common: inputs as a trained model has them, and errors."""

from hopper import torch

DIM = 128


def inputs(batch, tokens, qk_heads, heads, decay):
    def unit(*shape):
        return torch.nn.functional.normalize(torch.randn(*shape, device="cuda"), dim=-1).bfloat16()

    torch.manual_seed(tokens + heads)
    q, k = unit(batch, tokens, qk_heads, DIM), unit(batch, tokens, qk_heads, DIM)
    v = torch.randn(batch, tokens, heads, DIM, device="cuda").bfloat16()
    # As in a trained model: heads that forget within some tokens, and heads that remember thousands.
    rate = torch.logspace(-3, 0.5, heads, device="cuda")
    if decay == "head":
        g = -rate * torch.nn.functional.softplus(torch.randn(batch, tokens, heads, device="cuda"))
    else:  # -5 at least, as the newer of these models have it
        g = -rate[:, None] * torch.nn.functional.softplus(torch.randn(batch, tokens, heads, DIM, device="cuda"))
        g = g.clamp(min=-5)
    beta = torch.sigmoid(torch.randn(batch, tokens, heads, device="cuda"))
    return q, k, v, g, beta


def error(got, want):
    return ((got.double() - want).square().mean() / want.square().mean()).sqrt().item()
