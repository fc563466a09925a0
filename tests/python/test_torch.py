"""wgrun.torch beside PyTorch in binary64: results, gradients, shapes without a run, what is refused. On a GPU where there is
one, else on the simulator, with small tensors."""

import itertools
import math
import sys
import tempfile
import unittest
import unittest.mock
import warnings

try:
    import torch
except ImportError:
    print("skipped: no torch")
    sys.exit(77)

import torch.distributed as dist
import torch.utils.checkpoint
from torch.testing._internal.distributed.fake_pg import FakeStore
import wgrun
import wgrun.torch as wt

DEVICE = "cuda" if torch.cuda.is_available() and torch.cuda.get_device_capability()[0] == 9 else "cpu"


def random(*shape, dtype=torch.bfloat16, grad=False):
    return torch.randn(*shape, device=DEVICE).to(dtype).requires_grad_(grad)


def double(*tensors):
    out = [t.detach().double().requires_grad_(t.requires_grad) for t in tensors]
    return out if len(out) > 1 else out[0]


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)  # the same numbers whatever ran before

    def near(self, got, want, bound=0.01):
        """In the root of the mean square, of the values wanted."""
        self.assertEqual(got.shape, want.shape)
        got, want = got.detach().double(), want.detach().double()
        self.assertTrue(torch.isfinite(got).all())
        error = (got - want).norm() / want.norm().clamp(min=1e-30)
        self.assertLess(error.item(), bound)

    def gradients(self, ours, theirs, tensors, bound=0.02):
        """Results and gradients of both, and that fake tensors have the same shapes."""
        exact = double(*tensors)
        exact = exact if isinstance(exact, list) else [exact]
        got, want = ours(*tensors), theirs(*exact)
        self.near(got, want, bound)
        d = torch.randn_like(want)
        got.backward(d.to(got.dtype))
        want.backward(d.to(got.dtype).double())
        for mine, other in zip(tensors, exact):
            if mine.requires_grad:
                self.near(mine.grad, other.grad, bound)


class Products(Case):
    def test_linear(self):
        for shape in ((5, 64), (2, 3, 64), (64,), (0, 64)):
            x, w, b = random(*shape), random(48, 64), random(48)
            self.near(wt.linear(x, w, b), torch.nn.functional.linear(*double(x, w, b)))
        self.gradients(wt.linear, torch.nn.functional.linear, [random(40, 64, grad=True), random(32, 64, grad=True), random(32, grad=True)])
        self.gradients(wt.linear, torch.nn.functional.linear,
                       [random(3, 8, 64, dtype=torch.float16, grad=True), random(32, 64, dtype=torch.float16)])

    def test_views(self):
        x, w = random(64, 40).t(), random(64, 48).t()  # both with rows of M and N in memory
        self.near(wt.linear(x, w), x.double() @ w.double().T)
        x, w = random(40, 128)[:, ::2], random(48, 128)[:, :64]
        self.near(wt.linear(x, w), x.double() @ w.double().T)

    def test_matmul(self):
        shapes = (((40, 64), (64, 48)), ((64,), (64, 48)), ((40, 64), (64,)), ((64,), (64,)), ((3, 40, 64), (64, 16)),
                  ((2, 40, 64), (2, 64, 48)), ((2, 1, 8, 64), (3, 64, 16)), ((1, 8, 64), (1, 64, 16)))
        for a, b in shapes:
            x, y = random(*a), random(*b)
            self.near(wt.matmul(x, y), double(x) @ double(y))
        self.gradients(wt.matmul, torch.matmul, [random(2, 24, 64, grad=True), random(2, 64, 32, grad=True)])
        self.gradients(wt.matmul, torch.matmul, [random(2, 24, 64, grad=True), random(64, 32, grad=True)])

    def test_float32(self):
        """Products by parts in bfloat16: of three as exact as those of float32, of two to 16 bits."""
        for a, b in (((40, 64), (64, 48)), ((5, 33), (33, 7)), ((2, 24, 64), (2, 64, 32)), ((64,), (64, 48)), ((0, 64), (64, 8))):
            x, y = (random(*shape, dtype=torch.float32) for shape in (a, b))
            self.near(wt.matmul(x, y), double(x) @ double(y), 3e-7)
            torch.set_float32_matmul_precision("high")
            self.near(wt.matmul(x, y), double(x) @ double(y), 2e-5)
            torch.set_float32_matmul_precision("highest")
        x, w, b = (random(*shape, dtype=torch.float32, grad=True) for shape in ((40, 64), (32, 64), (32,)))
        self.gradients(wt.linear, torch.nn.functional.linear, [x, w, b], 1e-6)

    def test_float64(self):
        """Products of 8-bit integers: as exact as those of float64."""
        for a, b in (((40, 64), (64, 48)), ((5, 33), (33, 7)), ((2, 24, 64), (2, 64, 32)), ((64,), (64, 48)), ((0, 64), (64, 8)), ((8, 0), (0, 4))):
            x, y = (random(*shape, dtype=torch.float64) for shape in (a, b))
            self.near(wt.matmul(x, y), x @ y, 1e-15)
        x, y = random(33, 70, dtype=torch.float64), random(50, 70, dtype=torch.float64)
        for left in (x, x.t().contiguous().t()):
            for right in (y.t(), y.t().contiguous()):
                self.near(wt.matmul(left, right), x @ y.t(), 1e-15)
        with unittest.mock.patch("wgrun.torch._f64._MOST_K", 32):  # a longer K is several launches
            self.near(wt.matmul(x, y.t()), x @ y.t(), 1e-15)
        x, w, b = (random(*shape, dtype=torch.float64, grad=True) for shape in ((40, 64), (32, 64), (32,)))
        self.gradients(wt.linear, torch.nn.functional.linear, [x, w, b], 1e-14)
        self.assertTrue(torch.autograd.gradcheck(wt.matmul, (random(3, 4, dtype=torch.float64, grad=True),
                                                             random(4, 2, dtype=torch.float64, grad=True))))

    def test_any_place(self):
        x, w = random(4 * 8 + 1)[1:].view(4, 8), random(16 * 8 + 3)[3:].view(16, 8)  # not at multiples of 16 bytes
        self.near(wt.linear(x, w), x.double() @ w.double().T)
        q = random(2 * 32 * 64 + 1)[1:].view(1, 32, 2, 64)
        self.near(wt.flash_attn_func(q, q, q), exact_attention(*double(q, q, q)))

    def test_any_size(self):
        for m, n, k in ((7, 9, 5), (1, 1, 1), (33, 64, 30), (16, 20, 64), (9, 0, 3), (5, 3, 0)):
            x, w, b = random(m, k), random(n, k), random(n)
            got, want = wt.linear(x, w, b), torch.nn.functional.linear(*double(x, w, b))
            self.assertTrue(got.is_contiguous())
            self.near(got, want)
            self.near(wt.matmul(random(k, m).t(), random(k, n)), want * 0, math.inf)
        x, y = random(2, 7, 30, grad=True), random(2, 30, 9, grad=True)
        self.gradients(wt.matmul, torch.matmul, [x, y])
        ends = torch.tensor([4, 12], dtype=torch.int32, device=DEVICE)
        x, y = random(12, 30), random(2, 30, 9)
        self.near(wt.grouped_mm(x, y, offs=ends), torch.cat([double(x)[:4] @ double(y)[0], double(x)[4:] @ double(y)[1]]))

    def test_scaled_mm(self):
        m, n, k = 24, 128, 256
        a, b = random(m, k).to(torch.float8_e4m3fn), random(n, k).to(torch.float8_e4m3fn)
        def rand(*shape): return torch.rand(*shape, device=DEVICE) + 0.5
        exact = lambda sa, sb: (a.double() * sa.double()) @ (b.double() * sb.double()).T
        one, two = rand(1), rand(())
        self.near(wt.scaled_mm(a, b.t(), one, two, out_dtype=torch.float32), exact(one, two), 1e-3)
        row, column, bias = rand(m, 1), rand(1, n), random(n)
        self.near(wt.scaled_mm(a, b.t(), row, column), exact(row, column.t()))
        self.near(wt.scaled_mm(a, b.t(), one, two, bias=bias), exact(one, two) + bias.double())
        for rows in (m, m - 1):
            left = a[:rows]
            of_a, of_b = rand(rows, k // 128), rand(k // 128, n // 128)
            want = (left.double() * of_a.double().repeat_interleave(128, 1)) @ (
                b.double() * of_b.t().double().repeat_interleave(128, 0).repeat_interleave(128, 1)).T
            self.near(wt.scaled_mm(left, b.t(), of_a, of_b), want)

    def test_fp4(self):
        magnitudes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64, device=DEVICE)
        codes = torch.cat([magnitudes, -magnitudes])
        for n, k, shape in ((72, 96, (3, 5)), (128, 544, (2,)), (8, 32, (0,))):
            x = random(*shape, k)
            w = torch.randint(0, 256, (n, k // 2), device=DEVICE, dtype=torch.uint8)
            values = codes[torch.stack([w & 15, w >> 4], 2).flatten(1).long()]
            powers = torch.randint(120, 130, (n, k // 32), device=DEVICE, dtype=torch.uint8)
            want = x.double() @ (values * torch.exp2(powers.double() - 127).repeat_interleave(32, 1)).T
            for scale in (powers, powers.view(torch.float8_e8m0fnu)):
                self.near(wt.weight_fp4pack_mm(x, wt.convert_weight_to_fp4pack(w, scale), out_features=n), want)
            scale, whole = (torch.rand(n, k // 16, device=DEVICE) * 400).to(torch.float8_e4m3fn), torch.tensor(0.01, device=DEVICE)
            want = x.double() @ (values * scale.double().repeat_interleave(16, 1)).T * whole.double()
            self.near(wt.weight_fp4pack_mm(x, wt.convert_weight_to_fp4pack(w, scale), whole, n), want)
        packed = wt.convert_weight_to_fp4pack(w, powers)
        self.assertEqual(wt.weight_fp4pack_mm(random(1, k), packed).shape, (1, 64))
        apart = torch.stack([packed, packed], -1)[..., 0]
        self.assertTrue(torch.equal(wt.weight_fp4pack_mm(x := random(2, k), apart), wt.weight_fp4pack_mm(x, packed)))
        empty = wt.convert_weight_to_fp4pack(w[:, :0], powers[:, :0])
        self.assertTrue(torch.equal(wt.weight_fp4pack_mm(random(2, 0), empty), torch.zeros_like(random(2, 64))))
        meta = wt.convert_weight_to_fp4pack(w.to("meta"), powers.to("meta"))
        self.assertEqual((meta.shape, meta.dtype), (packed.shape, packed.dtype))
        self.assertEqual(wt.weight_fp4pack_mm(random(3, 2, k).to("meta"), meta, None, n).shape, (3, 2, n))
        for call, text in ((lambda: wt.convert_weight_to_fp4pack(w, powers[:, :0]), "one for each 32"),
                           (lambda: wt.convert_weight_to_fp4pack(w.float(), powers), "uint8"),
                           (lambda: wt.weight_fp4pack_mm(random(1, 544), packed), "same K"),
                           (lambda: wt.weight_fp4pack_mm(x.half(), packed), "bfloat16"),
                           (lambda: wt.weight_fp4pack_mm(x[0, 0], packed), r"\(\.\.\., K\)"),
                           (lambda: wt.weight_fp4pack_mm(x, packed, whole), "of nvfp4"),
                           (lambda: wt.weight_fp4pack_mm(x, packed, None, 72), "out_features 72"),
                           (lambda: wt.weight_fp4pack_mm(x, packed, whole.double()), "one float32")):
            with self.assertRaisesRegex(ValueError, text):
                call()

    def test_fp4_packed_for_another_shape(self):
        """Packed weights of other sizes may have the same shape: it is rounded up to 64 rows and 512 of K."""
        byte = lambda *shape: torch.full(shape, 127, dtype=torch.uint8, device=DEVICE)
        for dtype in (torch.bfloat16, torch.float8_e4m3fn):
            packed = wt.convert_weight_to_fp4pack(byte(40, 32), byte(40, 2), dtype)
            x = random(2, 64).to(dtype)
            self.assertEqual(wt.weight_fp4pack_mm(x, packed, out_features=40).shape, (2, 40))
            self.assertEqual(wt.weight_fp4pack_mm(x, packed).shape, (2, 64))
            for wrong, n, text in ((x, 48, "of a 40 x 64 matrix, but input and out_features are for one of 48 x 64"),
                                   (random(2, 96).to(dtype), 40, "for one of 40 x 96"), (random(2, 96).to(dtype), None, "for one of 40 x 96")):
                with self.assertRaisesRegex(ValueError, text):
                    wt.weight_fp4pack_mm(wrong, packed, out_features=n)

    def test_argument_types(self):
        """The argument of another type is named, whatever failed with it."""
        x, fp8 = random(16, 64), random(16, 64).to(torch.float8_e4m3fn)
        one = torch.ones(1, device=DEVICE)
        for call, text in ((lambda: wt.linear(None, x), "linear: input of type NoneType: Tensor"),
                           (lambda: wt.linear(x, x, bias="x"), r"linear: bias of type str: Optional\[Tensor\]"),
                           (lambda: wt.matmul(x, [1]), "matmul: other of type list: Tensor"),
                           (lambda: wt.scaled_mm(fp8, fp8.t(), 1.0, one), "scaled_mm: scale_a of type float: Tensor"),
                           (lambda: wt.grouped_mm(x, x, offs=(8, 16)), "grouped_mm: offs of type tuple"),
                           (lambda: wt.attention(x, x, object()), "attention: value of type object: Tensor"),
                           (lambda: wt.flash_attn_func(x[None, :, None], x[None, :, None], x[None, :, None], window_size="ab"),
                            r"flash_attn_func: window_size of type str: tuple\[int, int\]"),
                           (lambda: wt.dropout_mask(one, None, 1, 1, 1, 1), "dropout_mask: dropout_p of type NoneType: float"),
                           (lambda: wt.convert_weight_to_fp4pack(torch.zeros(8, 32, dtype=torch.uint8), 3), "scale of type int: Tensor"),
                           (lambda: wt.flash_attn_func(x[None, :, None], x[None, :, None], x[None, :, None], softcap=x),
                            "flash_attn_func: softcap of type Tensor: float"),
                           (lambda: wt.flash_attn_func(x[None, :, None], x[None, :, None], x[None, :, None], window_size=(1,)),
                            "flash_attn_func: window_size of type tuple"),
                           (lambda: wt.linear(x), "missing 1 required")):
            with self.assertRaisesRegex(TypeError, text):
                call()
        keys = random(2, 32, 2, 64)
        with self.assertRaisesRegex(ValueError, "lengths must be s32, 2, not a scalar"):  # what Lua says
            wt.attention_decode(random(2, 1, 8, 64), keys, keys, torch.tensor(3, dtype=torch.int32, device=DEVICE))
        for bias in (torch.ones(3, device=DEVICE), torch.ones(16, device=DEVICE, dtype=torch.complex64)):
            with self.assertRaisesRegex(ValueError, "16 values are needed"):
                wt.scaled_mm(fp8, fp8.t(), one, one, bias)
            with self.assertRaisesRegex(ValueError, "16 values are needed"):
                wt.linear(x, x, bias)

    def test_fp4_beside_fp8(self):
        magnitudes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64, device=DEVICE)
        codes, fp8 = torch.cat([magnitudes, -magnitudes]), torch.float8_e4m3fn
        for n, k, shape in ((72, 96, (3, 5)), (128, 544, (2,)), (8, 32, (0,))):
            x, w = random(*shape, k).to(fp8), torch.randint(0, 256, (n, k // 2), device=DEVICE, dtype=torch.uint8)
            powers = torch.randint(116, 130, (n, k // 32), device=DEVICE, dtype=torch.uint8)
            values = codes[torch.stack([w & 15, w >> 4], 2).flatten(1).long()]
            want = x.double() @ (values * torch.exp2(powers.double() - 127).repeat_interleave(32, 1)).T
            packed = wt.convert_weight_to_fp4pack(w, powers, fp8)
            self.near(wt.weight_fp4pack_mm(x, packed, out_features=n), want)
            for of_x in (torch.rand(*shape, 1, device=DEVICE) + 0.5, torch.full((), 0.5, device=DEVICE)):
                got = wt.weight_fp4pack_mm(x, packed, None, n, of_x, torch.float16)
                self.assertEqual(got.dtype, torch.float16)
                self.near(got, want * of_x)
        for_fp8, other = packed, wt.convert_weight_to_fp4pack(w, powers)
        meta = wt.convert_weight_to_fp4pack(w.to("meta"), powers.to("meta"), fp8)
        self.assertEqual((meta.shape, meta.dtype), (for_fp8.shape, for_fp8.dtype))
        one = torch.ones(1, 32, device=DEVICE).to(fp8)
        for call, text in ((lambda: wt.convert_weight_to_fp4pack(w, powers.repeat(1, 2).view(fp8), fp8), "float8_e4m3fn with mxfp4"),
                           (lambda: wt.weight_fp4pack_mm(one, other), "for inputs of float8_e4m3fn"),
                           (lambda: wt.weight_fp4pack_mm(one.bfloat16(), for_fp8), "convert_weight_to_fp4pack's of mxfp4"),
                           (lambda: wt.weight_fp4pack_mm(one, for_fp8, torch.ones(1, device=DEVICE)), "with nvfp4: bfloat16"),
                           (lambda: wt.weight_fp4pack_mm(torch.cat([one] * 20, 1), for_fp8), "same K"),
                           (lambda: wt.weight_fp4pack_mm(one, for_fp8, None, 8, torch.ones(2, device=DEVICE)), "one or 1"),
                           (lambda: wt.weight_fp4pack_mm(one, for_fp8, out_dtype=torch.float32), "out_dtype")):
            with self.assertRaisesRegex(ValueError, text):
                call()

    def test_grouped_mm(self):
        groups, n, k = 3, 64, 64
        a, b = random(70, k, grad=True), random(groups, n, k, grad=True)
        ends = torch.tensor([30, 30, 70], dtype=torch.int32, device=DEVICE)
        def theirs(x, y):
            return torch.cat([x[first:last] @ y[g].T for g, (first, last) in enumerate(((0, 30), (30, 30), (30, 70)))])
        self.gradients(lambda x, y: wt.grouped_mm(x, y.mT, offs=ends), theirs, [a, b])
        x, y = random(2, 24, 64), random(2, 64, 32)
        self.near(wt.grouped_mm(x, y), double(x) @ double(y))
        x, y = random(40, 70), random(70, 32)
        want = torch.stack([x[:, p:q].double() @ y[p:q].double() for p, q in ((0, 30), (30, 30), (30, 70))])
        self.near(wt.grouped_mm(x, y, offs=ends), want)

    def test_refused(self):
        x, w = random(4, 64), random(8, 64)
        for call, text in ((lambda: wt.linear(x, random(8, 32)), "do not fit"), (lambda: wt.linear(x.int(), w.int()), "float64"),
                           (lambda: wt.linear(x, w.half()), "one dtype"), (lambda: wt.linear(x, w, random(7)), "8 values"),
                           (lambda: wt.matmul(x, w), "do not fit"), (lambda: wt.grouped_mm(x, random(2, 64, 8)), "offs"),
                           (lambda: wt.scaled_mm(x, w.t(), x, x), "float8")):
            with self.assertRaisesRegex(ValueError, text):
                call()
        with self.assertRaises(NotImplementedError):
            wt.grouped_mm(random(2, 4, 64), random(2, 64, 8), bias=x)


def exact_attention(q, k, v, mask=None, scale=None, softcap=0.0, sink=None, kept=None):
    """Of batch x sequence x heads x dim, in binary64; mask(i, j) of columns and rows of numbers; kept: what weights are
    multiplied by."""
    group = q.shape[2] // k.shape[2]
    k, v = k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)
    s = torch.einsum("bqhd,bkhd->bhqk", q, k) * (scale or 1 / math.sqrt(q.shape[3]))
    if softcap:
        s = softcap * torch.tanh(s / softcap)
    if mask is not None:
        i = torch.arange(q.shape[1], device=q.device)[:, None]
        s = s.masked_fill(~mask(i, torch.arange(k.shape[1], device=q.device)[None, :]), -math.inf)
    if sink is not None:
        s = torch.cat((s, sink.double()[None, :, None, None].expand(*s.shape[:3], 1)), -1)
    weights = torch.softmax(s, -1).nan_to_num()[..., :k.shape[1]]
    return torch.einsum("bhqk,bkhd->bqhd", weights if kept is None else weights * kept, v)


class Attention(Case):
    def tensors(self, batch, queries, keys, heads, kv_heads, dim, grad=True, dtype=torch.bfloat16, value_dim=None):
        return [random(batch, queries, heads, dim, grad=grad, dtype=dtype), random(batch, keys, kv_heads, dim, grad=grad, dtype=dtype),
                random(batch, keys, kv_heads, value_dim or dim, grad=grad, dtype=dtype)]

    def test_flash(self):
        for queries, keys, causal, window in ((64, 96, False, (-1, -1)), (64, 96, True, (-1, -1)), (96, 96, True, (20, 0)),
                                              (96, 96, False, (9, 9))):
            ahead = keys - queries
            def mask(i, j):
                seen = (j <= i + ahead) if causal else torch.ones_like(i + j, dtype=torch.bool)
                if window[0] >= 0:
                    seen = seen & (j >= i + ahead - window[0])
                return seen & (j <= i + ahead + window[1]) if window[1] > 0 else seen
            self.gradients(lambda q, k, v: wt.flash_attn_func(q, k, v, causal=causal, window_size=window),
                           lambda q, k, v: exact_attention(q, k, v, mask), self.tensors(2, queries, keys, 4, 2, 64))

    def test_options(self):
        q, k, v = self.tensors(1, 32, 64, 2, 2, 128, grad=False, dtype=torch.float16)
        self.near(wt.flash_attn_func(q, k, v, softcap=5.0, softmax_scale=0.3), exact_attention(*double(q, k, v), scale=0.3, softcap=5.0))
        o, lse, none = wt.flash_attn_func(q, k, v, return_attn_probs=True)
        s = torch.einsum("bqhd,bkhd->bhqk", q.double(), k.double()) / math.sqrt(128)
        self.near(lse, torch.logsumexp(s, -1), 1e-3)
        self.assertIsNone(none)

    def test_softcap_gradients(self):
        self.gradients(lambda q, k, v: wt.flash_attn_func(q, k, v, softcap=4.0),
                       lambda q, k, v: exact_attention(q, k, v, softcap=4.0), self.tensors(1, 64, 64, 2, 2, 64))

    def test_scaled_dot_product(self):
        theirs = torch.nn.functional.scaled_dot_product_attention
        for queries, keys, causal, views in ((64, 64, True, False), (40, 96, True, True), (40, 96, False, True)):
            leaves = self.tensors(1, queries, keys, 2, 2, 64)
            if not views:
                leaves = [t.detach().transpose(1, 2).contiguous().requires_grad_() for t in leaves]
            turn = (lambda t: t.transpose(1, 2)) if views else (lambda t: t)
            self.gradients(lambda q, k, v: wt.attention(turn(q), turn(k), turn(v), is_causal=causal),
                           lambda q, k, v: theirs(turn(q), turn(k), turn(v), is_causal=causal), leaves)
        q, k, v = (t.transpose(1, 2) for t in self.tensors(1, 32, 32, 4, 2, 64, grad=False))
        with self.assertRaisesRegex(ValueError, "enable_gqa"):
            wt.attention(q, k, v)
        self.near(wt.attention(q, k, v, enable_gqa=True), theirs(*double(q, k, v), enable_gqa=True))

    def test_narrow_values(self):
        """Heads of V with fewer elements than those of Q and K, as the prefill of multi-head latent attention has them."""
        theirs = torch.nn.functional.scaled_dot_product_attention
        turn = lambda t: t.transpose(1, 2)
        for dim, value_dim in ((192, 128), (128, 64)):
            sizes = 2, 40, 72, 4, 2, dim
            self.gradients(lambda q, k, v: wt.flash_attn_func(q, k, v, causal=True),
                           lambda q, k, v: exact_attention(q, k, v, lambda i, j: j <= i + 32), self.tensors(*sizes, value_dim=value_dim))
            self.gradients(lambda q, k, v: wt.attention(turn(q), turn(k), turn(v), is_causal=True, enable_gqa=True),
                           lambda q, k, v: theirs(turn(q), turn(k), turn(v), is_causal=True, enable_gqa=True),
                           self.tensors(*sizes, value_dim=value_dim))
        q, k, v = (turn(t).contiguous() for t in self.tensors(1, 40, 72, 2, 2, 192, grad=False, value_dim=128))
        seen = torch.rand(40, 72, device=DEVICE) > 0.3
        self.near(wt.attention(q, k, v, seen), theirs(*double(q, k, v), seen))
        self.assertEqual(wt.attention(q[:, :, :0], k, v).shape, (1, 2, 0, 128))
        self.assertEqual(wt.attention(q, k[:, :, :0], v[:, :, :0]).tolist(), torch.zeros(1, 2, 40, 128).tolist())
        for of_scores, of_values in ((k[..., :96], v), (k, v[..., :80])):
            with self.assertRaisesRegex(NotImplementedError, "a head size of V of"):
                wt.attention(of_scores, of_scores, of_values)
        with self.assertRaisesRegex(ValueError, "do not fit"):
            wt.attention(q, k, v[:, :1])

    def test_head_size_512(self):
        q, sink = random(1, 8, 2, 512), torch.zeros(2, device=DEVICE, requires_grad=True)
        for call in (lambda: wt.flash_attn_func(q, q, q, learnable_sink=sink),
                     lambda: wt.flash_attn_varlen_func(q[0], q[0], q[0], *[torch.tensor([0, 8], dtype=torch.int32, device=DEVICE)] * 2,
                                                       8, 8, learnable_sink=sink)):
            with self.assertRaisesRegex(NotImplementedError, "gradients"):
                call()
        for value_dim in (256, 512):
            q, k, v = self.tensors(1, 40, 70, 2, 1, 512, grad=False, value_dim=value_dim)
            self.near(wt.flash_attn_func(q, k, v, causal=True), exact_attention(*double(q, k, v), lambda i, j: j <= i + 30))
        lengths = torch.tensor([70], dtype=torch.int32, device=DEVICE)
        self.near(wt.attention_decode(q[:, :2], k, v, lengths, causal=True), exact_attention(*double(q[:, :2], k, v), lambda i, j: j <= i + 68))
        for call in (lambda: wt.flash_attn_func(q.detach().requires_grad_(), k, v), lambda: wt.flash_attn_func(q, k, v[..., :128])):
            with self.assertRaisesRegex(NotImplementedError, "of a head size of 512"):
                call()

    def test_masks(self):
        theirs = torch.nn.functional.scaled_dot_product_attention
        seen = torch.rand(2, 1, 40, 72, device=DEVICE) > 0.3
        added = torch.randn(4, 40, 72, device=DEVICE)
        for mask in (seen, added):
            exact = mask if mask.dtype == torch.bool else mask.double()
            leaves = [t.detach().transpose(1, 2).contiguous().requires_grad_() for t in self.tensors(2, 40, 72, 4, 4, 64)]
            self.gradients(lambda q, k, v: wt.attention(q, k, v, mask), lambda q, k, v: theirs(q, k, v, exact), leaves)

    def test_modes_see_the_operators(self):
        """Calls without gradients go past the dispatcher, but not past a mode, a profiler, a transform or a fake tensor."""
        q, k, v = (t.transpose(1, 2) for t in self.tensors(1, 32, 32, 2, 2, 64, grad=False))
        seen = []

        class Mode(torch.utils._python_dispatch.TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                seen.append(str(function))
                return function(*args, **(kwargs or {}))

        with Mode():
            inside = wt.attention(q, k, v)
        self.assertIn("wgrun.attention.default", seen)
        with torch.autograd.profiler.profile() as profiled:
            wt.attention(q, k, v)
        self.assertIn("wgrun::attention", {event.name for event in profiled.function_events})
        self.assertTrue(torch.equal(inside, wt.attention(q, k, v)))
        with torch._subclasses.FakeTensorMode() as mode:
            fakes = [mode.from_tensor(t) for t in (q, k, v)]
        self.assertIs(type(wt.attention(*fakes)), type(fakes[0]))

    def test_forward_mode_is_refused(self):
        a, b, tangent = (torch.randn(16, 64, device=DEVICE, dtype=torch.bfloat16) for _ in range(3))
        with self.assertRaisesRegex(NotImplementedError, "forward-mode"):
            torch.func.jvp(lambda x: wt.linear(x, b), (a,), (tangent,))
        with torch.autograd.forward_ad.dual_level():
            with self.assertRaisesRegex(NotImplementedError, "forward-mode"):
                wt.linear(torch.autograd.forward_ad.make_dual(a, tangent), b)

    def test_operators_refuse_tangents_themselves(self):
        """Also those that are called without the functions over them; of a tensor of scale factors, too."""
        ops = torch.ops.wgrun
        a, b, weights, q = random(16, 64), random(32, 64), random(2, 64, 16), random(1, 32, 2, 64)
        ends = torch.tensor([8, 16], dtype=torch.int32, device=DEVICE)
        options, factor, plain = (0.125, True, 0, 0.0), torch.ones(1, device=DEVICE), (None, 0.0, None)
        fp8 = random(16, 64).to(torch.float8_e4m3fn)
        nibbles = torch.zeros(16, 64, dtype=torch.uint8, device=DEVICE)
        fp4 = wt.convert_weight_to_fp4pack(nibbles[:, :32], nibbles[:, :2])
        o, lse = ops.attention(q, q, q, *options, "bshd", "", None, True, *plain)
        packed, rows, decays = q[0], random(1, 32, 576), torch.zeros(1, 8, 2, device=DEVICE)
        o_packed, lse_packed = ops.attention_packed(packed, packed, packed, ends * 2, ends * 2, 32, 32, *options, None, True, *plain)
        of_groups = rows[None, :, :8, :64].reshape(1, 8, 1, 64)
        of_ssd = (decays, decays[0, 0], of_groups, of_groups)
        calls = {
            "all_gather_matmul": (lambda x: ops.all_gather_matmul(x, [b], "of no processes", False)[0], a),
            "matmul_reduce_scatter": (lambda x: ops.matmul_reduce_scatter(x, b, "of no processes", False), a),
            "mm": (lambda x: ops.mm(x, b, None), a), "bmm": (lambda x: ops.bmm(x[None], b[None]), a),
            "scaled_mm": (lambda x: ops.scaled_mm(fp8, fp8.t(), x, factor, None, torch.float32), factor),
            "convert_weight_to_fp4pack": (lambda x: ops.convert_weight_to_fp4pack(nibbles, x), fp8[:, :8]),
            "weight_fp4pack_mm": (lambda x: ops.weight_fp4pack_mm(x, fp4, None, 16), a),
            "grouped_mm": (lambda x: ops.grouped_mm(x, weights, ends), a),
            "grouped_mm_along_k": (lambda x: ops.grouped_mm_along_k(x.t(), a, ends), a),
            "attention": (lambda x: ops.attention(x, q, q, *options, "bshd", "", None, False, *plain)[0], q),
            "attention_backward": (lambda x: ops.attention_backward(x, q, q, o, lse, o, *options, "bshd", "", None, *plain)[0], q),
            "attention_packed": (lambda x: ops.attention_packed(x, packed, packed, ends, ends, 32, 32, *options, None, False, *plain)[0], packed),
            "attention_packed_backward": (lambda x: ops.attention_packed_backward(
                x, packed, packed, o_packed, lse_packed, o_packed, ends * 2, ends * 2, 32, 32, *options, None, *plain)[0], packed),
            "attention_paged": (lambda x: ops.attention_paged(x, q, q, ends, ends[:1], ends[None], 32, *options, False, None, None)[0], packed),
            "attention_decode": (lambda x: ops.attention_decode(x[:, :1], q, q, ends[:1], None, 0.125, False, 0.0, None, None), q),
            "mla_decode": (lambda x: ops.mla_decode(x, rows, ends[:1], None, 0.07, True), random(1, 1, 2, 576)),
            "delta_rule": (lambda x: ops.delta_rule(x, x, x, decays, decays, 0.1, None, False, False, None)[0],
                           random(1, 8, 2, 128)),
            "delta_rule_backward": (lambda x: ops.delta_rule_backward(x, x, x, decays, decays, x, None, 0.1, None, False, None)[0],
                                    random(1, 8, 2, 128)),
            "ssd": (lambda x: ops.ssd(x, *of_ssd, *(None,) * 5, False, 0.0, 1.0, False)[0], random(1, 8, 2, 64)),
            "ssd_backward": (lambda x: ops.ssd_backward(x, *of_ssd, *(None,) * 5, x, None, False, 0.0, 1.0)[0], random(1, 8, 2, 64))}
        self.assertEqual(set(calls), {name for name in dir(ops) if not name.startswith("_") and name != "name"})
        forward = torch.autograd.forward_ad
        without_processes = {"all_gather_matmul", "matmul_reduce_scatter"}
        for name, (call, x) in calls.items():
            with self.subTest(name), self.assertRaisesRegex(NotImplementedError, f"wgrun::{name}: has no forward-mode"):
                torch.func.jvp(call, (x,), (x,))
            with self.subTest(name), forward.dual_level():
                if name not in without_processes:
                    call(x)  # a level alone is no tangent
                for needs_gradients in (False, True):
                    with self.assertRaisesRegex(NotImplementedError, f"wgrun::{name}: has no forward-mode"):
                        call(forward.make_dual(x.detach().requires_grad_(needs_gradients), x))

    def test_operators_without_gradients_refuse_them(self):
        factor = torch.ones(1, device=DEVICE, requires_grad=True)
        fp8 = random(16, 64).to(torch.float8_e4m3fn)
        with self.assertRaisesRegex(NotImplementedError, "wgrun::scaled_mm: has no gradients"):
            wt.scaled_mm(fp8, fp8.t(), factor, factor.detach()).sum().backward()
        a, b = random(16, 64, grad=True), random(2, 64, 16, grad=True)
        first = torch.autograd.grad(wt.grouped_mm(a, b, offs=torch.tensor([8, 16], dtype=torch.int32, device=DEVICE)).sum(), b,
                                    create_graph=True)[0]
        with self.assertRaisesRegex(NotImplementedError, "wgrun::grouped_mm_along_k: has no gradients"):
            first.sum().backward()

    def test_transforms_of_torch_func(self):
        a, b, c = (torch.randn(2, 16, 64, device=DEVICE, dtype=torch.bfloat16) for _ in range(3))
        bias = torch.randn(2, 16, device=DEVICE, dtype=torch.bfloat16)
        reference = torch.nn.functional.linear

        def loss(linear):
            return lambda weight, x, bias: (linear(x, weight, bias).double() ** 2).sum()

        whole = (b[0].double(), a[0].double(), bias[0].double())
        for got, want in zip(torch.func.grad(loss(wt.linear), (0, 1, 2))(b[0], a[0], bias[0]),
                             torch.func.grad(loss(reference), (0, 1, 2))(*whole)):
            self.near(got, want, 0.02)
        for dims in itertools.product((0, None), repeat=3):
            if dims == (None, None, None):
                continue
            given = [t if dim == 0 else t[0] for t, dim in zip((b, a, bias), dims)]
            doubles = [t.double() for t in given]
            with self.subTest(dims):
                self.near(torch.func.vmap(lambda w, x, s: wt.linear(x, w, s), dims)(*given),
                          torch.func.vmap(lambda w, x, s: reference(x, w, s), dims)(*doubles))
                self.near(torch.func.vmap(torch.func.grad(loss(wt.linear)), dims)(*given),
                          torch.func.vmap(torch.func.grad(loss(reference)), dims)(*doubles), 0.02)

                def outer(linear):
                    return lambda *each: torch.func.vmap(loss(linear), dims)(*each).sum()

                self.near(torch.func.grad(outer(wt.linear))(*given), torch.func.grad(outer(reference))(*doubles), 0.02)
        self.near(torch.func.vmap(wt.matmul)(a, c.mT), a.double() @ c.double().mT)
        q, k, v = (t.transpose(1, 2) for t in self.tensors(1, 32, 32, 2, 2, 64, grad=False))
        one = torch.func.grad(lambda q: wt.attention(q, k, v, is_causal=True).double().square().sum())(q)
        self.near(one, torch.func.grad(lambda q: torch.nn.functional.scaled_dot_product_attention(
            q, k.double(), v.double(), is_causal=True).square().sum())(q.double()), 0.02)

    def test_autocast(self):
        a, b = (torch.randn(16, 64, device=DEVICE) for _ in range(2))
        q = torch.randn(1, 2, 32, 64, device=DEVICE)
        with self.assertRaisesRegex(ValueError, "float32"):
            wt.attention(q, q, q)
        self.assertEqual(wt.linear(a, b).dtype, torch.float32)
        weight = b.clone().requires_grad_()
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            for got, want in ((wt.linear(a, b, a[:, 0]), torch.nn.functional.linear(a, b, a[:, 0])), (wt.matmul(a, b.mT), a @ b.mT),
                              (wt.attention(q, q, q, torch.zeros(32, 32, device=DEVICE)), torch.nn.functional.scaled_dot_product_attention(q, q, q))):
                self.assertEqual(got.dtype, want.dtype)
                self.near(got, want.double())
            wt.linear(a, weight).sum().backward()
        self.assertEqual(weight.grad.dtype, torch.float32)
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=False):
            self.assertEqual(wt.linear(a, b).dtype, torch.float32)

    def test_other_tensors_go_by_the_dispatcher(self):
        a, b = (torch.randn(16, 64, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
        self.assertEqual(wt.linear(a.to("meta"), b.to("meta")).shape, (16, 16))
        negative = torch._neg_view(a)
        self.near(wt.linear(negative, b), -a.double() @ b.double().T)

    def test_traces_are_of_all_sizes(self):
        """What torch.jit.trace records of one call runs with other sizes, and PyTorch has nothing to warn of."""
        fp8 = lambda *shape: random(*shape).to(torch.float8_e4m3fn)
        of = lambda *ends: torch.tensor(ends, dtype=torch.int32, device=DEVICE)
        byte = lambda *shape: torch.randint(120, 130, shape, dtype=torch.uint8, device=DEVICE)
        fp4 = lambda n: wt.convert_weight_to_fp4pack(byte(n, 256), byte(n, 16))
        factor, slopes = torch.ones(1, device=DEVICE), torch.ones(2, device=DEVICE)
        seen = lambda *shape: torch.rand(*shape, device=DEVICE) > 0.3
        heads = lambda *shapes: [random(1, 2, length, 64) for length in shapes]
        rows = lambda *shapes: [random(2, length, 2, 64) for length in shapes]
        for call, first, then in (
                (wt.linear, (random(2, 16, 64), random(8, 64), random(8)), (random(3, 5, 64), random(16, 64), random(16))),
                (wt.matmul, (random(16, 64), random(64, 8)), (random(8, 32), random(32, 16))),
                (wt.matmul, (random(2, 1, 16, 64), random(3, 64, 8)), (random(3, 1, 8, 64), random(2, 64, 16))),
                (lambda a, b, x, y: wt.scaled_mm(a, b.t(), x, y), (fp8(16, 64), fp8(16, 64), factor, factor),
                 (fp8(32, 128), fp8(32, 128), factor, factor)),
                (wt.weight_fp4pack_mm, (random(16, 512), fp4(64)), (random(8, 512), fp4(128))),
                (wt.matmul, (random(16, 64, dtype=torch.float32), random(64, 8, dtype=torch.float32)),
                 (random(8, 32, dtype=torch.float32), random(32, 16, dtype=torch.float32))),
                (lambda a, b, ends: wt.grouped_mm(a, b, offs=ends), (random(32, 64), random(2, 64, 16), of(16, 32)),
                 (random(48, 64), random(3, 64, 16), of(16, 32, 48))),
                (wt.grouped_mm, (random(2, 24, 64), random(2, 64, 32)), (random(3, 8, 64), random(3, 64, 16))),
                (lambda q, k, v: wt.attention(q, k, v, is_causal=True), heads(32, 32, 32), heads(32, 48, 48)),
                (lambda q, k, v: wt.attention(*(t.transpose(1, 2) for t in (q, k, v))), rows(32, 32, 32), rows(32, 48, 48)),
                (wt.attention, (*heads(32, 32, 32), seen(32, 32)), (*heads(32, 48, 48), seen(32, 48))),
                (lambda q, k, v: wt.flash_attn_func(q, k, v, causal=True), rows(32, 32, 32), rows(32, 48, 48)),
                (lambda q, k, v, slopes: wt.flash_attn_func(q, k, v, causal=True, alibi_slopes=slopes), (*rows(32, 32, 32), slopes),
                 (*rows(32, 48, 48), slopes)),
                (lambda q, k, v, starts: wt.flash_attn_varlen_func(q, k, v, starts, starts, 20, 20), (*random(3, 32, 2, 64), of(0, 12, 32)),
                 (*random(3, 30, 2, 64), of(0, 10, 30))),
                (wt.attention_decode, (random(2, 1, 2, 64), *rows(32, 32), of(32, 20)),
                 (random(2, 1, 2, 64), *rows(48, 48), of(44, 48)))):
            with warnings.catch_warnings():
                warnings.simplefilter("error", torch.jit.TracerWarning)
                traced = torch.jit.trace(call, tuple(first), check_trace=False)
            for given in (first, then):
                self.assertTrue(torch.equal(traced(*given), call(*given)))

    def test_rows_that_a_mask_makes_equal(self):
        mask = torch.zeros(1, 1, 32, 32, device=DEVICE)
        mask[..., 3, :] = torch.finfo(torch.float32).min  # as Hugging Face pads
        mask[..., 5:, 7] = -math.inf
        q, k, v = (t.transpose(1, 2) for t in self.tensors(1, 32, 32, 2, 2, 64, grad=False))
        scores = q.float() @ k.float().transpose(2, 3) / 8 + mask  # kernels of PyTorch's differ in what they make of such rows
        self.near(wt.attention(q, k, v, mask), torch.softmax(scores, -1) @ v.float())

    def test_alibi(self):
        slopes = torch.tensor([[0.5, 0.25, 0.1, 0.05], [0.3, 0.2, 0.0, 0.7]], device=DEVICE)
        def theirs(given):
            def run(q, k, v):
                k, v = k.repeat_interleave(2, 2), v.repeat_interleave(2, 2)
                i, j = torch.arange(64, device=DEVICE)[:, None] + 32, torch.arange(96, device=DEVICE)[None, :]
                bias = -given.double().expand(2, 4)[:, :, None, None] * (i - j).abs()
                s = torch.einsum("bqhd,bkhd->bhqk", q, k) / 8 + bias.masked_fill(j > i, -math.inf)
                return torch.einsum("bhqk,bkhd->bqhd", torch.softmax(s, -1), v)
            return run
        for given in (slopes, slopes[0]):
            self.gradients(lambda q, k, v: wt.flash_attn_func(q, k, v, causal=True, alibi_slopes=given), theirs(given),
                           self.tensors(2, 64, 96, 4, 2, 64))
            starts = [torch.tensor([0, n, 2 * n], dtype=torch.int32, device=DEVICE) for n in (64, 96)]
            self.gradients(lambda *all: wt.flash_attn_varlen_func(*(t.flatten(0, 1) for t in all), *starts, 64, 96, causal=True,
                                                                  alibi_slopes=given).unflatten(0, (2, 64)),
                           theirs(given), self.tensors(2, 64, 96, 4, 2, 64))
            q, k, v = self.tensors(2, 64, 96, 4, 2, 64, grad=False)
            lengths = torch.full((2,), 96, dtype=torch.int32, device=DEVICE)
            self.near(wt.attention_decode(q[:, -3:], k, v, lengths, causal=True, alibi_slopes=given), theirs(given)(*double(q, k, v))[:, -3:])
        self.near(wt.attention_decode(q[:, :1], k, v, lengths, softcap=2.0), exact_attention(*double(q[:, :1], k, v), softcap=2.0))

    def test_sinks(self):
        for dtype in (torch.float32, torch.bfloat16):
            sink = torch.tensor([0.5, 2.0, -3.0, 40.0], device=DEVICE).to(dtype).requires_grad_()
            leaves = [*self.tensors(2, 40, 70, 4, 2, 64), sink]
            self.gradients(lambda q, k, v, sink: wt.flash_attn_func(q, k, v, causal=True, learnable_sink=sink),
                           lambda q, k, v, sink: exact_attention(q, k, v, lambda i, j: j <= i + 30, sink=sink), leaves)
        q, k, v = self.tensors(2, 48, 48, 4, 2, 64)
        starts = torch.tensor([0, 48, 96], dtype=torch.int32, device=DEVICE)
        flat = [t.detach().reshape(96, -1, 64).requires_grad_() for t in (q, k, v)]
        one, other = wt.flash_attn_func(q, k, v, learnable_sink=sink), wt.flash_attn_varlen_func(
            *flat, starts, starts, 48, 48, learnable_sink=sink)
        self.assertTrue(torch.equal(one.reshape_as(other), other))
        gradient = torch.autograd.grad(one.sum(), sink, retain_graph=True)[0]
        self.near(torch.autograd.grad(other.sum(), sink)[0], gradient)
        # only the sink has a gradient
        q, k, v = (t.detach() for t in (q, k, v))
        self.near(torch.autograd.grad(wt.flash_attn_func(q, k, v, learnable_sink=sink).sum(), sink)[0], gradient)
        _, lse, _ = wt.flash_attn_func(q, k[:, :0], v[:, :0], learnable_sink=sink, return_attn_probs=True)
        self.assertEqual(lse.tolist(), sink.detach().float()[None, :, None].expand(2, 4, 48).tolist())
        lengths = torch.tensor([48, 20], dtype=torch.int32, device=DEVICE)
        o = wt.attention_decode(q[:, :2], k, v, lengths, causal=True, learnable_sink=sink.detach())
        for b, n in enumerate(lengths.tolist()):
            self.near(o[b:b + 1], exact_attention(*double(q[b:b + 1, :2], k[b:b + 1, :n], v[b:b + 1, :n]),
                                                  lambda i, j: j <= i + n - 2, sink=sink.detach()))
        with self.assertRaisesRegex(ValueError, r"learnable_sink of torch.float32 \(3,\)"):
            wt.flash_attn_func(q, k, v, learnable_sink=torch.zeros(3, device=DEVICE))

    def test_dropout(self):
        q, k, v = self.tensors(2, 40, 70, 4, 2, 64)
        o, _, state = wt.flash_attn_func(q, k, v, 0.3, causal=True, return_attn_probs=True)
        kept = wt.dropout_mask(state, 0.3, 2, 4, 40, 70)
        self.assertAlmostEqual(kept.double().mean().item(), 0.7, delta=0.02)

        def exact(q, k, v):
            return exact_attention(q, k, v, lambda i, j: j <= i + 30, kept=kept / 0.7)

        self.near(o, exact(*double(q, k, v)))
        torch.manual_seed(3)
        first = wt.flash_attn_func(q, k, v, 0.3, causal=True)
        self.assertFalse(torch.equal(first, wt.flash_attn_func(q, k, v, 0.3, causal=True)))
        torch.manual_seed(3)
        _, _, state = wt.flash_attn_func(q, k, v, 0.3, causal=True, return_attn_probs=True)
        kept = wt.dropout_mask(state, 0.3, 2, 4, 40, 70)

        def ours(q, k, v):
            torch.manual_seed(3)
            return wt.flash_attn_func(q, k, v, 0.3, causal=True)

        self.assertTrue(torch.equal(first, ours(q, k, v)))
        self.gradients(ours, exact, [q, k, v])
        turned = [t.detach().transpose(1, 2).requires_grad_() for t in (q, k.repeat_interleave(2, 2), v.repeat_interleave(2, 2))]
        torch.manual_seed(3)
        state = torch.randint(0, 2 ** 63 - 1, (2,), device=DEVICE)
        kept = wt.dropout_mask(state, 0.5, 2, 4, 40, 70)

        def product(q, k, v):
            torch.manual_seed(3)
            return wt.attention(q, k, v, dropout_p=0.5)

        self.gradients(product, lambda q, k, v: exact_attention(*(t.transpose(1, 2) for t in (q, k, v)), kept=kept * 2).transpose(1, 2), turned)
        starts = torch.tensor([0, 40, 70], dtype=torch.int32, device=DEVICE)
        flat = [random(70, 2, 64, grad=True) for _ in range(3)]

        def packed(q, k, v):
            torch.manual_seed(3)
            return wt.flash_attn_varlen_func(q, k, v, starts, starts, 40, 40, 0.5)

        mask = wt.dropout_mask(state, 0.5, 2, 2, 40, 40) * 2
        self.gradients(packed, lambda *all: torch.cat([exact_attention(*(t[None, at:at + n] for t in all), kept=mask[b:b + 1, :, :n, :n])[0]
                                                      for b, (at, n) in enumerate(((0, 40), (40, 30)))]), flat)
        self.assertEqual(wt.attention(*turned, dropout_p=1.0).count_nonzero().item(), 0)
        for p in (-0.1, 0.99, 1.5, math.nan):
            with self.assertRaisesRegex(ValueError, "dropout_p of"):
                wt.flash_attn_func(q, k, v, p)

    def test_dropout_mask(self):
        """Beside Philox by Python's numbers."""
        seed, offset = 2 ** 62 + 12345678901, 2 ** 40 + 77
        kept = wt.dropout_mask(torch.tensor([seed, offset], device=DEVICE), 0.25, 2, 3, 37, 53).cpu()
        for at in ((0, 0, 0, 0), (1, 2, 36, 52), (0, 1, 17, 9), (1, 0, 8, 24)):
            b, h, i, j = at
            counter = [j // 16 * 4 + j // 2 % 4, i // 16 * 8 + i % 8, b * 3 + h, offset % 2 ** 32]
            for turn in range(7):
                x, z = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
                keys = (seed + turn * 0x9E3779B9) % 2 ** 32, ((seed >> 32) + turn * 0xBB67AE85) % 2 ** 32
                counter = [z >> 32 ^ counter[1] ^ keys[0], z % 2 ** 32, x >> 32 ^ counter[3] ^ keys[1], x % 2 ** 32]
            bits = counter[i // 8 % 2 + j // 8 % 2 * 2] >> 16 * (j % 2) & 0x7FFF
            self.assertEqual(kept[at].item(), bits >= 8192)

    def test_packed(self):
        lengths, keys = (40, 0, 30), (64, 16, 30)
        starts = torch.tensor([0, 40, 40, 70], dtype=torch.int32, device=DEVICE)
        key_starts = torch.tensor([0, 64, 80, 110], dtype=torch.int32, device=DEVICE)
        def ours(q, k, v):
            return wt.flash_attn_varlen_func(q, k, v, starts, key_starts, 40, 64, causal=True)
        def theirs(q, k, v):
            parts, at, key = [], 0, 0
            for n, m in zip(lengths, keys):
                parts.append(exact_attention(q[None, at:at + n], k[None, key:key + m], v[None, key:key + m],
                                             lambda i, j: j <= i + m - n)[0])
                at, key = at + n, key + m
            return torch.cat(parts)
        for dim, value_dim in ((64, 64), (192, 128)):
            self.gradients(ours, theirs, [random(70, 2, dim, grad=True), random(110, 2, dim, grad=True),
                                          random(110, 2, value_dim, grad=True)])

    def test_pages(self):
        starts, key_starts = (torch.tensor(x, dtype=torch.int32, device=DEVICE) for x in ([0, 40, 40, 70], [0, 64, 80, 101]))
        pages = torch.tensor([[3, 0, 5, 1], [7, 9, 9, 9], [2, 6, 9, 9]], dtype=torch.int32, device=DEVICE)
        for dim, value_dim, causal in ((64, 64, True), (192, 128, False)):
            q, k, v = random(70, 4, dim), random(8, 16, 2, dim), random(8, 16, 2, value_dim)
            k[6, 5:], v[6, 5:] = math.nan, math.nan  # behind the end of the last sequence
            o, lse, _ = wt.flash_attn_varlen_func(q, k, v, starts, key_starts, 40, 64, causal=causal, return_attn_probs=True,
                                                  block_table=pages)
            self.assertEqual(lse.shape, (4, 70))
            for b in (0, 2):
                at, end = starts[b], starts[b + 1]
                n = int(key_starts[b + 1] - key_starts[b])
                rows = [t[pages[b, :(n + 15) // 16].long()].flatten(0, 1)[None, :n] for t in (k, v)]
                ahead = n - int(end - at)
                sees = (lambda i, j: j <= i + ahead) if causal else None
                self.near(o[None, at:end], exact_attention(*double(q[None, at:end], *rows), mask=sees))
        # what becomes of scores is what becomes of them without pages
        numbers = torch.cat([pages[b, :(n + 15) // 16] for b, n in enumerate((64, 16, 21))]).long()
        flat = [t[numbers].flatten(0, 1)[:101] for t in (k, v)]
        sink = torch.tensor([0.5, 2.0, -3.0, 9.0], device=DEVICE)
        for options in ({"learnable_sink": sink}, {"alibi_slopes": sink.exp() / 99}, {"learnable_sink": sink, "softcap": 2.0,
                                                                                     "alibi_slopes": sink.exp() / 99}):
            options.update(causal=True, return_attn_probs=True)
            got = wt.flash_attn_varlen_func(q, k, v, starts, key_starts, 40, 64, block_table=pages, **options)
            want = wt.flash_attn_varlen_func(q, *flat, starts, key_starts, 40, 64, **options)
            for mine, other in zip(got[:2], want[:2]):
                self.assertTrue(torch.equal(mine, other))
        _, lse, _ = wt.flash_attn_varlen_func(q, k[:0], v[:0], starts, 0 * starts, 40, 1, block_table=pages, return_attn_probs=True,
                                              learnable_sink=sink)
        self.assertEqual(lse.tolist(), sink[:, None].expand(4, 70).tolist())
        with self.assertRaisesRegex(ValueError, "block_table of torch.int64"):
            wt.flash_attn_varlen_func(q, k, v, starts, key_starts, 40, 64, block_table=pages.long())
        with self.assertRaisesRegex(ValueError, r"K \(16, 2, 192\) and V .*: with block_table pages x page x heads x head size"):
            wt.flash_attn_varlen_func(q, k[0], v[0], starts, key_starts, 40, 64, block_table=pages)
        with self.assertRaisesRegex(NotImplementedError, "block_table with a head size of 512"):
            wide = random(8, 16, 2, 512)
            wt.flash_attn_varlen_func(random(70, 4, 512), wide, wide, starts, key_starts, 40, 64, block_table=pages)
        for tensor in (q, sink):
            with self.assertRaisesRegex(NotImplementedError, "gradients_with_block_table"):
                tensor.requires_grad_()
                wt.flash_attn_varlen_func(q, k, v, starts, key_starts, 40, 64, block_table=pages, learnable_sink=sink)
            tensor.requires_grad_(False)

    def test_decode(self):
        q, k, v = self.tensors(2, 1, 64, 4, 2, 64, grad=False)
        lengths = torch.tensor([64, 21], dtype=torch.int32, device=DEVICE)
        o = wt.attention_decode(q, k, v, lengths)
        for b, n in enumerate((64, 21)):
            self.near(o[b:b + 1], exact_attention(*double(q[b:b + 1], k[b:b + 1, :n], v[b:b + 1, :n])))
        pages = torch.tensor([[3, 0, 5, 1], [2, 4, 0, 0]], dtype=torch.int32, device=DEVICE)
        table = [random(6, 16, 2, 64) for _ in range(2)]
        o = wt.attention_decode(q, *table, lengths, block_table=pages)
        for b, n in enumerate((64, 21)):
            rows = [t[pages[b].long()].reshape(1, 64, 2, 64)[:, :n] for t in table]
            self.near(o[b:b + 1], exact_attention(*double(q[b:b + 1], *rows)))
        for caches, given in (((k[:, :0], v[:, :0]), None), ((table[0][:0], table[1][:0]), pages)):
            self.assertFalse(wt.attention_decode(q, *caches, 0 * lengths, block_table=given).any())

    def tiles(self, cache):
        """Rows of 656 bytes as vLLM's fp8_ds_mla, and the numbers that these stand for."""
        latent = cache[..., :512].float().unflatten(-1, (4, 128))
        scales = latent.abs().amax(-1) / 448
        e4m3 = (latent / scales[..., None]).to(torch.float8_e4m3fn)
        parts = [x.contiguous().view(torch.uint8).flatten(cache.dim() - 1) for x in (e4m3, scales, cache[..., 512:])]
        numbers = (e4m3.double() * scales[..., None].double()).flatten(-2)
        return torch.cat(parts, -1), torch.cat([numbers, cache[..., 512:].double()], -1)

    def test_latent(self):
        heads, scale = 2, 192 ** -0.5
        for causal, queries in ((True, 2), (False, 3)):
            q, lengths = random(2, queries, heads, 576), torch.tensor([64, 21], dtype=torch.int32, device=DEVICE)
            pages = torch.tensor([[3, 0, 5, 1], [2, 4, 0, 0]], dtype=torch.int32, device=DEVICE)
            for cache, table in ((random(2, 64, 576), None), (random(6, 16, 1, 576), pages)):
                descale = torch.tensor(0.25, device=DEVICE)
                tiles, of_tiles = self.tiles(cache)
                e4m3 = (cache / 0.25).to(torch.float8_e4m3fn)
                for given, numbers, factor in ((cache, cache, None), (tiles, of_tiles, None), (tiles.view(torch.float8_e4m3fn), of_tiles, None),
                                               (e4m3, e4m3.double() * 0.25, descale)):
                    o = wt.mla_decode(q, given, lengths, scale, block_table=table, causal=causal, descale=factor)
                    for b, n in enumerate((64, 21)):
                        k = (numbers[b] if table is None else numbers[table[b].long()].reshape(64, 576))[:n].double()
                        scores = torch.einsum("qhd,kd->hqk", q[b].double(), k) * scale
                        hidden = torch.arange(n, device=DEVICE)[None] > n - queries + torch.arange(queries, device=DEVICE)[:, None]
                        weights = (scores.masked_fill(hidden, -math.inf) if causal else scores).softmax(-1)
                        self.near(o[b], torch.einsum("hqk,kd->qhd", weights, k[:, :512]))
        for given, factor, text in ((e4m3, torch.ones(2, device=DEVICE), "one float32"), (random(2, 64, 576), descale, "one float32"),
                                    (tiles[..., :600], None, "656 bytes")):
            with self.assertRaisesRegex(ValueError, text):
                wt.mla_decode(q, given, lengths, scale, descale=factor)
        with self.assertRaisesRegex(ValueError, "bfloat16"):
            wt.mla_decode(q.half(), tiles, lengths, scale, block_table=pages)
        with self.assertRaisesRegex(ValueError, "rows of 576 elements"):
            wt.mla_decode(q[..., :512], random(2, 64, 576), lengths, scale)
        with self.assertRaisesRegex(NotImplementedError, "gradients"):
            wt.mla_decode(random(2, 1, heads, 576, grad=True), random(2, 64, 576), lengths, scale).sum().backward()

    def test_refused(self):
        q, k, v = self.tensors(1, 32, 32, 2, 2, 64, grad=False)
        for call in (lambda: wt.flash_attn_func(q, k, v, window_size=(3, 4)),
                     lambda: wt.attention(q, k, v, attn_mask=torch.zeros(32, 32, requires_grad=True)), lambda: wt.flash_attn_func(q[..., :40], k[..., :40], v[..., :40]),
                     lambda: wt.flash_attn_func(q, k, v, deterministic=True)):
            with self.assertRaises(NotImplementedError):
                call()
        for call, text in ((lambda: wt.flash_attn_func(q, k, v[:, :16]), "do not fit"),
                           (lambda: wt.flash_attn_func(q, k, v, alibi_slopes=q), "alibi_slopes of"),
                           (lambda: wt.attention(q, q, q, attn_mask=q[:, :3].float()), "does not broadcast"),
                           (lambda: wt.flash_attn_func(q, k, v, softmax_scale=0.0), "a scale of 0.0"),
                           (lambda: wt.attention(q, q, q, attn_mask=torch.ones(1, dtype=torch.int32)), "int32")):
            with self.assertRaisesRegex(ValueError, text):
                call()


    def test_no_second_derivative(self):
        q, k, v = self.tensors(1, 32, 32, 2, 2, 64)
        (first,) = torch.autograd.grad(wt.flash_attn_func(q, k, v).sum(), q, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "second"):
            first.sum().backward()
        lengths = torch.tensor([32], dtype=torch.int32, device=DEVICE)
        with self.assertRaisesRegex(NotImplementedError, "gradients"):
            wt.attention_decode(random(1, 1, 2, 64, grad=True), k.detach(), v.detach(), lengths).sum().backward()


class Operators(Case):
    def check(self, operator, *arguments):
        torch.library.opcheck(operator, arguments, test_utils=("test_schema", "test_autograd_registration", "test_faketensor",
                                                               "test_aot_dispatch_dynamic"))

    def test_opcheck(self):
        self.check(torch.ops.wgrun.mm.default, random(16, 64, grad=True), random(32, 64, grad=True), random(32, grad=True))
        self.check(torch.ops.wgrun.bmm.default, random(2, 16, 64, grad=True), random(2, 32, 64, grad=True))
        ends = torch.tensor([8, 16], dtype=torch.int32, device=DEVICE)
        self.check(torch.ops.wgrun.grouped_mm.default, random(16, 64, grad=True), random(2, 64, 32, grad=True), ends)
        self.check(torch.ops.wgrun.weight_fp4pack_mm.default, random(16, 64), wt.convert_weight_to_fp4pack(
            torch.zeros(16, 32, dtype=torch.uint8, device=DEVICE), torch.zeros(16, 2, dtype=torch.uint8, device=DEVICE)), None, 16)
        q, k, v = (random(1, 64, 2, 64, grad=True) for _ in range(3))
        self.check(torch.ops.wgrun.attention.default, q, k, v, 0.125, True, 0, 0.0, "bshd", "", None, True, None, 0.0, None)
        q, k, v = (random(1, 40, 2, dim, grad=True) for dim in (192, 192, 128))
        self.check(torch.ops.wgrun.attention.default, q, k, v, 0.125, True, 0, 0.0, "bshd", "", None, True, None, 0.0, None)
        starts = torch.tensor([0, 24, 64], dtype=torch.int32, device=DEVICE)
        for dim in (64, 128):
            q, k, v = (random(64, 2, columns, grad=True) for columns in (dim, dim, 64))
            self.check(torch.ops.wgrun.attention_packed.default, q, k, v, starts, starts, 40, 40, 0.125, True, 0, 0.0, None, True, None, 0.0, None)
        q, k, v = (random(1, 24, 2, 128, grad=True) for _ in range(3))
        g, beta = (torch.rand(1, 24, 2, device=DEVICE, requires_grad=True) for _ in range(2))
        state = torch.randn(1, 2, 128, 128, device=DEVICE, requires_grad=True)
        self.check(torch.ops.wgrun.delta_rule.default, q, k, v, g, beta, 0.1, state, True, False, None)

    def test_opcheck_of_options(self):
        q, k, v = (random(1, 40, 2, 64, grad=True) for _ in range(3))
        sink, state = torch.randn(2, device=DEVICE, requires_grad=True), torch.tensor([3, 4], device=DEVICE)
        self.check(torch.ops.wgrun.attention.default, q, k, v, 0.125, True, 0, 0.0, "bshd", "", None, True, sink, 0.25, state)
        q, k, v = random(40, 2, 64), *(random(4, 16, 2, 64) for _ in range(2))
        starts, lengths, pages = (torch.tensor(x, dtype=torch.int32, device=DEVICE) for x in ([0, 40], [50], [[3, 0, 1, 2]]))
        self.check(torch.ops.wgrun.attention_paged.default, q, k, v, starts, lengths, pages, 40, 0.125, True, 0, 0.0, True,
                   torch.ones(1, 2, device=DEVICE), sink.detach())

    def test_compile_of_options(self):
        q, k, v, sink = *(random(1, 64, 2, 64, grad=True) for _ in range(3)), torch.randn(2, device=DEVICE, requires_grad=True)

        def both(q, k, v, sink):
            o, _, state = wt.flash_attn_func(q, k, v, 0.25, learnable_sink=sink, return_attn_probs=True)
            return o, state

        o, state = torch.compile(both, fullgraph=True, backend="aot_eager")(q, k, v, sink)
        kept = wt.dropout_mask(state, 0.25, 1, 2, 64, 64) / 0.75
        exact = double(q, k, v, sink)
        want = exact_attention(*exact[:3], sink=exact[3], kept=kept)
        self.near(o, want)
        for mine, theirs in zip(torch.autograd.grad(o.sum(), (q, k, v, sink)), torch.autograd.grad(want.sum(), exact)):
            self.near(mine, theirs, 0.02)
        self.assertEqual(len({tuple(both(q, k, v, sink)[1].tolist()) for _ in range(3)}), 3)

    def test_checkpoint(self):
        """A second forward pass drops what the first one dropped."""
        q, k, v = (random(1, 64, 2, 64, grad=True) for _ in range(3))

        def run(q, k, v):
            return wt.flash_attn_func(q, k, v, 0.5)

        grads = []
        for wrapped in (run, lambda *all: torch.utils.checkpoint.checkpoint(run, *all, use_reentrant=False)):
            torch.manual_seed(5)
            grads.append(torch.autograd.grad(wrapped(q, k, v).float().square().sum(), (q, k, v)))
        for one, other in zip(*grads):
            self.near(one, other, 5e-3)

    def test_export(self):
        class Net(torch.nn.Module):
            def forward(self, x, w, q):
                return wt.linear(x, w), wt.flash_attn_func(q, q, q, causal=True)
        x, w, q = random(16, 64), random(32, 64), random(1, 64, 2, 64)
        program = torch.export.export(Net(), (x, w, q))
        self.assertIn("wgrun.attention", str(program.graph))
        for got, want in zip(program.module()(x, w, q), Net()(x, w, q)):
            self.assertTrue(torch.equal(got, want))

    def test_compile(self):
        compiled = torch.compile(lambda x, w: wt.linear(x, w).relu(), backend="aot_eager", fullgraph=True)
        for rows in (16, 24):
            x, w = random(rows, 64, grad=True), random(32, 64, grad=True)
            out = compiled(x, w)
            self.near(out, (double(x) @ double(w).T).relu())
            out.sum().backward()
            self.assertEqual(x.grad.shape, x.shape)

    def test_decorator(self):
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
            file.write('''local wg = require "wgrun"
local threads = tonumber((...))
return wg.kernel("scale", { threads = threads }, function(k)
  local X, by, Y = k:param("X", "const f32*"), k:param("by", "f32"), k:param("Y", "f32*")
  local i = k:special "ctaid.x" * threads + k:special "tid.x"
  k:st_global_f32(k:element(Y, i), k:ld_global_f32(k:element(X, i)) * by)
end)
''')
            file.flush()

            @wt.operator("wgrun_test::scale", file.name, 64, grid=lambda x, by: x.numel() // 64)
            def scale(x: torch.Tensor, by: float = 0.5) -> torch.Tensor:
                return torch.empty_like(x)

            x = torch.randn(128, device=DEVICE)
            for call in (lambda: scale(x, 0.5), lambda: scale(x), lambda: scale(x, by=0.5)):
                self.assertTrue(torch.equal(call(), x * 0.5))
            self.check(torch.ops.wgrun_test.scale.default, x, 2.0)
            scale.register_autograd(lambda ctx, d: (d * ctx.by, None), setup_context=lambda ctx, inputs, output: setattr(ctx, "by", inputs[1]))
            x.requires_grad_()
            scale(x, 2.0).sum().backward()
            self.assertTrue(torch.equal(x.grad, torch.full_like(x, 2)))
            with self.assertRaisesRegex(NotImplementedError, "wgrun_test::scale: has no forward-mode"):
                torch.func.jvp(lambda x: torch.ops.wgrun_test.scale(x, 2.0), (x.detach(),), (x.detach(),))

    @unittest.skipUnless(DEVICE == "cuda", "no GPU")
    def test_graph(self):
        q, k, v = (random(1, 256, 2, 64, grad=True) for _ in range(3))
        def step():
            o = wt.flash_attn_func(q, k, v, causal=True)
            return torch.autograd.grad(o, (q, k, v), torch.ones_like(o))
        want = step()
        graph = torch.cuda.CUDAGraph()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):
            got = step()
        graph.replay()
        for mine, other in zip(got, want):
            self.near(mine, other)
        wt.flash_attn_func(q, k, v, 0.5)
        dropping, seen = torch.cuda.CUDAGraph(), []
        with torch.cuda.graph(dropping):
            o, _, state = wt.flash_attn_func(q, k, v, 0.5, return_attn_probs=True)
        for _ in range(2):
            dropping.replay()
            seen.append(o.detach().clone())
            self.near(seen[-1], exact_attention(*double(q, k, v), kept=wt.dropout_mask(state, 0.5, 1, 2, 256, 256) * 2))
        self.assertFalse(torch.equal(*seen))


def recurrence(q, k, v, g, beta, state):
    """The delta rule of one head of a sequence, token by token, in binary64: O and the last state. g is tokens x 1 or 128."""
    out = []
    for t in range(v.shape[0]):
        state = g[t].exp()[:, None] * state
        state = state + beta[t] * torch.outer(k[t], v[t] - k[t] @ state)
        out.append(q[t] @ state / math.sqrt(128))
    return torch.stack(out), state


class LinearAttention(Case):
    def tensors(self, batch, tokens, qk_heads, heads, channels):
        unit = torch.nn.functional.normalize
        q, k = (unit(torch.randn(batch, tokens, qk_heads, 128, device=DEVICE), dim=-1).bfloat16() for _ in range(2))
        g = -torch.rand(batch, tokens, heads, *channels, device=DEVICE) * 2
        return q, k, random(batch, tokens, heads, 128), g, torch.rand(batch, tokens, heads, device=DEVICE)

    def compare(self, got, given, states, at, sequence):
        """Of one sequence, which has the rows `at` of the batch `at[0]`."""
        q, k, v, g, beta = (x.double() for x in given)
        for head in range(v.shape[2]):
            of_qk = head // (v.shape[2] // q.shape[2])
            of_g = g[at][:, head]
            start = torch.zeros(128, 128, dtype=torch.float64, device=DEVICE) if states is None else states[sequence, head].double()
            o, state = recurrence(q[at][:, of_qk], k[at][:, of_qk], v[at][:, head], of_g if of_g.dim() == 2 else of_g[:, None],
                                  beta[at][:, head], start)
            self.near(got[0][at][:, head], o)
            if got[1] is not None:
                self.near(got[1][sequence, head], state)

    def test_results(self):
        for call, channels in ((wt.delta_rule, ()), (wt.kda, (128,))):
            given = self.tensors(2, 70, 1, 2, channels)
            states = torch.randn(2, 2, 128, 128, device=DEVICE)
            got = call(*given, initial_state=states, output_final_state=True)
            for batch in range(2):
                self.compare(got, given, states, (batch, slice(None)), batch)
            turned = call(*given, initial_state=states.mT, output_final_state=True, state_v_first=True)
            self.assertTrue(torch.equal(turned[0], got[0]) and torch.equal(turned[1], got[1].mT))
            given = self.tensors(1, 100, 2, 2, channels)
            starts = torch.tensor([0, 30, 100], device=DEVICE)
            got = call(*given, cu_seqlens=starts)
            self.assertIsNone(got[1])
            for sequence, rows in enumerate((slice(0, 30), slice(30, 100))):
                self.compare(got, given, None, (0, rows), sequence)

    def expected_gradients(self, given, states, d, d_states, parts):
        """In binary64, of all tensors; parts are where sequences are: the batch and rows."""
        leaves = [x.detach().double().requires_grad_() for x in (*given, states)]
        q, k, v, g, beta, initial = leaves
        loss = 0
        for sequence, at in enumerate(parts):
            for head in range(v.shape[2]):
                of_qk = head // (v.shape[2] // q.shape[2])
                of_g = g[at][:, head]
                o, state = recurrence(q[at][:, of_qk], k[at][:, of_qk], v[at][:, head], of_g if of_g.dim() == 2 else of_g[:, None],
                                      beta[at][:, head], initial[sequence, head])
                loss = loss + (o * d[at][:, head].double()).sum() + (state * d_states[sequence, head].double()).sum()
        return torch.autograd.grad(loss, leaves)

    def test_gradients(self):
        sequences = ([(batch, slice(None)) for batch in range(2)], None), ([(0, slice(0, 30)), (0, slice(30, 100))], [0, 30, 100])
        kinds = (wt.delta_rule, ()), (wt.kda, (128,))
        for (parts, starts), (call, channels) in itertools.product(sequences, kinds):
            given = self.tensors(1 if starts else 2, 100 if starts else 70, 1, 2, channels)
            states, d, d_states = torch.randn(2, 2, 128, 128, device=DEVICE), torch.randn_like(given[2]), torch.randn(2, 2, 128, 128, device=DEVICE)
            want = self.expected_gradients(given, states, d, d_states, parts)
            for turned in (False, True):
                leaves = [x.clone().requires_grad_() for x in (*given, states.mT if turned else states)]
                o, state = call(*leaves[:5], initial_state=leaves[5], output_final_state=True, state_v_first=turned,
                                cu_seqlens=torch.tensor(starts, device=DEVICE) if starts else None)
                got = torch.autograd.grad((o, state), leaves, (d, d_states.mT if turned else d_states))
                for mine, leaf, other in zip(got, leaves, (*want[:5], want[5].mT if turned else want[5])):
                    self.assertEqual((mine.dtype, mine.shape), (leaf.dtype, leaf.shape))
                    self.near(mine, other)

    def test_gradients_of_some(self):
        q, k, v, g, beta = self.tensors(1, 70, 2, 2, ())
        zeros = torch.zeros(1, 2, 128, 128, device=DEVICE)
        d = torch.randn_like(v)
        want = self.expected_gradients((q, k, v, g.bfloat16(), beta.bfloat16()), zeros, d, zeros, [(0, slice(None))])
        leaves = [x.clone().requires_grad_() for x in (v, g.bfloat16(), beta.bfloat16())]
        got = torch.autograd.grad(wt.delta_rule(q, k, *leaves)[0], leaves, d)
        for mine, leaf, other in zip(got, leaves, want[2:]):
            self.assertEqual(mine.dtype, leaf.dtype)
            self.near(mine, other, 0.02)
        state = zeros.clone().requires_grad_()
        o, last = wt.delta_rule(q, k, v, g, beta, initial_state=state, output_final_state=True)
        self.near(torch.autograd.grad(last.sum(), state)[0],
                  self.expected_gradients((q, k, v, g, beta), zeros, 0 * d, zeros + 1, [(0, slice(None))])[5])
        none = [x[:, :0].clone().requires_grad_() for x in (q, k, v, g, beta)]
        o, last = wt.delta_rule(*none, initial_state=state, output_final_state=True)
        self.assertTrue(torch.equal(torch.autograd.grad((2 * last).sum(), state)[0], zeros + 2))

    def test_lengths_of_keys(self):
        q, k, v, g, beta = self.tensors(1, 20, 1, 1, (128,))
        got, want = (call[0] for call in (wt.kda(3 * q, 5 * k, v, g, beta, use_qk_l2norm_in_kernel=True), wt.kda(q, k, v, g, beta)))
        self.near(got, want)
        self.near(wt.kda(q, k, v, g.bfloat16(), beta.bfloat16(), safe_gate=True)[0], want, 0.02)

    def test_shapes_without_a_run(self):
        given = self.tensors(1, 20, 1, 2, (128,))
        with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) as mode:
            o, state = wt.kda(*(mode.from_tensor(x) for x in given), output_final_state=True)
        self.assertEqual((o.shape, state.shape, state.dtype), ((1, 20, 2, 128), (1, 2, 128, 128), torch.float32))

    def test_refused(self):
        q, k, v, g, beta = self.tensors(1, 20, 2, 2, (128,))
        with self.assertRaisesRegex(NotImplementedError, "gradients of torch.float16"):
            wt.delta_rule(q.half(), k.half(), v.half().requires_grad_(), g[..., 0], beta)[0].sum().backward()
        with self.assertRaisesRegex(NotImplementedError, "second"):
            (first,) = torch.autograd.grad(wt.delta_rule(q, k, v.requires_grad_(), g[..., 0], beta)[0].sum(), v, create_graph=True)
            first.sum().backward()
        with self.assertRaisesRegex(NotImplementedError, "use_gate_in_kernel"):
            wt.kda(q, k, v, g, beta, use_gate_in_kernel=True)
        for call, text in ((lambda: wt.delta_rule(q, k, v, g, beta), r"g \(1, 20, 2, 128\) and beta"),
                           (lambda: wt.kda(q, k, v, g, beta, initial_state=beta), "initial_state"),
                           (lambda: wt.kda(q, k, v, g, beta, cu_seqlens=beta), "cu_seqlens of torch.float32")):
            with self.assertRaisesRegex(ValueError, text):
                call()


class StateSpaceDuality(Case):
    def tensors(self, batch, tokens, heads, groups, headdim, dstate):
        x, b, c = random(batch, tokens, heads, headdim), random(batch, tokens, groups, dstate), random(batch, tokens, groups, dstate)
        dt, a = torch.rand(batch, tokens, heads, device=DEVICE), -torch.rand(heads, device=DEVICE)
        return x, dt, a, b, c

    @staticmethod
    def recurrence(x, dt, a, b, c, d, state):
        """Of one head of one sequence, in binary64."""
        rows = []
        for t in range(x.shape[0]):
            state = torch.exp(dt[t] * a) * state + dt[t] * torch.outer(x[t], b[t])
            rows.append(state @ c[t] + d * x[t])
        return torch.stack(rows), state

    def compare(self, got, given, d, states, at, sequence):
        x, dt, a, b, c = (tensor.double() for tensor in given)
        for head in range(x.shape[2]):
            group = head // (x.shape[2] // b.shape[2])
            start = torch.zeros(x.shape[3], b.shape[3], dtype=torch.float64, device=DEVICE) if states is None else states[sequence, head].double()
            y, state = self.recurrence(x[at][:, head], dt[at][:, head], a[head], b[at][:, group], c[at][:, group], d[head].double(), start)
            self.near(got[0][at][:, head], y)
            self.near(got[1][sequence, head], state)

    def test_results(self):
        for headdim, dstate, dtype in ((64, 128, torch.float32), (128, 64, torch.bfloat16)):
            x, dt, a, b, c = self.tensors(2, 70, 2, 1, headdim, dstate)
            dt, bias, d = dt.to(dtype), torch.randn(2, device=DEVICE), torch.randn(2, device=DEVICE)
            states = torch.randn(2, 2, headdim, dstate, device=DEVICE)
            got = wt.ssd(x, dt, a, b, c, 256, D=d, dt_bias=bias, initial_states=states, dt_softplus=True, dt_limit=(0.1, 0.9),
                         return_final_states=True)
            step = torch.nn.functional.softplus(dt.double() + bias.double()).clamp(0.1, 0.9)
            for batch in range(2):
                self.compare(got, (x, step, a, b, c), d, states, (batch, slice(None)), batch)
        given = self.tensors(1, 100, 4, 2, 64, 64)
        got = wt.ssd(*given, cu_seqlens=torch.tensor([0, 30, 100], device=DEVICE), return_final_states=True)
        for sequence, rows in enumerate((slice(0, 30), slice(30, 100))):
            self.compare(got, given, torch.zeros(4), None, (0, rows), sequence)
        self.assertTrue(torch.equal(wt.ssd(*given), wt.ssd(*given, chunk_size=64, dt_limit=(0.0, 1e30))))

    @staticmethod
    def whole(x, dt, a, b, c, d, z, bias, states, softplus, limits, sequences):
        """y and the last states of whole batches or, with `sequences`, of these rows of one, by autograd where it is asked for."""
        dt = dt if bias is None else dt + bias
        dt = (torch.nn.functional.softplus(dt) if softplus else dt).clamp(*limits)
        b, c = (t.repeat_interleave(x.shape[2] // t.shape[2], 2) for t in (b, c))
        rows, last = [], []
        for number, (batch, at) in enumerate(sequences):
            state = torch.zeros(x.shape[2], x.shape[3], b.shape[3], dtype=x.dtype, device=x.device) if states is None else states[number]
            for t in range(at.start, at.stop):
                added = dt[batch, t, :, None, None] * x[batch, t, :, :, None] * b[batch, t, :, None, :]
                state = torch.exp(dt[batch, t] * a)[:, None, None] * state + added
                y = (state @ c[batch, t, :, :, None])[..., 0]
                rows.append(y if d is None else y + (d if d.dim() == 2 else d[:, None]) * x[batch, t])
            last.append(state)
        y = torch.stack(rows).view_as(x)
        return y if z is None else y * torch.nn.functional.silu(z), torch.stack(last)

    def gradients_of(self, given, sequences, softplus, limits, starts=None, final=True):
        """given: x, dt, A, B, C, D, z, dt_bias, initial states, None where there is none."""
        mine = [None if t is None else t.detach().clone().requires_grad_() for t in given]
        exact = [None if t is None else t.detach().double().requires_grad_() for t in given]
        x, dt, a, b, c, d, z, bias, states = mine
        got = wt.ssd(x, dt, a, b, c, D=d, z=z, dt_bias=bias, initial_states=states, dt_softplus=softplus, dt_limit=limits,
                     cu_seqlens=starts, return_final_states=final)
        want = self.whole(*exact, softplus, limits, sequences)[:2 if final else 1]
        total = 0
        for one, other in zip(got if final else (got,), want):
            self.near(one, other)
            d = torch.randn_like(other).to(one.dtype)
            one.backward(d, retain_graph=True)
            total = total + (other * d.double()).sum()
        total.backward()
        for name, one, other in zip(("x", "dt", "A", "B", "C", "D", "z", "dt_bias", "states"), mine, exact):
            with self.subTest(name):
                if one is not None:
                    self.near(one.grad, other.grad, 0.02)

    def test_gradients(self):
        torch.manual_seed(0)  # some sums over all tokens are small beside their terms, which are rounded
        batches = [(0, slice(0, 70)), (1, slice(0, 70))]
        for headdim, dstate, dtype, d_shape in ((64, 128, torch.float32, (2,)), (128, 64, torch.bfloat16, (2, 128))):
            x, dt, a, b, c = self.tensors(2, 70, 2, 1, headdim, dstate)
            vectors = torch.randn(d_shape, device=DEVICE), random(*x.shape), torch.randn(2, device=DEVICE)
            states = torch.randn(2, 2, headdim, dstate, device=DEVICE)
            self.gradients_of((x, dt.to(dtype), a, b, c, *vectors, states), batches, True, (0.1, 0.9))
        x, dt, a, b, c = self.tensors(1, 100, 4, 2, 64, 64)
        starts = torch.tensor([0, 30, 100], device=DEVICE)
        packed = [(0, slice(0, 30)), (0, slice(30, 100))]
        self.gradients_of((x, dt, a, b, c, None, None, None, None), packed, False, (0.0, math.inf), starts)
        self.gradients_of((x, dt, a, b, c, None, None, None, None), packed[:1] + packed[1:], False, (0.0, math.inf), starts, final=False)

    def test_some_gradients(self):
        """Of one operand alone, twice the same bits, and of a part of the results."""
        x, dt, a, b, c = self.tensors(1, 70, 2, 1, 64, 64)
        b.requires_grad_()
        y, state = wt.ssd(x, dt, a, b, c, return_final_states=True)
        first, again = (torch.autograd.grad(y.float().sum(), b, retain_graph=True)[0] for _ in range(2))
        self.assertTrue(torch.equal(first, again))
        both = torch.autograd.grad(y.float().sum() + state.sum(), b, retain_graph=True)[0]
        self.near(both - first, torch.autograd.grad(state.sum(), b)[0], 0.05)

    def test_operator(self):
        x, dt, a, b, c = (t.detach().requires_grad_() for t in self.tensors(1, 20, 2, 1, 64, 64))
        torch.library.opcheck(torch.ops.wgrun.ssd.default, (x, dt, a, b, c, *(None,) * 5, False, 0.0, math.inf, True))

    def test_shapes_without_a_run(self):
        given = self.tensors(1, 20, 2, 1, 64, 128)
        with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) as mode:
            y, state = wt.ssd(*(mode.from_tensor(x) for x in given), return_final_states=True)
        self.assertEqual((y.shape, state.shape, state.dtype), ((1, 20, 2, 64), (1, 2, 64, 128), torch.float32))

    def test_refused(self):
        x, dt, a, b, c = self.tensors(1, 20, 2, 1, 64, 128)
        needs = x.detach().requires_grad_()
        first = torch.autograd.grad(wt.ssd(needs, dt, a, b, c).sum(), needs, create_graph=True)[0]
        with self.assertRaisesRegex(NotImplementedError, "wgrun::ssd_backward: has no second derivatives"):
            first.sum().backward()
        for call, text in ((lambda: wt.ssd(x, dt, a, b, c, seq_idx=x), "ssd: seq_idx"),
                           (lambda: wt.ssd(x, dt, a, b[..., :32], c[..., :32]), "a dstate of 32")):
            with self.assertRaisesRegex(NotImplementedError, text):
                call()
        for call, text in ((lambda: wt.ssd(x, dt[:, :10], a, b, c), "do not fit"), (lambda: wt.ssd(x, dt, a, b, c, z=b), r"z \(1, 20, 1, 128\)"),
                           (lambda: wt.ssd(x, dt, a, b, c, D=x), r"D \(1, 20, 2, 64\): \(2,\) or \(2, 64\)"), (lambda: wt.ssd(x, dt, a, b, c, dt_limit=(2, 1)), "dt_limit"),
                           (lambda: wt.ssd(x, dt, a, b, c, initial_states=x), "initial_states"),
                           (lambda: wt.ssd(x, dt, a, b, c, dt_limit=(-1, 1)), "dt_limit"), (lambda: wt.ssd(x, dt.int(), a, b, c), "dt of torch.int32"),
                           (lambda: wt.ssd(x, dt, a, b, c, cu_seqlens=torch.zeros(1, dtype=torch.int32)), r"cu_seqlens of torch.int32 \(1,\)"),
                           (lambda: wt.ssd(x, dt, a, b, c, cu_seqlens=a), "cu_seqlens of torch.float32")):
            with self.assertRaisesRegex(ValueError, text):
                call()


class Collectives(unittest.TestCase):
    """Of a group whose other processes are not there: shapes, and what is refused. tests/gpu/collectives.py has the results."""

    @classmethod
    def setUpClass(cls):
        dist.init_process_group("fake", rank=1, world_size=4, store=FakeStore())
        cls.group = dist.group.WORLD.group_name

    @classmethod
    def tearDownClass(cls):
        dist.destroy_process_group()

    def setUp(self):
        mode = torch._subclasses.FakeTensorMode()
        mode.__enter__()
        self.addCleanup(mode.__exit__, None, None, None)
        self.a, self.b = self.empty(2, 8, 64), self.empty(64, 16)

    @staticmethod
    def empty(*shape, dtype=torch.bfloat16, device="cuda"):
        return torch.empty(*shape, dtype=dtype, device=device)

    def test_shapes_without_a_run(self):
        a, (first, second) = wt.all_gather_matmul(self.a, [self.b, self.empty(64, 24)], 1, self.group)
        self.assertEqual((a.shape, first.shape, second.shape), ((2, 32, 64), (2, 32, 16), (2, 32, 24)))
        a, (first,) = wt.all_gather_matmul(self.a, [self.b], 0, self.group, return_A=False)
        self.assertEqual((a, first.shape, first.dtype), (None, (8, 8, 16), torch.bfloat16))
        for how, rows in (("sum", 8), ("avg", 32)):
            d = wt.matmul_reduce_scatter(self.empty(rows, 64, dtype=torch.float16), self.empty(64, 16, dtype=torch.float16), how, 0, self.group)
            self.assertEqual((d.shape, d.dtype), ((rows // 4, 16), torch.float16))

    def test_refused(self):
        a, b, group = self.a, self.b, self.group
        alone = dist.new_group([1]).group_name
        for call, text in ((lambda: wt.all_gather_matmul(a, [b], 2, group), r"dimension 2 of \(2, 8, 64\): one before the last"),
                           (lambda: wt.all_gather_matmul(a, [], 0, group), "no B to multiply with"),
                           (lambda: wt.all_gather_matmul(a, [b, b.t()], 0, group), r"\(2, 8, 64\) and \(16, 64\) do not fit"),
                           (lambda: wt.all_gather_matmul(a.float(), [b.float()], 0, group), "torch.float32"),
                           (lambda: wt.matmul_reduce_scatter(a, b, "max", 1, group), "reduce_op 'max'"),
                           (lambda: wt.matmul_reduce_scatter(a, b, "sum", 0, group), "must be a multiple of the 4 processes")):
            with self.assertRaisesRegex(ValueError, text):
                call()
        for call, text in ((lambda: wt.all_gather_matmul(self.empty(8, 64, device="cpu"), [self.empty(64, 16, device="cpu")], 0, group), "of the host"),
                           (lambda: wt.all_gather_matmul(a, [self.empty(64, 12)], 0, group), "no multiples of 8"),
                           (lambda: wt.all_gather_matmul(a, [b], 0, alone), "a group of 1 processes: 2 to 8")):
            with self.assertRaisesRegex(NotImplementedError, text):
                call()


if __name__ == "__main__":
    unittest.main()
