"""wgrun.adapters.verifiers: the tasks of verifiers score answers. Skipped where verifiers is not installed."""

import asyncio
import sys
import unittest

try:
    import verifiers.v1 as vf
except ImportError as error:
    print(f"skipped: {sys.executable}: {error} (pip install 'verifiers>=0.4')")
    sys.exit(77)

from test_judge import GOOD
from wgrun.adapters.verifiers import KernelTaskset, KernelTasksetConfig


class Verifiers(unittest.TestCase):
    def score(self, answer, name):
        (task,) = KernelTaskset(KernelTasksetConfig(problems=[name]))
        trace = vf.Trace(task=vf.TraceTask(type="KernelTask", data=task.data), agent=vf.AgentInfo.model_construct())
        trace.root_reply = answer
        asyncio.run(task.score(trace))
        return task, trace

    def test_rewards(self):
        task, trace = self.score(GOOD, "add")
        self.assertIn("Kernels for Hopper", task.data.system_prompt)
        self.assertEqual((trace.reward, trace.metrics), (1, {"checked": 1, "right": 1, "proved": 1}))
        self.assertEqual(len(trace.info["wgrun"]["inputs"][0]["sha256"]), 64)
        self.assertEqual(self.score("no", "add")[1].reward, 0)

    def test_its_name_for_verifiers(self):
        from verifiers.v1.utils.loaders import taskset_class

        self.assertIs(taskset_class("wgrun_kernels"), KernelTaskset)


if __name__ == "__main__":
    unittest.main()
