"""The plugin for pytest, in a run of pytest. Skipped where pytest is not installed."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pathlib, types
import pytest, wgrun

SCRIPT = "return require 'wgrun'.kernel('k', {}, function() end)\\n"

def test_good(wgrun_check):
    assert wgrun_check("good.lua", strict=True).outcome == "proved"
    assert wgrun_check(SCRIPT).outcome == "proved"
    assert wgrun_check(pathlib.Path(__file__).parent / "open.ptx").outcome == "undecided"

def test_wrong(wgrun_check):
    wgrun_check("bad.ptx")

def test_compiled_by_triton(wgrun_check):
    wgrun_check(types.SimpleNamespace(asm={"ptx": pathlib.Path(__file__).with_name("bad.ptx").read_text()}, name="compiled"))

def test_undecided(wgrun_check):
    wgrun_check("open.ptx", strict=True)

def test_not_checked(wgrun_check):
    wgrun_check("x = 1\\n")

def test_a_kernel(wgrun_check):
    kernel = wgrun.loads(pathlib.Path(__file__).with_name("double.lua").read_text()).only
    assert wgrun_check(kernel, strict=True).kernels[0]["name"] == "double"
    wgrun_check(kernel, grid=(2, 1, 1), arguments=(None, 300))

def test_a_kernel_that_is_wrong(wgrun_check):
    wgrun_check(wgrun.loads(pathlib.Path(__file__).with_name("unfenced.lua").read_text()).only)
"""
DOUBLE = """local wg = require "wgrun"
return wg.kernel("double", { threads = 128 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  local i = k:special "ctaid.x" * 128 + k:special "tid.x"
  k:if_(i:lt(n), function() k:st_global_f32(k:element(X, i), k:ld_global_f32(k:element(X, i)) * 2.0) end)
end)
"""
UNFENCED = """local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64 }
return wg.kernel("product", { threads = 128 }, function(k)
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  k:mma(k:regs("f32", 32), { a = a, b = b, scale_d = 0 })
  k:wgmma_wait_group(0)
end)
"""
EXPECTED = {"test_good": "PASSED", "test_wrong": "FAILED", "test_compiled_by_triton": "FAILED", "test_undecided": "FAILED",
            "test_not_checked": "FAILED", "test_a_kernel": "PASSED", "test_a_kernel_that_is_wrong": "FAILED"}


class Plugin(unittest.TestCase):
    def test_assertions(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "test_kernels.py").write_text(TESTS)
        (folder / "double.lua").write_text(DOUBLE)
        (folder / "unfenced.lua").write_text(UNFENCED)
        (folder / "good.lua").write_text('return require "wgrun".kernel("k", {}, function() end)\n')
        shutil.copy(ROOT / "tests/ptx/missing_fence.ptx", folder / "bad.ptx")
        shutil.copy(ROOT / "tests/ptx/two_stages.ptx", folder / "open.ptx")
        done = subprocess.run([sys.executable, "-m", "pytest", "-p", "wgrun._pytest", "-p", "no:cacheprovider", "-rA", "test_kernels.py"],
                              cwd=folder, capture_output=True, text=True, timeout=200, env=dict(os.environ), check=False)
        results = {line.split("::")[1].split()[0]: line.split()[0] for line in done.stdout.splitlines()
                   if line.startswith(("PASSED", "FAILED"))}
        self.assertEqual(results, EXPECTED, done.stdout + done.stderr)
        for text in ("bad.ptx:32: error: an accumulator", "compiled.ptx:32: error: ", "wgrun: not checked\n", "there is no kernel in it",
                     "[WG-FENCE-01]; fix: k:wgmma_fence()"):
            self.assertIn(text, done.stdout)
        self.assertNotIn("def assert_checked", done.stdout)


if __name__ == "__main__":
    if importlib.util.find_spec("pytest") is None:
        print(f"skipped: {sys.executable} has no pytest")
        sys.exit(77)
    unittest.main()
