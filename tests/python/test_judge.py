"""Answers of a model and what they are worth (wgrun.adapters.judge)."""

import unittest
from pathlib import Path

from wgrun.adapters.judge import judge, script_of
from wgrun.adapters.problems import PROBLEMS

ROOT = Path(__file__).resolve().parents[2]
ADD, ROW_SUMS, PRODUCT = PROBLEMS
GOOD = """I add them:
```lua
local wg = require "wgrun"
return wg.kernel("add", { threads = 128 }, function(k)
  local X, Y, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "u32")
  local i = k:special "ctaid.x" * 128 + k:special "tid.x"
  k:if_(i:lt(n), function()
    k:st_global_f32(k:element(Y, i), k:ld_global_f32(k:element(X, i)) + k:ld_global_f32(k:element(Y, i)))
  end)
end)
```
"""
SUMS = """```lua
local wg = require "wgrun"
return wg.kernel("row_sums", { threads = 128 }, function(k)
  local X, S, n = k:param("X", "const f32*"), k:param("S", "f32*"), k:param("n", "u32")
  local tid, row = k:special "tid.x", k:special "ctaid.x"
  local partial = k:shared { bytes = 512, align = 16, name = "partial" }
  local sum = k:mov(0.0, { type = "f32" })
  k:loop({ from = tid, to = n, step = 128 }, function(i)
    k:add(sum, sum, k:ld_global_f32(k:element(X, row * n + i)))
  end)
  k:st_shared_f32(k:address(partial, tid << 2), sum)
  k:bar_sync(0)
  k:if_(tid:eq(0), function()
    local total = k:mov(0.0, { type = "f32" })
    k:loop({ from = 0, to = 128, step = 1 }, function(i) k:add(total, total, k:ld_shared_f32(k:address(partial, i << 2))) end)
    k:st_global_f32(k:element(S, row), total)
  end)
end)
```
"""


class Answers(unittest.TestCase):
    def judged(self, answer, problem=ADD):
        judgement = judge(answer, problem)
        return judgement, (judgement.checked, judgement.right)

    def test_a_good_answer(self):
        judgement, numbers = self.judged(GOOD)
        self.assertEqual((numbers, judgement.proved, judgement.reward), ((1, 1), 1, 1), judgement)
        judgement, numbers = self.judged(SUMS, ROW_SUMS)
        self.assertEqual(numbers, (1, 1), judgement)
        self.assertGreater(judgement.reward, 0.8)

    def test_a_product_of_the_documents(self):
        text = (ROOT / "docs/SKILL.md").read_text().split("<!-- saved as: product.lua -->\n```lua\n", 1)[1].split("```")[0]
        answer = text.split("local A = wg.randn")[0] + "return product\n"
        self.assertEqual(self.judged(answer, PRODUCT)[1], (1, 1))
        unfenced = answer.replace("  k:fence_proxy_async()", "  --")
        judgement, numbers = self.judged(unfenced, PRODUCT)
        self.assertEqual((numbers, judgement.reward), ((0, 0), 0))
        self.assertIn("WG-PROXY-01", judgement.why)

    def test_what_is_right_and_computes_nothing(self):
        nothing = GOOD.replace("k:if_(i:lt(n)", "k:if_(i:lt(0)")
        judgement, numbers = self.judged(nothing)
        self.assertEqual((numbers, judgement.reward), ((1, 0), 0), judgement)
        self.assertIn("other values than expected", judgement.why)

    def test_what_is_right_for_some_sizes(self):
        judgement, numbers = self.judged(GOOD.replace("i:lt(n)", "i:lt(k:min(n, 200))"))
        self.assertEqual(numbers, (1, 0.75), judgement)
        self.assertLess(judgement.reward, 0.8)

    def test_what_is_no_answer(self):
        for answer in ("", "I cannot", "```lua\nx = = 1\n```", "```lua\nwhile true do end\n```", "return 1", "os.exit(0)"):
            judgement = judge(answer, ADD, seconds=1)
            self.assertEqual((judgement.reward, judgement.report.outcome), (0, "not checked"), answer)

    def test_the_last_block_counts(self):
        self.assertEqual(script_of("```lua\na = 1\n```\nor\n```\nb = 2\n```\n"), "b = 2\n")


if __name__ == "__main__":
    unittest.main()
