#!/usr/bin/env python3
"""What performance.py must notice in measurements: each fault, in a family of one row."""

import copy
import unittest

import performance
import plots
from json_schema import SCHEMAS, faults

CHIP = {"memory": 4e12, "tensor": {"bf16": 1e15}}
ROW = {"shape": "one", "type": "bf16", "flops": 2 * 10**12, "bytes": 10**9, "speeds": {"wgrun": [500, 600], "other": [400]},
       "ratio": {"hot": {"of": "wgrun", "to": "other", "value": 1.25}}}
RUN = {"date": "2026-11-28", "card": "H200", "versions": {"wgrun": "1"}, "command": "c", "method": "m", "rows": [ROW]}
FAMILY = {"order": 1, "title": "t", "what": "w", "unit": "TFLOP/s", "column": "c", "runs": [RUN]}


def changed(change):
    family = copy.deepcopy(FAMILY)
    change(family, family["runs"][0], family["runs"][0]["rows"][0])
    return family


class Measurements(unittest.TestCase):
    def schema(self, change):
        return faults(changed(change), SCHEMAS["measurements.json"], SCHEMAS["measurements.json"])

    def checked(self, change):
        wrong = []
        performance.checked({"f": changed(change)}, {"H200": CHIP}, wrong)
        return wrong

    def test_a_right_one_has_no_fault(self):
        self.assertEqual(self.schema(lambda f, run, row: None) + self.checked(lambda f, run, row: None), [])

    def test_the_schema_sees_members_and_dates(self):
        for change in (lambda f, run, row: run.pop("command"), lambda f, run, row: run.update(date="28 November"), lambda f, run, row: row.update(more=1),
                       lambda f, run, row: row["ratio"].pop("hot"), lambda f, run, row: run.update(card="B200"), lambda f, run, row: row.update(flops=0)):
            self.assertEqual(len(self.schema(change)), 1)

    def test_what_the_schema_cannot_see(self):
        for change in (lambda f, run, row: row["speeds"].update(wgrun=[1001]),                # faster than the chip, and far from the ratio
                       lambda f, run, row: row["ratio"]["hot"].update(of="wgrun with next"),  # which was not measured
                       lambda f, run, row: row["ratio"]["hot"].update(value=0.8),
                       lambda f, run, row: run["rows"].append(copy.deepcopy(row)),
                       lambda f, run, row: f["runs"].append(copy.deepcopy(run) | {"date": "2099-12-01"})):
            self.assertNotEqual(self.checked(change), [])

    def test_the_newest_run_has_the_row(self):
        def older(f, run, row):
            f["runs"].insert(0, copy.deepcopy(run))  # of the same day
            f["runs"][0]["rows"][0]["speeds"]["wgrun"] = [510, 610]
        self.assertEqual(performance.newest(changed(older), "H200")[0]["speeds"]["wgrun"], [510, 610])

    def test_a_row_says_how_fast_and_why(self):
        self.assertEqual(performance.cells(ROW, CHIP, "TFLOP/s"), ["one", "500 / 600", "50", "other", "1.250", "Limited by the tensor cores."])
        self.assertEqual(performance.cells(ROW | {"bytes": 10**10}, CHIP, "TFLOP/s")[2:], ["62", "other", "1.250", "Limited by memory."])

    def test_plots_hold_their_rows(self):
        svg = plots.ratio("t", [("a<b", 0.5, 0.75), ("c", 1.5, None)])
        self.assertIn("a&lt;b", svg)
        self.assertEqual(svg.count('class="cool"'), 2)  # one of the legend
        self.assertEqual(plots.ticks(0, 1000), [0, 200, 400, 600, 800, 1000])


if __name__ == "__main__":
    unittest.main()
