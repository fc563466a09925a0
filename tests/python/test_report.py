"""wgrun.check: what a report amounts to, and that nothing is called good that was not looked at. Needs the tool, and no packages."""

import unittest
from pathlib import Path

import wgrun

ROOT = Path(__file__).resolve().parents[2]
DOUBLE = """local wg = require "wgrun"
local function make(name)
  return wg.kernel(name, { threads = 128 }, function(k)
    local X, n = k:param("X", "f32*"), k:param("n", "u32")
    local i = k:special "ctaid.x" * 128 + k:special "tid.x"
    k:if_(i:lt(n), function() k:st_global_f32(k:element(X, i), k:ld_global_f32(k:element(X, i)) * 2.0) end)
  end)
end
local X = wg.ones("f32", { 100 })
make "double":run { grid = 1, args = { X, 100 } }
"""
UNREAD = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k() .reqntid 32 { .reg .u64 %rd<4>; stacksave.u64 %rd1; ret; }
"""


class Outcomes(unittest.TestCase):
    def outcome(self, text, expected, **options):
        report = wgrun.check(text, **options)
        self.assertEqual(report.outcome, expected, report)
        return report

    def test_a_good_script_is_proved(self):
        report = self.outcome(DOUBLE, "proved", name="folder/double.lua")
        self.assertEqual([one["file"] for one in report.json["inputs"]], ["double.lua"])
        self.assertEqual(len(report.json["inputs"][0]["sha256"]), 64)
        self.assertEqual(report.reasons, [])

    def test_a_broken_rule_is_wrong(self):
        report = self.outcome((ROOT / "tests/ptx/missing_fence.ptx").read_text(), "wrong")
        self.assertIn("kernel.ptx:32: error: ", report.reasons[0])
        self.assertIn("[WG-FENCE-01]", str(report))

    def test_a_path_keeps_its_name(self):
        report = wgrun.check(ROOT / "tests/ptx/two_stages.ptx")
        self.assertEqual(report.outcome, "undecided")
        self.assertIn("sums: global-races: undecided: ", str(report))
        self.assertEqual(wgrun.check(ROOT / "tests/ptx/missing_fence.ptx").errors[0]["line"], 32)
        with self.assertRaises(wgrun.FileError):
            wgrun.check(ROOT / "no_such.ptx")

    def test_what_was_not_looked_at_is_not_good(self):
        for text, why in (("", "there is no kernel"), ("x = = 2", "unexpected symbol"), (UNREAD, "stacksave.u64"),
                          (".version 8.0\nnot ptx", "found `not`"), (UNREAD.replace("sm_90a", "sm_100a"), "nothing of it is checked"), ("io.open 'x'", "io")):
            self.assertIn(why, self.outcome(text, "not checked").reasons[0])

    def test_another_language(self):
        with self.assertRaisesRegex(wgrun.ArgumentError, "nvcc -ptx"):
            wgrun.check("__global__ void k() {}", "folder/k.cu")

    def test_a_name_like_an_option(self):
        self.outcome(DOUBLE, "proved", name="--json")

    def test_a_name_that_no_file_can_have(self):
        with self.assertRaisesRegex(wgrun.ArgumentError, "a name of 5000 characters: 200 at most"):
            wgrun.check("return 1", name="x" * 5000)

    def test_a_binary_without_kernels(self):
        report = wgrun.check(Path("/bin/sh"))
        self.assertEqual((report.outcome, len(report.reasons)), ("not checked", 1), report)

    def test_a_script_that_does_not_end_is_stopped(self):
        self.assertIn("more than 1 s", self.outcome("while true do end", "not checked", seconds=1).reasons[0])
        loops = DOUBLE.replace('make "double":run', 'local backend = make "double":run') + 'while backend ~= "none" do end\n'
        self.outcome(loops, "proved")
        self.assertIn("more than 1 s", self.outcome(loops, "not checked", seconds=1, dynamic=True).reasons[0])

    def test_a_script_that_stops_at_a_result(self):
        stops = DOUBLE + "assert(X[3] == 2)\n"
        self.assertIn("the rest was not checked", self.outcome(stops, "not checked").reasons[0])
        self.outcome(stops, "proved", dynamic=True)
        self.outcome(stops + 'make "other":run { grid = 1, args = { X, 100 } }\n', "not checked", dynamic=True)
        self.assertIn("assertion failed", self.outcome(DOUBLE + "assert(X[3] == 3)\n", "wrong", dynamic=True).reasons[0])

    def test_what_a_launch_says(self):
        with self.assertRaises(wgrun.ArgumentError):
            wgrun.check(DOUBLE, assume={"n": 1}, block=[0])
        with self.assertRaises(wgrun.ArgumentError):
            wgrun.check(DOUBLE, seconds=0)
        self.assertIn("n = 64", str(wgrun.check(DOUBLE, assume={"n": 64}).verdicts("proved")))


if __name__ == "__main__":
    unittest.main()
