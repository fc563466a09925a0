"""wgrun.adapters.kernelbench: solutions with Triton and CUDA C++, compiled for sm_90a without a GPU. Skipped where PyTorch and Triton are not
installed."""

import importlib.util
import shutil
import sys
import unittest
from pathlib import Path

from wgrun.adapters.kernelbench import check_solution

MISSING = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
NVCC = shutil.which("nvcc") or Path("/usr/local/cuda/bin/nvcc").exists()
PROBLEM = """
import torch
def get_inputs(): return [torch.randn(1000).cuda(), torch.randn(1000, device="cuda")]
def get_init_inputs(): return []
"""
TRITON = """
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        assert x.is_cuda and y.is_cuda
        out = torch.empty(x.shape, device=torch.device("cuda:0"))
        add[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
        return out
"""
CUDA = '''
import torch
from torch.utils.cpp_extension import load_inline
source = """
__global__ void __launch_bounds__(256) shift(float* x, int n) {
    __shared__ float part[256];
    int i = threadIdx.x;
    part[i] = x[i];
    BARRIER
    x[i] = part[(i + 1) % 256];
}
torch::Tensor shifted(torch::Tensor x, torch::Tensor y) { shift<<<1, 256>>>(x.data_ptr<float>(), 256); return x; }
"""
module = load_inline(name="shift", cpp_sources="torch::Tensor shifted(torch::Tensor x, torch::Tensor y);", cuda_sources=source,
                     functions=["shifted"], extra_cuda_cflags=["-O2"])

class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.shifted(x, y)
'''


@unittest.skipIf(MISSING, "not installed")
class Solutions(unittest.TestCase):
    def test_triton(self):
        report = check_solution(TRITON, PROBLEM)
        self.assertIn(report.outcome, ("proved", "undecided"), report)
        self.assertEqual(([kernel["name"] for kernel in report.kernels], len(report.json["inputs"][0]["sha256"])), (["add"], 64))

    def test_what_is_not_looked_at_is_not_good(self):
        report = check_solution(TRITON + "\nraise SystemExit(0)\n", PROBLEM)
        self.assertEqual((report.outcome, report.reasons), ("not checked", ["error: SystemExit: 0"]))
        plain = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x, y): return x + y\n"
        self.assertEqual(check_solution(plain, PROBLEM).outcome, "not checked")
        self.assertEqual(check_solution("import os\nos._exit(0)\n", PROBLEM).outcome, "not checked")
        self.assertIn("more than 1 s", str(check_solution("while True: pass\n", PROBLEM, seconds=1)))

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_cuda(self):
        report = check_solution(CUDA.replace("BARRIER", "__syncthreads();"), PROBLEM)
        self.assertIn(report.outcome, ("proved", "undecided"), report)
        report = check_solution(CUDA.replace("BARRIER", ""), PROBLEM)
        self.assertEqual(report.outcome, "wrong", report)


if __name__ == "__main__":
    if MISSING:
        print(f"skipped: not installed: {', '.join(MISSING)}")
        sys.exit(77)
    unittest.main()
