"""The Python package, with numpy on the simulator. Run by ctest; needs WGRUN_LIBRARY and the package on PYTHONPATH."""

import array
import gc
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

import numpy as np

import wgrun
from wgrun import _launcher

SCALE = """
local wg = require "wgrun"
local times = tonumber((...) or "1")
local scale = wg.kernel("scale", { threads = 128 }, function(k)
  local A, n, f = k:param("A", "f32*"), k:param("n", "u32"), k:param("f", "f32")
  local i = k:special "ctaid.x" * 128 + k:special "tid.x"
  k:if_(i:lt(n), function()
    local address = k:element(A, i)
    k:st_global_f32(address, k:ld_global_f32(address) * f * times)
  end)
end)
print("made", scale.name)
return scale
"""

COPY = """
local wg = require "wgrun"
local function copy(dtype)
  return wg.kernel("copy", { threads = 32 }, function(k)
    local from, to = k:param("from", "const " .. dtype .. "*"), k:param("to", dtype .. "*")
    local i = k:special "tid.x"
    k:%s(k:element(to, i), k:%s(k:element(from, i)))
  end)
end
return copy "%s"
"""

UNFENCED = """
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64 }
return wg.kernel("unfenced", { threads = 128 }, function(k)
  local A = k:param("A", "const bf16*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  for _, t in ipairs { a, b } do
    k:copy_tile { to = t, from = A, ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
  end
  k:bar_sync(0)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, scale_d = 0 })
  k:wgmma_wait_group(0)
end)
"""


def quiet(text, *arguments, **options):
    with redirect_stdout(io.StringIO()):
        return wgrun.loads(text, *arguments, **options)


def bf16(values):
    """The upper halves of numbers that bf16 has exactly."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


class Loading(unittest.TestCase):
    def test_what_a_script_prints_goes_where_print_goes(self):
        out = io.StringIO()
        with redirect_stdout(out):
            script = wgrun.loads(SCALE, 2)
        self.assertEqual(out.getvalue(), "made\tscale\n")
        out = io.StringIO()
        with redirect_stdout(out):
            wgrun.loads('require("wgrun").layout("(2,2):(2,1)"):print()')
        self.assertIn("mode 0 down", out.getvalue())
        self.assertEqual(script.names, ("scale",))
        self.assertIs(script.only, script.scale)
        self.assertIs(script[0], script["scale"])
        self.assertEqual(len(script.kernels), 1)

    def test_layouts(self):
        k_major = wgrun.layout("Sw<3,4,3> o (8,64):(64,1)")
        self.assertEqual((k_major.major, k_major.swizzle, k_major.lbo, k_major.sbo), ("K", "128B", 16, 1024))
        self.assertEqual((k_major.layout_type, k_major.tma_swizzle), (1, 3))
        self.assertTrue(k_major.canonical and k_major.operand)
        none = wgrun.layout("(8,8):(8,1)", "f16")
        self.assertEqual((none.swizzle, none.layout_type, none.tma_swizzle), ("none", 0, 0))
        self.assertFalse(wgrun.layout("(8,64):(64,1)").canonical)
        with self.assertRaises(wgrun.ScriptError):
            wgrun.layout("no layout")

    def test_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.lua"
            path.write_text(SCALE)
            with redirect_stdout(io.StringIO()):
                kernel = wgrun.load(path, 3).only
            self.assertEqual(kernel.file, str(path))
        with self.assertRaises(wgrun.FileError) as caught:
            wgrun.load("no such file.lua")
        self.assertIn("no such file.lua", str(caught.exception))

    def test_descriptions(self):
        kernel = quiet(SCALE).only
        self.assertEqual([(p.name, p.type, p.kind, p.dtype) for p in kernel.parameters],
                         [("A", "f32*", "pointer", "f32"), ("n", "u32", "integer", None), ("f", "f32", "real", None)])
        self.assertEqual((kernel.threads, kernel.cluster, kernel.shared_bytes), (128, (1, 1, 1), 0))
        self.assertIn("scale(A: f32*, n: u32, f: f32)", repr(kernel))
        self.assertIn(".entry scale", kernel.ptx())
        self.assertIn("scale(", kernel.cuda())
        self.assertEqual(kernel.check(grid=2, arguments=(None, 3, 1.0)), [])
        (box,) = wgrun.loads("""return require("wgrun").kernel("t", {}, function(k)
          k:tensor_map("A", { dtype = "bf16", box = { 64, 32 }, swizzle = "128B", constant = true }) end)
          """).only.parameters
        self.assertEqual((box.kind, box.dtype, box.const, box.box, box.swizzle),
                         ("tensor map", "bf16", True, (64, 32), 128))

    def test_verdicts_of_given_launches(self):
        kernel = quiet(SCALE, name="scale.lua").only
        self.assertEqual({one.verdict for one in kernel.verdicts(budget=0)}, {"proved", "undecided"})
        self.assertEqual(kernel.verdicts(assume={"n": 1000})[0].domain, "all launches with n = 1000")
        waits = quiet("""return require("wgrun").kernel("waits", { threads = 64 }, function(k)
          local bar, tid = k:shared { bytes = 8, align = 8, name = "bar" }, k:special "tid.x"
          k:if_(tid:eq(0), function() k:mbarrier_init(bar, 1) end)
          k:bar_sync(0)
          k:if_(tid:eq(0), function() k:if_(k:special "ctaid.x":ne(5), function() k:mbarrier_arrive(bar) end) end)
          k:if_(tid:eq(32), function() k:mbarrier_wait(k:address(bar), 0) end)
        end)""").only
        ends = [waits.verdicts(grid=grid)[0] for grid in (None, 4, (6, 2))]
        self.assertEqual([one.verdict == "proved" for one in ends], [False, True, False], ends)
        self.assertEqual(ends[1].domain, "all launches of grids of 4")
        self.assertEqual(kernel.verdicts(grid=np.int64(4), assume={"n": np.int32(1000)})[0].verdict, "proved")
        for given, why in (({"assume": {"n": 1.5}}, "integer is expected"), ({"grid": "7"}, "integer is expected"),
                           ({"grid": (4, 1.0)}, "integer is expected"), ({"budget": "1"}, "0 or more"), ({"assume": {"m": 1}}, "no number `m`"), ({"assume": {"n\0": 1}}, "has a NUL"),
                           ({"assume": {"n": 1 << 70}}, "none of"), ({"assume": {"n": 1 << 40}}, "n"), ({"grid": 0}, "at least 1"),
                           ({"grid": (1, 2, 3, 4)}, "one to three"), ({"budget": -1}, "0 or more"), ({"budget": float("nan")}, "0 or more")):
            with self.assertRaisesRegex(wgrun.ArgumentError, why, msg=given):
                kernel.verdicts(**given)

    def test_verdicts_say_what_the_tool_says(self):
        verdicts = quiet(SCALE, name="scale.lua").only.verdicts()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "scale.lua").write_text(SCALE)
            told = subprocess.run([os.environ["WGRUN_TOOL"], "check", "--json", "scale.lua"], cwd=folder, capture_output=True, check=True)
        [kernel] = json.loads(told.stdout)["kernels"]
        self.assertEqual([wgrun.Verdict(**one) for one in kernel["verdicts"]], verdicts)
        self.assertEqual({one.verdict for one in verdicts}, {"proved"})
        self.assertEqual(str(verdicts[0]), "no-deadlock: proved: all launches with n >= 1")
        [bounds] = [one for one in verdicts if one.property == "bounds"]
        self.assertTrue(str(bounds).startswith("bounds: proved: all launches with n >= 1 where "), str(bounds))

    def test_errors_of_scripts(self):
        for text, message in (("return return", "near"), ("\nerror('no', 0)", "no"),
                              ("require('wgrun').tile{dtype = 'bf15', mn = 64, k = 64}", "bf15"), ("os.exit(3)", "os.exit(3)")):
            with self.assertRaises(wgrun.ScriptError) as caught:
                wgrun.loads(text, name="x.lua")
            self.assertIn(message, str(caught.exception))
        self.assertIsInstance(caught.exception, wgrun.Error)
        with self.assertRaises(wgrun.ScriptError):  # it made a kernel, returned none and stopped
            wgrun.loads("local k = require('wgrun').kernel('k', {}, function() end) error 'wrong'")
        script = wgrun.loads("return require('wgrun').kernel('k', {}, function() end), 5")
        with self.assertRaises(AttributeError):
            script.nothing
        with self.assertRaises(KeyError):
            script["nothing"]

    def test_findings_print_as_the_tool_does(self):
        kernel = wgrun.loads(UNFENCED, name="unfenced.lua").only
        findings = kernel.check()
        self.assertEqual(findings[0].rule, "WG-PROXY-01")
        self.assertEqual(findings[0].severity, "error")
        self.assertTrue(findings[0].notes)
        self.assertEqual(json.loads(findings.json)["findings"][0]["rule"], "WG-PROXY-01")
        with self.assertRaises(wgrun.CheckError) as caught:
            kernel[1](wgrun.view(np.zeros((64, 64), np.uint16), "bf16"))
        self.assertTrue(str(caught.exception).startswith("unfenced.lua:13: error: "), str(caught.exception))
        self.assertIn("[WG-PROXY-01]", str(caught.exception))
        self.assertIn("\n  fix: ", str(caught.exception))
        self.assertEqual([f.rule for f in caught.exception.findings], [f.rule for f in findings.errors])


class Simulating(unittest.TestCase):
    def test_in_place(self):
        kernel = quiet(SCALE, 10).only
        a = np.arange(300, dtype=np.float32)
        kernel[3](a, 299, 0.5)
        self.assertTrue((a[:299] == 5 * np.arange(299)).all() and a[299] == 299)
        kernel(a, np.int64(1), np.float32(2), grid=(1, 1, 1), backend="sim", seed=3)
        self.assertEqual(a[0], 0)

    def test_dtypes(self):
        for dtype, numpy_dtype, width in (("f64", np.float64, "f64"), ("s32", np.int32, "b32"), ("u32", np.uint32, "b32"),
                                          ("s64", np.int64, "b64"), ("u64", np.uint64, "b64")):
            kernel = wgrun.loads(COPY % (f"st_global_{width}", f"ld_global_{width}", dtype)).only
            a, b = np.arange(32).astype(numpy_dtype), np.zeros(32, numpy_dtype)
            kernel[1](a, b)
            self.assertTrue((a == b).all(), dtype)

    def test_memory_without_numpy(self):
        class Foreign:  # an array of a package that nobody has heard of
            def __init__(self, values):
                self.values = np.array(values, np.float32)

            def __dlpack__(self, stream=None):
                return self.values.__dlpack__()

            def __dlpack_device__(self):
                return self.values.__dlpack_device__()

        kernel = quiet(SCALE).only
        a = Foreign([1, 2, 3])
        kernel[1](a, 3, 2)
        self.assertEqual(a.values.tolist(), [2, 4, 6])
        for wrong in (array.array("f", [1]), "x", None, [1.0], object()):
            with self.assertRaises(wgrun.ArgumentError):
                kernel[1](wrong, 1, 1)

    def test_refused(self):
        kernel = quiet(SCALE).only
        a = np.zeros((4, 4), np.float32)
        frozen = a.copy()
        frozen.flags.writeable = False
        for arguments, message in (
            ((a.T, 1, 1), "contiguous"), ((a[:, ::2], 1, 1), "contiguous"), ((a[::-1], 1, 1), "contiguous"), ((a.astype("f2"), 1, 1), "f16"),
            ((a.astype("c8"), 1, 1), "complex64"), ((a.astype(">f4"), 1, 1), "big-endian"), ((frozen, 1, 1), "read-only"),
            ((a, 1), "takes 3 arguments (A, n, f), not 2"), ((a, -1, 1), "-1 does not fit u32"), ((a, 1.5, 1), "1.5"),
            ((a, 1 << 70, 1), "64 bits"), ((a, a, 1), "a number of type u32"), ((1, 1, 1), "not a number"),
        ):
            with self.assertRaises(wgrun.ArgumentError) as caught:
                kernel[1](*arguments)
            self.assertIn(message, str(caught.exception))
        for grid in (0, (), (1, 1, 1, 1), -1, "x", 1.0, [None], object(), np.ones(2, "f4")):
            with self.assertRaises(wgrun.ArgumentError):
                kernel[grid](a, 1, 1)
        for options in ({"block": "x"}, {"cluster": 1.0}, {"shared": -1}, {"shared": 1 << 64}):
            with self.assertRaises(wgrun.ArgumentError):
                kernel(a, 1, 1, grid=np.int64(1), **options)
        with self.assertRaises(wgrun.ArgumentError):
            kernel(a, 1, 1)
        for options in ({"backend": "gpu"}, {"backend": "tpu"}, {"numerics": "h300"}, {"stream": "x"}):
            with self.assertRaises(wgrun.ArgumentError):
                kernel(a, 1, 1, grid=1, **options)
        self.assertEqual(kernel[1](frozen.reshape(-1)[:1].copy(), 1, 1), None)

    def test_beyond_the_end(self):
        kernel = quiet(SCALE).only
        with self.assertRaises(wgrun.CheckError) as caught:
            kernel[1](np.zeros(3, np.float32), 4, 1)
        self.assertIn("WG-MEM-", str(caught.exception))

    def test_empty(self):
        quiet(SCALE).only[1](np.zeros((0, 5), np.float32), 0, 1)

    def test_an_interrupt_ends_a_simulation(self):
        endless = wgrun.loads("""return require("wgrun").kernel("endless", { threads = 32 }, function(k)
            local A = k:param("A", "u32*")
            k:while_(function() return k:ld_global_b32(k:element(A, 0)):eq(0) end, function() end)
          end)""").only
        begun = time.monotonic()
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            endless[1](np.zeros(1, np.uint32), unchecked=True)
        self.assertLess(time.monotonic() - begun, 30)

    def test_an_interrupt_ends_what_takes_long(self):
        """A script, a check and the compiler: Ctrl-C comes where Python runs nothing."""
        gc.collect()
        gc.disable()  # an exception within __del__ is lost
        self.addCleanup(gc.enable)

        def interrupted(work):
            begun = time.monotonic()
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            with self.assertRaises(KeyboardInterrupt):
                work()
            self.assertLess(time.monotonic() - begun, 10)

        handler = signal.getsignal(signal.SIGINT)
        interrupted(lambda: wgrun.loads("local function f() while true do end end while true do pcall(f) end"))
        def heavy():
            return wgrun.loads("""return require("wgrun").kernel("heavy", { threads = 32 }, function(k)
              local A, x = k:param("A", "u32*"), k:special "tid.x"
              for _ = 1, 250000 do x = x + 1 end
              k:st_global_u32(k:element(A, 0), x)
            end)""").only

        kernels = [heavy() for _ in range(8)]  # a check is made once
        interrupted(lambda: [kernel.check() for kernel in kernels] + [kernel.cubin() for kernel in kernels])
        self.assertEqual(signal.getsignal(signal.SIGINT), handler)
        self.assertEqual(kernels[0].name, "heavy")

    def test_a_cancellation_around_another(self):
        with wgrun.Cancellation() as outer, wgrun.Cancellation():
            threading.Timer(0.2, outer.request).start()
            begun = time.monotonic()
            with self.assertRaises(wgrun.Interrupted):
                wgrun.loads("while true do end")
            self.assertLess(time.monotonic() - begun, 10)

    def test_a_cancellation_ends_calls_of_its_thread(self):
        with wgrun.Cancellation() as cancellation:
            kernel = quiet(SCALE).only
            threading.Timer(0.2, cancellation.request).start()
            with self.assertRaises(wgrun.Interrupted) as caught:
                wgrun.loads("while true do end")
            self.assertEqual(caught.exception.code, "EINTR")
            for work in (kernel.check, kernel.ptx, kernel.cuda, kernel.verdicts, kernel.cubin):
                with self.assertRaises(wgrun.Interrupted):
                    work()
            others = []
            thread = threading.Thread(target=lambda: others.append(kernel.check()))
            thread.start()
            thread.join()
            self.assertEqual(len(others), 1)
        self.assertEqual(kernel.check(), [])

    def test_a_cancellation_ends_handlers_of_errors(self):
        loop = "function() while true do end end"
        for text in (f"xpcall({loop}, {loop})", f"xpcall(error, {loop})", f"while true do xpcall(error, {loop}) end",
                     f"coroutine.wrap(function() xpcall({loop}, {loop}) end)()"):
            with wgrun.Cancellation() as cancellation:
                threading.Timer(0.1, cancellation.request).start()
                with self.assertRaises(wgrun.Interrupted):
                    wgrun.loads(text)

    def test_errors_without_a_text(self):
        for code, message in (("error({})", "(error object is a table value)"), ("error()", "(error object is a nil value)")):
            with self.assertRaises(wgrun.ScriptError) as caught:
                wgrun.loads(code)
            self.assertIn(message, str(caught.exception))

    def test_one_tenants_texts_and_names_are_none_of_anothers(self):
        filling = """local wg = require "wgrun"
          for i = 1, 100 do
            wg.kernel("k", { threads = 32 }, function(k)
              k:asm { ("mov.u32 %d, 1;"):rep(5000) .. "mov.u32 %d, " .. i .. ";", out = { d = "u32" }, effects = "none" }
            end)
            load("return require 'wgrun'.kernel('n', { threads = 32 }, function() end)", ("x"):rep(60000) .. i)()
          end"""
        wgrun.loads(filling, restricted=True)
        kernel = wgrun.loads("""return require "wgrun".kernel("k", { threads = 32 }, function(k)
            local d = k:param("D", "u32*")
            k:st_global_u32(k:element(d, 0), k:asm { "mov.u32 %d, 7;", out = { d = "u32" }, effects = "none" })
          end)""", name="honest.lua").only
        self.assertIn("honest.lua:3", kernel.ptx())

    def test_threads(self):
        kernel = quiet(SCALE).only
        wrong = []

        def work(number):
            mine = quiet(SCALE).only
            for _ in range(3):
                a, b = np.ones(64, np.float32), np.ones(64, np.float32)
                mine[1](a, 64, number)
                kernel[1](b, 64, number)  # the same for all threads
                if not ((a == number).all() and (b == number).all()):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_collected_in_any_order(self):
        for _ in range(3):
            script = quiet(SCALE)
            kernel = script.only
            del script
            gc.collect()
            kernel[1](np.ones(1, np.float32), 1, 1)
            del kernel
        gc.collect()


class Gemm(unittest.TestCase):
    def operands(self, m, n, k, seed=1):
        random = np.random.default_rng(seed)
        a, b = random.integers(-4, 5, (m, k)).astype(np.float32), random.integers(-4, 5, (n, k)).astype(np.float32)
        return a, b, wgrun.view(bf16(a), "bf16"), wgrun.view(bf16(b), "bf16")

    def test_product(self):
        gemm = wgrun.gemm(dtype="bf16", d="f32", tile=(64, 64, 64))
        for m, n, k in ((64, 64, 64), (72, 40, 136), (64, 64, 64)):
            a, b, a16, b16 = self.operands(m, n, k)
            d = np.full((m, n), np.nan, np.float32)
            gemm(a16, b16, d)
            self.assertTrue((d == a @ b.T).all())

    def test_epilogue(self):
        gemm = wgrun.gemm(dtype="bf16", d="f32", problem=(64, 64, 64),
                          epilogue={"alpha": True, "beta": True, "bias": "column", "activation": "relu"})
        a, b, a16, b16 = self.operands(64, 64, 64)
        c, bias = np.ones((64, 64), np.float32), np.arange(64, dtype=np.float32)
        d = np.zeros((64, 64), np.float32)
        gemm(a16, b16, d, alpha=0.5, beta=2, C=c, bias=bias)
        self.assertTrue((d == np.maximum(0.5 * (a @ b.T) + 2 * c + bias, 0)).all())
        with self.assertRaises(wgrun.Error) as caught:
            gemm(a16, b16, d, alpha=0.5, beta=2, C=c, bias=bias[:5].copy())
        self.assertIn("bias must be a vector of 64", str(caught.exception))
        with self.assertRaises(wgrun.Error) as caught:
            gemm(a16, b16, d)
        self.assertIn("`C` is missing", str(caught.exception))

    def test_tuples_are_lists_of_the_launch(self):
        gemm = wgrun.gemm(collective="all_gather", devices=2, tile=(64, 64, 64))
        _, _, a, b = self.operands(64, 64, 64)
        d, flags = wgrun.view(np.zeros((128, 64), np.uint16), "bf16"), np.zeros(7, np.uint32)
        for second, text in ((flags, "gathered is 64 x 64, must be at least 128 x 64"), (flags[1:].copy(), "tensors of one shape")):
            with self.assertRaises(wgrun.Error) as caught:
                gemm(a, b, d, rank=0, flags=(flags, second), shards=(a, a), gathered=a)
            self.assertIn(text, str(caught.exception))

    def test_workspaces(self):
        a, b, a16, b16 = self.operands(64, 64, 640)
        gemm = wgrun.gemm(dtype="bf16", d="f32", tile=(64, 64, 64), splits=9)
        for _ in range(2):  # what the kernel counts in is zero again afterwards
            d = np.full((64, 64), np.nan, np.float32)
            gemm(a16, b16, d)
            self.assertTrue((d == a @ b.T).all())
        gemm = wgrun.gemm(dtype="bf16", d="f32", tile=(64, 64, 64), raster="hilbert")
        d = np.full((64, 64), np.nan, np.float32)
        gemm(a16, b16, d)
        self.assertTrue((d == a @ b.T).all())

    def test_whose_a_workspace_on_a_device_is(self):
        gemm = wgrun.gemm(dtype="bf16", d="f32", tile=(64, 64, 64), splits=9)
        _, _, a16, b16 = self.operands(64, 64, 640)
        gemm(a16, b16, np.zeros((64, 64), np.float32))
        (plan,) = gemm._plans.values()
        capture, made = None, []

        class Filled:  # what torch.zeros and torch.empty return
            def data_ptr(self):
                made.append(self)
                return id(self)

        torch = types.SimpleNamespace(
            cuda=types.SimpleNamespace(is_current_stream_capturing=lambda: capture is not None), uint8=None,
            zeros=lambda size, dtype, device: Filled(), empty=lambda size, dtype, device: Filled())

        def addresses(stream):
            return [plan.workspace(i, 0, stream).address for i in plan.sizes if not plan.read[i]]

        with mock.patch.dict(sys.modules, torch=torch), mock.patch.object(_launcher, "_capture_of", lambda stream: capture):
            seen = [addresses(1)]
            self.assertEqual(addresses(1), seen[0])  # a stream's launches follow each other
            seen.append(addresses(2))
            for capture in (7, 8):  # a graph's do among themselves, but may run beside the stream's and another graph's
                for stream in (1, 2):
                    seen.append(addresses(stream))
                    self.assertEqual(addresses(stream), seen[-1])
            capture = None
            self.assertEqual(addresses(1), seen[0])
        every = [address for some in seen for address in some]
        self.assertTrue(seen[0])
        self.assertEqual(len(set(every)), len(every))

    def test_a_workspace_of_two_launches(self):
        script = quiet(SCALE.replace("return scale", """
          local sums, other = wg.zeros("f32", { 128 }), wg.zeros("f32", { 128 })
          local function step(sums) return { kernel = scale, launch = function(self, A)
            return { grid = 1, args = { sums, 128, 2.0 } }
          end } end
          return { one = step(sums), two = step(sums), three = step(other) }"""))
        a = np.ones(128, np.float32)
        for step in script:
            step(a)
        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(is_current_stream_capturing=lambda: False), uint8=None,
                                      zeros=lambda size, dtype, device: Memory())

        class Memory:
            def data_ptr(self):
                return id(self)

        def address(step, stream):
            (plan,) = step._plans.values()
            return plan.workspace(0, 0, stream).address

        with mock.patch.dict(sys.modules, torch=torch):
            first = address(script.one, 1)
            self.assertEqual(address(script.two, 1), first)
            self.assertEqual(len({address(script.one, 1), address(script.two, 2), address(script.three, 1)}), 3)

    def test_refused(self):
        with self.assertRaises(wgrun.ScriptError) as caught:
            wgrun.gemm(dtype="bf17")
        self.assertIn("bf17", str(caught.exception))
        with self.assertRaises(wgrun.ArgumentError):
            wgrun.gemm(dtype=object())
        gemm = wgrun.gemm(dtype="bf16", d="f32", problem=(64, 64, 64))
        a, b, a16, b16 = self.operands(64, 64, 64)
        with self.assertRaises(wgrun.ArgumentError):
            gemm(a, b16, np.zeros((64, 64), np.float32))
        with self.assertRaises(wgrun.Error) as caught:
            gemm(a16, b16, np.zeros((64, 65), np.float32))
        self.assertIn("D is 64 x 65", str(caught.exception))

    def test_a_script_s_own_launcher(self):
        launcher = quiet(SCALE.replace("return scale", """
          return { double = { kernel = scale, launch = function(self, A, options)
            assert(A.dtype == "f32" and not pcall(function() return A[1] end))
            return { grid = (A.shape[1] + 127) // 128, args = { A, A.shape[1], options and options.by or 2.0 } }
          end } }""")).double
        a = np.ones(200, np.float32)
        launcher(a)
        launcher(a, by=3)
        self.assertTrue((a == 6).all())


class Restricted(unittest.TestCase):
    SPIN = """
local wg = require "wgrun"
local function spin(n)
  return wg.kernel("spin", { threads = 32 }, function(k) k:loop(n, function() end) end)
end
return { long = spin(4000000000), short = spin(10) }
"""

    def test_what_a_restricted_script_has_not(self):
        for text in ("io.open 'x'", "os.execute 'true'", "require 'debug'", "require 'wgrun'.load 't.npy'"):
            with self.assertRaises(wgrun.ScriptError):
                wgrun.loads(text, restricted=True)
        wgrun.loads("assert(io.open and debug)")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "script.lua"
            file.write_text("assert(not io) return require 'wgrun'.kernel('k', {}, function() end)")
            self.assertEqual(wgrun.load(file, restricted=True).only.name, "k")

    def test_limits(self):
        for limits, text, words in (
            (wgrun.Limits(seconds=0.2), "while true do pcall(function() while true do end end) end", "0.2 s"),
            (wgrun.Limits(memory=20 << 20), "local s = 'x' while true do s = s .. s end", "20 MiB"),
            (wgrun.Limits(instructions=5000), "while true do end", "5000 instructions"),
            (wgrun.Limits(tensors=1 << 20), "require 'wgrun'.zeros('u8', { 2 << 20 })", "tensors may use 1 MiB"),
        ):
            with self.assertRaises(wgrun.LimitError) as caught:
                wgrun.loads(text, limits=limits)
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(wgrun.LimitError) as caught:
            wgrun.loads("('x'):rep(1 << 30)", restricted=True)
        self.assertIn("512 MiB", str(caught.exception))
        for wrong in (-1, float("nan"), "x", True, 2**50):
            with self.assertRaises(wgrun.ArgumentError):
                wgrun.loads("", limits=wgrun.Limits(memory=wrong))

    def test_scripts_have_limits_of_their_own(self):
        few = wgrun.loads(self.SPIN, restricted=True, limits=wgrun.Limits(steps=1000))
        brief = wgrun.loads(self.SPIN, limits=wgrun.Limits(seconds=2))
        for _ in range(2):
            with self.assertRaises(wgrun.LimitError) as caught:
                few.long(grid=1, backend="sim")
            self.assertIn("1000 steps", str(caught.exception))
            with self.assertRaises(wgrun.Error) as caught:
                brief.long(grid=1, backend="sim")
            self.assertIn("2 s", str(caught.exception))
            few.short(grid=1, backend="sim")
            brief.short(grid=1, backend="sim")


class Foreign(unittest.TestCase):
    """Kernels of a PTX text take arrays, and what their text leaves to the launch."""

    def setUp(self):
        rows = Path(__file__).resolve().parents[1] / "ptx" / "rows.ptx"
        self.softmax = wgrun.loads(f'return require("wgrun").ptx({json.dumps(str(rows))}).softmax').only
        self.x = np.random.default_rng(1).standard_normal((3, 300), np.float32)

    def test_arrays(self):
        y = np.zeros_like(self.x)
        self.softmax[3](self.x, y, 300, block=96, shared=1200)
        powers = np.exp(self.x - self.x.max(1, keepdims=True))
        np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), atol=1e-6)
        again = np.zeros_like(y)
        self.softmax(self.x, again, 300, grid=(3,), block=(32, 1, 1), shared=1200)
        np.testing.assert_allclose(again, y, atol=1e-6)

    def test_what_the_launch_leaves_out_or_gets_wrong(self):
        y = np.zeros_like(self.x)
        with self.assertRaisesRegex(wgrun.ArgumentError, "does not say how many threads a CTA has"):
            self.softmax[3](self.x, y, 300, shared=1200)
        with self.assertRaisesRegex(wgrun.ArgumentError, "bytes of shared memory: 0 to"):
            self.softmax[3](self.x, y, 300, block=96, shared=1 << 30)
        with self.assertRaisesRegex(wgrun.CheckError, "outside every buffer"):
            self.softmax[3](self.x, y, 300, block=96)
        with self.assertRaisesRegex(wgrun.CheckError, "past the end of"):
            self.softmax[3](self.x, y[:2].copy(), 300, block=96, shared=1200)
        with self.assertRaises(wgrun.ArgumentError):
            self.softmax[3](self.x, 0.5, 300, block=96, shared=1200)

    def test_a_kernel_of_a_script_has_its_own(self):
        scale = wgrun.loads(SCALE).only
        with self.assertRaisesRegex(wgrun.ArgumentError, "this one has its own"):
            scale[1](np.ones(4, np.float32), 4, 2.0, block=96)


class Ptx(unittest.TestCase):
    """Kernels that other compilers have made."""

    TEXT = (Path(__file__).resolve().parents[1] / "ptx" / "missing_fence.ptx").read_text()

    def test_findings_name_lines_of_the_text_and_of_the_source(self):
        findings = wgrun.check_ptx(self.TEXT)
        self.assertEqual([(one.rule, one.line) for one in findings.errors], [("WG-FENCE-01", 32)])
        self.assertIn(("product.cu", 15), [(note.file, note.line) for note in findings.errors[0].notes])
        self.assertIn("product.cu:15", str(findings))

    def test_verdicts_name_the_text(self):
        verdicts = wgrun.check_ptx(self.TEXT).verdicts["product"]
        [registers] = [one for one in verdicts if one.property == "wgmma-registers"]
        self.assertEqual((registers.verdict, registers.reason, registers.file, registers.line),
                         ("refuted", "WG-FENCE-01", "stdin", 32))
        self.assertEqual(len(verdicts), 14)

    def test_a_text_without_faults_has_no_findings(self):
        self.assertEqual(wgrun.check_ptx(".version 8.0\n.target sm_90a\n.address_size 64\n"), [])

    def test_what_is_no_text_is_refused(self):
        for what in (None, self.TEXT.encode(), 3):
            with self.assertRaisesRegex(TypeError, f"a text of type {type(what).__name__}: str"):
                wgrun.check_ptx(what)

    def test_a_cancellation_ends_the_tool(self):
        """Of a table of jumps that takes half a minute."""
        slow = (".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .u32 %r;\nmov.u32 %r, %tid.x;\n"
                f"L: t: .branchtargets {', '.join(['L'] * 20000)};\nbrx.idx %r, t;\nret;\n}}\n")
        with wgrun.Cancellation() as cancellation:
            threading.Timer(0.3, cancellation.request).start()
            begun = time.monotonic()
            with self.assertRaises(wgrun.Interrupted):
                wgrun.check_ptx(slow)
            self.assertLess(time.monotonic() - begun, 10)

    def test_what_is_no_ptx_has_findings(self):
        self.assertTrue(wgrun.check_ptx(".version 8.0\n.target sm_90a\n.visible .entry f()\n{\nmov.u32 %r1 %r2;\n}\n").errors)

    def test_what_triton_has_compiled_is_its_ptx(self):
        class Compiled:
            asm = {"ptx": self.TEXT}

        [finding] = wgrun.check_triton(Compiled)
        self.assertEqual((finding.rule, finding.file, finding.line), ("WG-FENCE-01", "product.cu", 15))
        self.assertIn(("kernel.ptx", 32), [(note.file, note.line) for note in finding.notes])
        self.assertEqual(wgrun.check_triton(Compiled).kernels, ["product"])


if __name__ == "__main__":
    unittest.main()
