"""Launches are kept as launch files, which the tool runs: record_launch, and record with a Triton that is made up."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

import wgrun

TOOL = os.environ["WGRUN_TOOL"]
# Adds a number to each of 64 words of out.
TEXT = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry add(.param .u64 out, .param .u32 n, .param .u64 scratch)
.maxntid 32, 1, 1
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r1, %r1, 32, %r2;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r3, [n];
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r4, [%rd1];
    add.u32 %r4, %r4, %r3;
    st.global.u32 [%rd1], %r4;
    ret;
}
"""
JIT = """
from types import SimpleNamespace as Space
class JITFunction:
    launches = 0
    def __init__(self, fn): self.fn = fn
    def run(self, *args, grid, warmup, **given):
        if not warmup:
            JITFunction.launches += 1
            args[0][:] = 77  # the launch changes the tensor
        return Space(asm={"ptx": TEXT}, metadata=Space(name="add", num_warps=1, num_ctas=1, shared=0),
                     src=Space(signature={"out": "*u32", "n": "i32", "BLOCK": "constexpr"}))
"""
PROGRAM = """
import numpy, wgrun
wgrun.record("kept", most=2)
import triton.runtime.jit as jit
def add(out, n, BLOCK): pass
out = numpy.arange(64, dtype="int32")
for n in (5, 6, 7): jit.JITFunction(add).run(out, n, grid=lambda meta: (2, 1, 1), warmup=False, BLOCK=32)
assert jit.JITFunction.launches == 3
"""


def checked(text, launch, folder):
    done = subprocess.run([TOOL, "check", "--dynamic", "--launch", launch, text], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "add.ptx").write_text(TEXT)

    def test_a_launch_with_views_of_one_array(self):
        whole = numpy.arange(96, dtype="uint32")
        wgrun.record_launch(str(self.folder / "l.json"), [whole[32:], 5, whole], grid=2, kernel="add")
        launch = json.loads((self.folder / "l.json").read_text())
        self.assertEqual(launch["arguments"], [{"pointer": "t0", "offset": 128}, 5, "t0"])
        self.assertEqual(launch["tensors"], {"t0": {"file": "l.t0.npy", "dtype": "u32"}})
        self.assertEqual(numpy.load(self.folder / "l.t0.npy").tolist(), list(range(96)))
        code, said = checked("add.ptx", "l.json", self.folder)
        self.assertEqual(code, 0, said)
        self.assertIn("add: 4 schedules on the simulator", said)
        # One CTA more than the memory has: what was kept is what decides.
        wgrun.record_launch(str(self.folder / "l.json"), [whole[32:], 5, whole], grid=3)
        code, said = checked("add.ptx", "l.json", self.folder)
        self.assertEqual(code, 1, said)

    def test_what_cannot_be_kept_is_refused(self):
        for value in ("text", None, numpy.zeros(4, "complex64")):
            with self.assertRaises(wgrun.ArgumentError):
                wgrun.record_launch(str(self.folder / "l.json"), [value], grid=1)

    def test_launches_of_triton(self):
        for name, text in {"triton/__init__.py": "", "triton/runtime/__init__.py": "",
                           "triton/runtime/jit.py": f"TEXT = {TEXT!r}\n{JIT}", "program.py": PROGRAM}.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        path = os.pathsep.join([str(self.folder), os.environ["PYTHONPATH"]])
        done = subprocess.run([sys.executable, "program.py"], cwd=self.folder, env={**os.environ, "PYTHONPATH": path},
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        kept = self.folder / "kept"
        self.assertEqual(sorted(path.name for path in kept.iterdir()),
                         ["add.2.json", "add.2.t0.npy", "add.json", "add.ptx", "add.t0.npy"])
        first, second = (json.loads((kept / name).read_text()) for name in ("add.json", "add.2.json"))
        self.assertEqual(first["arguments"], ["t0", 5, 0])
        self.assertEqual(second["arguments"], ["t0", 6, 0])
        self.assertEqual((first["grid"], first["block"], first["shared"]), ([2, 1, 1], 32, 0))
        # As it was before the launch.
        self.assertEqual(numpy.load(kept / "add.t0.npy").tolist(), list(range(64)))
        self.assertEqual(numpy.load(kept / "add.2.t0.npy").tolist(), [77] * 64)
        code, said = checked("add.ptx", "add.json", kept)
        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    unittest.main()
