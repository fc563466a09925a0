"""Launches of wgrun.torch that are written once and started again with other tensors. The simulator stands for the device: a start
there is a run here, of the launch as it was written."""

import ctypes
import sys
import unittest
from unittest import mock

try:
    import torch
except ImportError:
    print("skipped: no torch")
    sys.exit(77)

import wgrun.torch as wt
from wgrun import _kernel, _launcher
from wgrun._abi import LIBRARY
from wgrun._errors import check

torch.manual_seed(1)


def random(*shape):
    return torch.randn(*shape).to(torch.bfloat16)


class Again(unittest.TestCase):
    def setUp(self):
        self.looked_at = 0  # launches whose tensors and options were looked at
        argument_of, on_tensors = _launcher.argument_of, _launcher.Launcher.on_tensors

        def on_device(value, stream):
            out = argument_of(value, stream)
            return out._replace(device=0, stream=None) if isinstance(value, torch.Tensor) else out

        def looking(launcher, *operands, **named):
            self.looked_at += 1
            return on_tensors(launcher, *operands, **named)

        def start(kernel, launch):
            check(LIBRARY.wgrun_kernel_simulate(kernel._handle.value, ctypes.byref(launch)))

        for owner, name, stand_in in ((torch.Tensor, "get_device", lambda tensor: 0), (_launcher, "torch_stream", lambda device: 0),
                                      (_launcher, "argument_of", on_device), (_kernel.Kernel, "start", start),
                                      (_launcher.Launcher, "on_tensors", looking)):
            patch = mock.patch.object(owner, name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)
        for kept in (wt._products._known, wt._made.launcher):
            clear = kept.clear if isinstance(kept, dict) else kept.cache_clear
            clear()
            self.addCleanup(clear)

    def near(self, got, want):
        self.assertEqual(got.shape, want.shape)
        self.assertLess(((got.double() - want).norm() / want.norm()).item(), 0.01)

    def product(self, a, b, looked_at):
        before = self.looked_at
        self.near(wt.matmul(a, b), a.double() @ b.double())
        self.assertEqual(self.looked_at - before, looked_at)

    def test_other_tensors_of_the_same_kinds(self):
        self.product(random(48, 64), random(64, 32), 1)
        for _ in range(3):
            self.product(random(48, 64), random(64, 32), 0)

    def test_tensors_of_other_kinds(self):
        self.product(random(48, 64), random(64, 32), 1)
        self.product(random(48, 64), random(32, 64).t(), 1)  # where K is contiguous
        self.product(random(64, 48).t(), random(64, 32), 1)  # where M is
        self.product(random(40, 64), random(64, 32), 1)
        self.product(random(48, 64).half(), random(64, 32).half(), 1)
        for a, b in ((random(48, 64), random(64, 32)), (random(48, 64), random(32, 64).t()), (random(64, 48).t(), random(64, 32))):
            self.product(a, b, 0)

    def test_copies_are_made_each_time(self):
        for _ in range(2):
            self.product(random(48, 128)[:, ::2], random(64, 32), 1)

    def test_an_address_that_tma_does_not_take(self):
        self.product(random(48, 64), random(64, 32), 1)
        a = random(48 * 64 + 1)[1:].view(48, 64)
        self.assertNotEqual(a.data_ptr() % 16, 0)
        self.product(a, random(64, 32), 1)
        self.product(random(48, 64), random(64, 32), 0)

    def test_linear(self):
        for looked_at in (1, 0, 0):
            x, w = random(3, 16, 64), random(32, 64)
            before = self.looked_at
            self.near(wt.linear(x, w), x.double() @ w.double().T)
            self.assertEqual(self.looked_at - before, looked_at)
    def test_bias(self):
        w = random(32, 64)
        for looked_at, bias in ((1, random(32)), (0, random(32)), (0, random(32).float()), (1, random(33).float()[1:])):
            x = random(48, 64)
            before = self.looked_at
            self.near(wt.linear(x, w, bias), torch.nn.functional.linear(x.double(), w.double(), bias.double()))
            self.assertEqual(self.looked_at - before, looked_at)
        self.product(random(48, 64), w.t(), 1)

    def test_empty(self):
        for _ in range(2):
            self.assertEqual(wt.matmul(random(0, 64), random(64, 32)).shape, (0, 32))
            self.assertTrue((wt.matmul(random(8, 0), random(0, 16)) == 0).all())

    def test_not_more_than_are_kept(self):
        with mock.patch.object(wt._products, "_MOST_KNOWN", 2):
            for rows in (16, 24, 32, 40):
                self.product(random(rows, 64), random(64, 32), 1)
            self.assertLessEqual(len(wt._products._known), 2)


unittest.main()
