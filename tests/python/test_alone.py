"""check_ptx, and python3 -m wgrun, with the tool alone and with the library alone."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TEXT = Path(__file__).resolve().parents[1] / "ptx" / "missing_fence.ptx"
ROWS = TEXT.with_name("rows.ptx")
PROGRAM = f"""
import wgrun
found = wgrun.check_ptx(open({str(TEXT)!r}).read())
print([(finding.rule, finding.file, finding.line) for finding in found.errors], found.kernels, len(found.verdicts["product"]))
given = wgrun.check_ptx(open({str(ROWS)!r}).read(), block=96, grid=(7, 2), assume={{"softmax_param_2": 300}}, budget=5).verdicts["softmax"][1]
print(given.verdict, given.domain)
try:
    wgrun.check_ptx(open({str(ROWS)!r}).read(), budget=-1)
except wgrun.ArgumentError as error:
    print(error)
"""
EXPECTED = """[('WG-FENCE-01', 'stdin', 32)] ['product'] 14
proved all launches of 96 threads with softmax_param_2 = 300
wgrun: budget -1: seconds, 0 or more
"""


class Alone(unittest.TestCase):
    def run_program(self, program, *command, **environment):
        """The exit code, standard output and standard error, without tool and library but for those that are given."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "program.py"
            file.write_text(program)
            env = {key: value for key, value in os.environ.items() if key not in ("WGRUN_TOOL", "WGRUN_LIBRARY")}
            env["PATH"] = folder
            done = subprocess.run([sys.executable, *command, str(file)], capture_output=True, text=True, timeout=120,
                                  env={**env, **environment})
            return done.returncode, done.stdout, done.stderr

    def test_the_tool_alone(self):
        nowhere = {"WGRUN_LIBRARY": "/nowhere/libwgrun_c.so", "WGRUN_TOOL": os.environ["WGRUN_TOOL"]}
        self.assertEqual(self.run_program(PROGRAM, **nowhere), (0, EXPECTED, ""))
        self.assertEqual(self.run_program("print(1)", "-m", "wgrun", **nowhere), (0, "1\n", ""))
        code, _, err = self.run_program("import wgrun\nwgrun.load('k.lua')", **nowhere)
        self.assertEqual(code, 1)
        self.assertIn("/nowhere/libwgrun_c.so", err)

    def test_the_library_alone(self):
        library = {"WGRUN_LIBRARY": os.environ["WGRUN_LIBRARY"]}
        self.assertEqual(self.run_program(PROGRAM, **library), (0, EXPECTED, ""))

    def test_neither(self):
        code, _, err = self.run_program(PROGRAM, WGRUN_LIBRARY="/nowhere/libwgrun_c.so")
        self.assertEqual(code, 1)
        self.assertIn("FileError: no wgrun on PATH and none in WGRUN_TOOL, and ", err)


if __name__ == "__main__":
    unittest.main()
