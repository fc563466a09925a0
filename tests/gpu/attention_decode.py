"""wg.attention_decode beside cuDNN's attention through PyTorch, on a GPU: attention_decode.py [ROUNDS]; WGRUN_LIBRARY and PYTHONPATH
say where things are. Each shape runs with contiguous K and V in both layouts and with pages in a random order, in turn with
cuDNN, which has no pages here and gets the contiguous tensors. Launches follow each other in bursts, queued while the device sleeps. Every
variant is compared with f32 at uneven lengths first, and has to give the same bits in 21 launches. Ends with 77 where there is no
PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import math
import statistics
import sys

from hopper import device, torch  # first: ends where there is no GPU

import torch.nn.functional as F
import wgrun
from torch.nn.attention import SDPBackend, sdpa_kernel

SHAPES = [(64, 32, 8, 8192, 128), (16, 32, 8, 8192, 128), (1, 32, 8, 32768, 128), (64, 32, 32, 4096, 128), (32, 32, 8, 8192, 64)]
VARIANTS = ["", 'layout = "bhsd"', "page = 1", "page = 4", "page = 8", "page = 16", "page = 64", "page = 256"]


def reference(q, k, v, lengths):
    """The result in f32, batch x heads x dim."""
    out = torch.zeros(q.shape[0], *q.shape[2:], device="cuda")
    for b, length in enumerate(lengths):
        if length:
            keys, values = (x[b, :length].float().repeat_interleave(q.shape[2] // k.shape[2], 1) for x in (k, v))
            scores = torch.einsum("hd,shd->hs", q[b, 0].float(), keys) / math.sqrt(q.shape[3])
            out[b] = torch.einsum("hs,shd->hd", scores.softmax(-1), values)
    return out


class Cache:
    """K and V of one shape in every form that the variants want; the forms share memory where they can."""

    def __init__(self, batch, heads, kv_heads, keys, dim):
        torch.manual_seed(keys + batch)
        self.k, self.v = (torch.randn(batch, keys, kv_heads, dim, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        self.q = torch.randn(batch, 1, heads, dim, device="cuda", dtype=torch.bfloat16)
        self.swapped = [x.transpose(1, 2).contiguous() for x in (self.q, self.k, self.v)]
        self.paged = (0, None)

    def pages(self, page):
        if self.paged[0] != page:
            self.paged = (0, None)
            batch, keys = self.k.shape[:2]
            order = torch.randperm(batch * keys // page, device="cuda")
            forms = []
            for x in (self.k, self.v):
                form = torch.empty(len(order), page, *x.shape[2:], device="cuda", dtype=x.dtype)
                form[order] = x.view(form.shape)
                forms.append(form)
            self.paged = (page, (*forms, order.view(batch, -1).to(torch.int32)))
        return self.paged[1]


def launcher(cache, variant, lengths):
    """A function that launches the variant, and its result."""
    batch, keys, kv_heads, dim = cache.k.shape
    script = f'return {{ it = require "wgrun".attention_decode {{ dim = {dim}, heads = {cache.q.shape[2]}, kv_heads = {kv_heads}, {variant} }} }}'
    decode, named = wgrun.loads(script)["it"], {"lengths": lengths}
    q, k, v = (cache.q, cache.k, cache.v) if "bhsd" not in variant else cache.swapped
    if "page" in variant:
        page = int(variant.split("page = ")[1].split(",")[0])
        k, v, named["pages"] = cache.pages(page)
    out = torch.empty_like(q)
    return lambda: decode(q, k, v, out, **named), out


def cudnn(q, k, v):
    def attend():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])

    return attend


def in_turn(bodies, rounds):
    """The times of each body in microseconds, in alternating bursts."""
    times, calls = [[] for _ in bodies], [2 for _ in bodies]
    for turn in range(rounds + 1):
        for i, body in enumerate(bodies):
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(1_500_000)
            body()
            before.record()
            for _ in range(calls[i]):
                body()
            after.record()
            after.synchronize()
            spent = before.elapsed_time(after) * 1000 / calls[i]
            if turn == 0:
                calls[i] = max(3, min(20, int(1500 / spent)))
            else:
                times[i].append(spent)
    return times


def measure(shape, variants, rounds):
    """Prints a row for each variant; returns whether a result is wrong."""
    cache, wrong = Cache(*shape), False
    batch, heads, _, keys, dim = shape
    uneven = torch.randint(0, keys, (batch,), dtype=torch.int32)
    full = torch.full((batch,), keys, dtype=torch.int32, device="cuda")
    want = reference(cache.q, cache.k, cache.v, uneven.tolist())
    contiguous = {"bshd": cudnn(*(x.transpose(1, 2) for x in (cache.q, cache.k, cache.v))), "bhsd": cudnn(*cache.swapped)}
    moved = 2 * cache.k.numel() * cache.k.element_size()
    base = None
    for variant in variants:
        check, out = launcher(cache, variant, uneven.cuda())
        check()
        first, same = out.clone(), True
        for _ in range(20):  # which CTA adds up the parts of a head, and how it has its own, depends on when they come
            check()
            same = same and torch.equal(out, first)
        error = (out.reshape(batch, heads, dim).float() - want).abs().max().item()
        wrong = wrong or not error <= 2e-2 or not same
        ours, _ = launcher(cache, variant, full)
        theirs = contiguous["bhsd" if "bhsd" in variant else "bshd"]
        times = in_turn([ours, theirs], rounds)
        us = [statistics.median(t) for t in times]
        ratio = statistics.median(b / a for a, b in zip(*times))
        base = min(base or us[0], us[0]) if "page" not in variant else base
        print("%5d %5d %8d %6d %4d  %-18s %8.1f us %6.3f TB/s   cuDNN %8.1f us %6.3f TB/s  %6.3f   contiguous %5.3f   error %.1e%s" % (
            *shape, variant, us[0], moved / us[0] / 1e6, us[1], moved / us[1] / 1e6, ratio, (base or us[0]) / us[0], error,
            "" if same else ", and not the same each time"), flush=True)
    return wrong


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"{device()}, {rounds} rounds")
    print("batch heads kv_heads   keys  dim")
    sys.exit(1 if any([measure(shape, VARIANTS, rounds) for shape in SHAPES]) else 0)
