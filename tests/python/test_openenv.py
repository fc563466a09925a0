"""wgrun.adapters.openenv: the environment, and its server with OpenEnv's own client. Skipped where OpenEnv is not installed."""

import socket
import subprocess
import sys
import time
import unittest

try:
    from openenv.core.generic_client import GenericEnvClient
except ImportError as error:
    print(f"skipped: {sys.executable}: {error} (pip install openenv-core)")
    sys.exit(77)

from test_judge import GOOD
from wgrun.adapters.openenv import KernelAction, KernelEnvironment


class Episodes(unittest.TestCase):
    def test_an_answer_is_mended(self):
        environment = KernelEnvironment()
        self.assertIn("Y[i] = X[i] + Y[i]", environment.reset(problem="add").statement)
        first = environment.step(KernelAction(answer="x = = 1"))
        self.assertEqual((first.outcome, first.reward, first.done), ("not checked", 0, False))
        self.assertIn("unexpected symbol", first.reasons[0])
        second = environment.step(KernelAction(answer=GOOD))
        self.assertEqual((second.outcome, second.reward, second.done, environment.state.step_count), ("proved", 1, True, 2))
        self.assertEqual(len(second.report["inputs"][0]["sha256"]), 64)

    def test_attempts_end(self):
        environment = KernelEnvironment(attempts=2)
        environment.reset(seed=1)
        self.assertEqual(environment.state.problem, "row_sums")
        self.assertEqual([environment.step(KernelAction(answer="")).done for _ in range(2)], [False, True])

    def test_the_server(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen([sys.executable, "-m", "uvicorn", "wgrun.adapters.openenv:app", "--port", str(port), "--log-level", "error"])
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        with GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
            client.reset(problem="add")
            result = client.step({"answer": GOOD})
            self.assertEqual((result.reward, result.done, result.observation["outcome"]), (1, True, "proved"))


if __name__ == "__main__":
    unittest.main()
