"""What tools ask of kernels in Python: reports, source maps, timelines, files, sizes, tuning, progress, and scripts that run
again. Run by ctest; needs WGRUN_LIBRARY, WGRUN_TOOL and the package on PYTHONPATH."""

import json
import os
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np

import wgrun

SCALE = """
local wg = require "wgrun"
local factor = tonumber((...)) or 2
calls = (calls or 0) + 1
assert(calls == 1 and arg[1] == (...))
local scale = wg.kernel("scale" .. (select(2, ...) or ""), { threads = 128 }, function(k)
  local A, n = k:param("A", "f32*"), k:param("n", "u32")
  local i = k:special "ctaid.x" * 128 + k:special "tid.x"
  k:if_(i:lt(n), function()
    local address = k:element(A, i)
    k:st_global_f32(address, k:ld_global_f32(address) * factor)
  end)
end)
scale:sizes { n = { 1, 300 }, run = function(size)
  local A = wg.ones("f32", { size.n })
  scale:run { grid = (size.n + 127) // 128, args = { A, size.n } }
  assert(A[size.n - 1] == factor, "the last element is not scaled")
  assert(size.n ~= 129, "not with 129")
end }
scale:launch_rule { notes = { n = "the elements of A" } }
return scale
"""

FILL = """
local wg = require "wgrun"
return wg.tuning { name = "fill", space = { threads = { 32, 64, 96 } }, build = function(options)
  if options.threads == 96 then return nil, "no " .. options.threads end
  local begin = os.clock()  -- progress is told of what takes long
  repeat until os.clock() - begin > 0.05
  local fill = wg.kernel("fill", { threads = options.threads }, function(k)
    local X = k:param("X", "f32*")
    k:loop(20, function() k:st_global_f32(k:element(X, k:special "tid.x"), 1.0) end)
  end)
  return fill, { grid = 4096 // options.threads, args = { wg.zeros("f32", { 128 }) } }
end }
"""


def tool(folder, *words):
    return subprocess.run([os.environ["WGRUN_TOOL"], *words], cwd=folder, capture_output=True, text=True, check=False)


class Kernels(unittest.TestCase):
    def setUp(self):
        self.script = wgrun.loads(SCALE, name="scale.lua")
        self.kernel = self.script.only
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "scale.lua").write_text(SCALE)

    def test_the_report_is_the_tool_s(self):
        told = tool(self.folder, "report", "--json", "scale.lua")
        try:
            report = self.kernel.report()
        except (wgrun.FileError, wgrun.DeviceError) as error:
            self.assertNotEqual(told.returncode, 0)
            self.skipTest(f"no assembler: {error}")
        [expected] = json.loads(told.stdout)["kernels"]
        fields = {name: getattr(report, name) for name in expected}
        self.assertEqual({**fields, "notes": list(report.notes)}, expected)
        self.assertEqual((report.ctas_per_sm, report.limited_by, report.findings), (16, "threads", []))

    def test_lines_of_texts_come_from_lines_of_the_script(self):
        lines = self.kernel.ptx().splitlines()
        places = self.kernel.source_map()
        self.assertEqual(len(places), len(lines))
        [store] = [place for place, line in zip(places, lines) if "st.global" in line]
        self.assertEqual(store, ("scale.lua", 11))
        self.assertIn(None, places)
        self.assertEqual(len(self.kernel.source_map("cuda")), len(self.kernel.cuda().splitlines()))
        with self.assertRaises(wgrun.ArgumentError):
            self.kernel.source_map("sass")

    def test_a_timeline_is_the_tool_s(self):
        A = np.ones(300, np.float32)
        timeline = self.kernel.timeline(A, 300, grid=3)
        self.assertTrue((A[:128] == 2).all())
        (self.folder / "launch.lua").write_text(SCALE.replace(
            "return scale", 'scale:run { grid = 3, args = { wg.ones("f32", { 300 }), 300 } }'))
        told = json.loads(tool(self.folder, "timeline", "--json", "launch.lua").stdout)
        self.assertEqual(json.loads(timeline.json.replace("scale.lua", "launch.lua")), told)
        self.assertEqual((timeline.kernel, timeline.source, timeline.cycles), ("scale", "model", told["cycles"]))
        self.assertEqual({one.what for one in timeline.requests}, {"ld.global", "st.global"})
        self.assertEqual({one.line for one in timeline.requests}, {11})
        self.assertTrue(all(0 <= span.row < len(timeline.rows) for span in timeline.spans))
        self.assertTrue(timeline.svg().startswith("<svg"))
        self.assertEqual(timeline._repr_svg_(), timeline.svg())
        self.assertTrue(timeline.html(0, 100).startswith("<!doctype html>"))
        self.assertIn("traceEvents", json.loads(timeline.perfetto()))
        self.assertEqual(str(timeline), timeline.text())
        self.assertGreater(len(timeline.text(columns=120)), len(timeline.text(columns=60)))
        with self.assertRaises(wgrun.ArgumentError):
            timeline.text(columns=3)

    def test_a_profile(self):
        profile = self.kernel.profile(np.ones(300, np.float32), 300, grid=3)
        self.assertEqual((profile.source, profile.memory_busy), ("simulator", None))
        for wrong in ({"clusters": 0}, {"events": 0}, {"backend": "none"}):
            with self.assertRaises(wgrun.ArgumentError):
                self.kernel.profile(np.ones(300, np.float32), 300, grid=3, **wrong)

    def test_timelines_of_wrong_launches(self):
        with self.assertRaises(wgrun.CheckError):
            self.kernel.timeline(np.ones(3, np.float32), 4, grid=1)
        with self.assertRaises(wgrun.ArgumentError):
            self.kernel.timeline(np.ones(3, np.float32), grid=1)
        with self.assertRaises(wgrun.ArgumentError):
            self.kernel.timeline(np.ones(3, np.float32), 3)

    def test_exported_files_are_the_tool_s(self):
        tool(self.folder, "export", "scale.lua", "-o", "told")
        files = {one.name: one for one in wgrun.export(self.kernel, self.folder / "made")}
        self.assertEqual(set(files), {path.name for path in (self.folder / "told").iterdir()})
        for name, file in files.items():
            self.assertEqual((self.folder / "made" / name).read_bytes(), file.content)
            self.assertEqual((self.folder / "told" / name).read_bytes(), file.content)
            self.assertEqual(file.registers is None, "scale.cubin" not in files)
        self.assertEqual(json.loads(files["scale.json"].content)["arguments"][1]["note"], "the elements of A")

    def test_exports_in_memory(self):
        files = wgrun.export([self.kernel, self.script.again(3, "_again").only])
        self.assertEqual({one.kernel for one in files}, {"scale", "scale_again"})
        for wrong in ([], [self.kernel, wgrun.loads(SCALE).only], [self.kernel, self.script.again(3).only]):
            with self.assertRaises(wgrun.ArgumentError):
                wgrun.export(wrong)
        with self.assertRaisesRegex(wgrun.ArgumentError, "NUL"):
            wgrun.export(self.kernel, f"{self.folder}\0more")
        with self.assertRaisesRegex(wgrun.ArgumentError, "NUL"):
            self.script.again("a\0b")
        (self.folder / "scale.ptx").write_text("not wgrun's")
        with self.assertRaises(wgrun.Error):
            wgrun.export(self.kernel, self.folder)
        self.assertEqual((self.folder / "scale.ptx").read_text(), "not wgrun's")

    def test_sizes(self):
        self.assertEqual(self.kernel.sizes, (wgrun.Size("n", 1, 300, 1),))
        edges = self.kernel.edge_sizes()
        self.assertTrue({1, 127, 128, 129, 300} <= {one["n"] for one in edges})
        self.assertEqual(len(self.kernel.edge_sizes(most=3)), 3)
        self.assertEqual([one["n"] for one in edges if self.kernel.check_size(**one)], [129])
        [finding] = self.kernel.check_size(n=129, seed=5)
        self.assertIn("not with 129", finding.message)
        self.assertEqual([note.message for note in finding.notes], ["with n = 129"])
        [told] = json.loads(self.kernel.check_size(n=129, seed=5).json)["findings"]
        self.assertEqual((told["launch"]["seed"], told["launch"]["numbers"]), (5, {"n": 129}))
        for wrong in ({}, {"m": 1}, {"n": 301}, {"n": 1, "m": 1}, {"n": 2**64 + 5}, {"n": 1, "seed": -1}):
            with self.assertRaises(wgrun.ArgumentError):
                self.kernel.check_size(**wrong)
        bare = wgrun.loads("return require('wgrun').kernel('bare', {}, function() end)").only
        self.assertEqual((bare.sizes, bare.edge_sizes()), ((), []))


class Foreign(unittest.TestCase):
    """Kernels of a PTX text, whose launch says what the text leaves open."""

    def test_what_tools_ask(self):
        rows = Path(__file__).resolve().parents[1] / "ptx" / "rows.ptx"
        kernel = wgrun.loads(f'return require("wgrun").ptx({json.dumps(str(rows))}).softmax').only
        x = np.random.default_rng(1).standard_normal((3, 300), np.float32)
        y = np.zeros_like(x)
        with self.assertRaises(wgrun.ArgumentError):
            kernel.timeline(x, y, 300, grid=3)
        timeline = kernel.timeline(x, y, 300, grid=3, block=96, shared=1200)
        self.assertGreater(timeline.cycles, 0)
        self.assertEqual(Path(timeline.requests[0].file).name, "rows.ptx")
        profile = kernel.profile(x, y, 300, grid=3, block=96, shared=1200)
        self.assertEqual(profile.source, "simulator")
        self.assertTrue(np.isfinite(y).all() and y.sum() > 2.9)
        places = kernel.source_map()
        self.assertEqual(len(places), len(kernel.ptx().splitlines()))
        self.assertTrue(any(place is not None and Path(place[0]).name == "rows.ptx" for place in places))
        self.assertIn("softmax.ptx", {file.name for file in wgrun.export(kernel)})
        self.assertEqual(kernel.sizes, ())


class Again(unittest.TestCase):
    def test_runs_have_arguments_globals_and_kernels_of_their_own(self):
        script = wgrun.loads(SCALE)
        variants = [script.again(factor) for factor in range(3, 30)]
        A = np.ones(300, np.float32)
        for factor, variant in zip(range(3, 30), variants):
            self.assertEqual(len(variant.kernels), 1)
            A[:] = 1
            variant.only[3](A, 300)
            self.assertTrue((A == factor).all())
        del script, variant, variants[::2]
        A[:] = 1
        variants[0].only[3](A, 300)
        self.assertTrue((A == 4).all())

    def test_a_variant_costs_less_than_a_state(self):
        script = wgrun.loads(SCALE)

        def seconds(load):
            begin = time.perf_counter()
            for _ in range(20):
                load()
            return time.perf_counter() - begin

        states = min(seconds(lambda: wgrun.loads(SCALE, 3)) for _ in range(3))
        variants = min(seconds(lambda: script.again(3)) for _ in range(3))
        self.assertLess(variants, states / 2)

    def test_launchers(self):
        script = wgrun.loads("""
          local wg = require "wgrun"
          scaled = (...)
          local by = wg.kernel("by", { threads = 32 }, function(k)
            local A, f = k:param("A", "f32*"), k:param("f", "f32")
            local a = k:element(A, k:special "tid.x")
            k:st_global_f32(a, k:ld_global_f32(a) * f)
          end)
          return { by = { kernel = by, launch = function(_, A) return { grid = 1, args = { A, tonumber(scaled) } } end } }
        """, 2.0)
        other = script.again(3.0)
        A = np.ones(32, np.float32)
        script.by(A)
        other.by(A)
        self.assertTrue((A == 6).all())

    def test_failures(self):
        script = wgrun.loads("if ... then error 'not again' end return require('wgrun').kernel('k', {}, function() end)")
        with self.assertRaises(wgrun.ScriptError) as caught:
            script.again(1)
        self.assertIn("not again", str(caught.exception))
        self.assertEqual(script.again().only.name, "k")

    def test_limits_begin_anew(self):
        script = wgrun.loads("local n = 0 for i = 1, tonumber((...)) do n = n + i end "
                             "return require('wgrun').kernel('k', {}, function() end)", 10,
                             limits=wgrun.Limits(instructions=3_000_000))
        for _ in range(3):
            script.again(400_000)
        with self.assertRaises(wgrun.LimitError):
            script.again(4_000_000)
        script.again(400_000)


class Tuning(unittest.TestCase):
    def test_candidates(self):
        tuning = wgrun.loads(FILL).tune(results=False)
        self.assertEqual([one.options for one in tuning if one.microseconds is None], ["threads = 96"])
        self.assertEqual(tuning[-1].reason, "no 96")
        self.assertLessEqual(tuning.best.microseconds, tuning[1].microseconds)
        self.assertEqual(json.loads(tuning.json)["results"][0]["options"], tuning.best.options)

    def test_results_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            script = wgrun.loads(FILL)
            script.tune(results=folder + "/results.txt")
            again = script.tune(results=folder + "/results.txt")
            self.assertEqual([one.cached for one in again], [True, True, False])

    def test_what_cannot_be_tuned(self):
        with self.assertRaises(wgrun.ScriptError) as caught:
            wgrun.loads(SCALE).tune()
        self.assertIn("wg.tuning", str(caught.exception))
        with self.assertRaises(wgrun.ArgumentError):
            wgrun.loads(FILL).tune(measure="guess")
        with self.assertRaises(wgrun.ArgumentError):
            wgrun.loads(FILL).tune(results=True)
        none = FILL.replace("{ 32, 64, 96 }", "{ 96 }")
        with self.assertRaises(wgrun.ScriptError) as caught:
            wgrun.loads(none).tune(results=False)
        self.assertIn("no 96", str(caught.exception))

    def test_restricted_scripts_keep_no_results(self):
        with tempfile.TemporaryDirectory() as folder:
            text = FILL.replace("os.clock() - begin > 0.05", "true")
            wgrun.loads(text, restricted=True).tune(results=folder + "/results.txt")
            self.assertEqual(os.listdir(folder), [])


class InFlight(unittest.TestCase):
    def test_progress(self):
        told = []
        with wgrun.progress(told.append):
            wgrun.loads(FILL).tune(results=False)
        self.assertTrue(told)
        tuning, inner = told[0][0], told[0][-1]
        self.assertEqual((tuning.what, tuning.total, tuning.unit), ("tune fill", 3, "candidates"))
        self.assertGreaterEqual(tuning.seconds, inner.seconds)
        count = len(told)
        wgrun.loads(FILL).tune(results=False)
        self.assertEqual(len(told), count)

    def test_an_exception_of_the_function_ends_the_call(self):
        def tell(parts):
            raise KeyError("enough")

        with self.assertRaises(KeyError), wgrun.progress(tell):
            wgrun.loads(FILL).tune(results=False)
        wgrun.loads(FILL).tune(results=False)

    def test_progress_in_another_thread(self):
        told = []

        def work():
            with wgrun.progress(told.append):
                wgrun.loads(FILL).tune(results=False)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertTrue(told)

    def test_cancellation(self):
        script, tunable = wgrun.loads(SCALE), wgrun.loads(FILL)
        A = np.ones(300, np.float32)
        with wgrun.Cancellation() as outer:
            with wgrun.Cancellation():
                outer.request()
                for call in (script.only.report, script.only.source_map, lambda: script.only.timeline(A, 300, grid=3),
                             lambda: wgrun.export(script.only), lambda: script.only.check_size(n=1), script.again,
                             lambda: tunable.tune(results=False)):
                    with self.assertRaises(wgrun.Interrupted):
                        call()
        self.assertEqual(script.only.check_size(n=1), [])
        tunable.tune(results=False)

    def test_two_threads(self):
        failed = []

        def work():
            try:
                script = wgrun.loads(SCALE)
                for factor in range(3, 6):
                    variant = script.again(factor).only
                    variant.timeline(np.ones(300, np.float32), 300, grid=3)
                    wgrun.export(variant)
                    assert [bool(variant.check_size(n=n)) for n in (128, 129)] == [False, True]
                wgrun.loads(FILL).tune(results=False)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


if __name__ == "__main__":
    unittest.main()
