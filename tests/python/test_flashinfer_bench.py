"""wgrun.adapters.flashinfer_bench with FlashInfer-Bench itself: its evaluators, its builder for Python, and Triton, which compiles for
sm_90a. Its solutions compute on the CPU what their kernels would, so that no GPU is needed. Skipped where it is not installed."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MISSING = [name for name in ("flashinfer_bench", "torch", "triton") if importlib.util.find_spec(name) is None]
ROOT = Path(__file__).resolve().parents[2]
REFERENCE = "import torch\ndef run(x):\n    return x + x\n"
KERNEL = """
import sys, torch, triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def doubled(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, v + v, mask=i < n)

def run(x, y):
    source = ASTSource(doubled, {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 128})
    triton.compile(source, target=GPUTarget("cuda", 90, 32))
    print("launched", file=sys.stderr)
    y.copy_(x + x)
"""
#: Compiles a text that lacks a fence, as a compiler with a fault would: what Triton gives is replaced by it.
BROKEN = KERNEL.replace("triton.compile(source", "from wgrun import _compilations\n"
                        f"    _compilations.check_compiled('Triton', open({str(ROOT / 'tests/ptx/missing_fence.ptx')!r}).read(), 'broken.ptx')\n"
                        "    triton.compile(source")
SILENT = "def run(x, y):\n    y.copy_(x + x)\n"
PROGRAM = """
import json, sys, torch
from wgrun.adapters import flashinfer_bench as guard
guard.install(strict=sys.argv[2] == "strict")
from flashinfer_bench.bench import utils
from flashinfer_bench.bench.config import BenchmarkConfig
from flashinfer_bench.bench.evaluators import default, resolve_evaluator
from flashinfer_bench.compile import BuilderRegistry
from flashinfer_bench.data import BuildSpec, Definition, Environment, Solution, SourceFile, Workload
torch.cuda.synchronize = lambda *_: None
utils.env_snapshot = lambda device: Environment(hardware="cpu")
default.time_runnable = lambda runnable, arguments, *_: (runnable(*arguments), 1.0)[1]
definition = Definition(name="double", op_type="elementwise", axes={"n": {"type": "var"}}, reference=REFERENCE,
                        inputs={"x": {"shape": ["n"], "dtype": "float32"}}, outputs={"y": {"shape": ["n"], "dtype": "float32"}})
workload = Workload(axes={"n": 300}, inputs={"x": {"type": "random"}}, uuid="1")
solution = Solution(name="mine", definition="double", author="test", sources=[SourceFile(path="main.py", content=open(sys.argv[1]).read())],
                    spec=BuildSpec(language="python", target_hardware=["cuda"], entry_point="main.py::run"))
config = BenchmarkConfig(num_trials=1)
evaluator = resolve_evaluator(definition)
baseline = evaluator.build_baseline(definition, workload, config, "cpu")
runnable = BuilderRegistry.get_instance().build(definition, solution)
out = []
for _ in range(2):
    evaluation = evaluator.evaluate(definition=definition, sol_runnable=runnable, inputs=baseline.inputs, ref_outputs=baseline.outputs,
                                    ref_mean_latency_ms=baseline.mean_latency_ms, cfg=config, log_path="", device="cpu")
    out.append(evaluation.model_dump(mode="json"))
print(json.dumps(out))
""".replace("REFERENCE", repr(REFERENCE))


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
class Evaluators(unittest.TestCase):
    def evaluations(self, solution, how="lenient"):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "main.py").write_text(PROGRAM)
            Path(folder, "solution.py").write_text(solution)
            done = subprocess.run([sys.executable, "main.py", "solution.py", how], cwd=folder, capture_output=True, text=True, timeout=280,
                                  env={**os.environ, "HOME": folder, "TRITON_CACHE_DIR": folder, "FIB_CACHE_PATH": folder}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.printed = done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def test_a_good_solution_passes_with_its_report(self):
        for evaluation in self.evaluations(KERNEL):
            self.assertEqual(evaluation["status"], "PASSED", evaluation["log"])
            report = evaluation["correctness"]["extra"]["wgrun"]
            self.assertIn(report["outcome"], ("proved", "undecided"))
            self.assertEqual([len(one["sha256"]) for one in report["inputs"]], [64])
        self.assertIn("launched", self.printed)

    def test_workers_check_too(self):
        child = ("import multiprocessing\nfrom wgrun.adapters import flashinfer_bench\n"
                 "def ask():\n    from flashinfer_bench.bench.evaluators import registry\n"
                 "    print(hasattr(registry._DEFAULT_EVALUATOR, 'wgrun_report'), flush=True)\n"
                 "if __name__ == '__main__':\n    flashinfer_bench.install()\n"
                 "    worker = multiprocessing.get_context('spawn').Process(target=ask)\n    worker.start()\n    worker.join()\n")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "main.py").write_text(child)
            done = subprocess.run([sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.stdout, "True\n", done.stderr)

    def test_a_broken_kernel_does_not_pass(self):
        for evaluation in self.evaluations(BROKEN):
            self.assertEqual(evaluation["status"], "RUNTIME_ERROR")
            self.assertIn("broken.ptx:32: error: ", evaluation["log"])
        self.assertNotIn("launched", self.printed)

    def test_what_was_not_looked_at_is_said(self):
        for evaluation in self.evaluations(SILENT):
            self.assertEqual(evaluation["status"], "PASSED")
            self.assertEqual(evaluation["correctness"]["extra"]["wgrun"]["outcome"], "not checked")
        for evaluation in self.evaluations(SILENT, "strict"):
            self.assertEqual(evaluation["status"], "RUNTIME_ERROR")
            self.assertIn("wgrun: not checked", evaluation["log"])


if __name__ == "__main__":
    if MISSING:
        print(f"skipped: not installed: {', '.join(MISSING)}")
        sys.exit(77)
    unittest.main()
