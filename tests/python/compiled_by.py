"""A kernel that Triton, TileLang or CuTe DSL itself compiles is checked as it is compiled: compiled_by.py COMPILER; 77 where it
is not installed. No GPU is needed."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TRITON = """
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def product(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    om = tl.arange(0, BM)
    on = tl.arange(0, BN)
    ok = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(a + om[:, None] * K + ok[None, :])
        y = tl.load(b + ok[:, None] * BN + on[None, :])
        acc = tl.dot(x, y, acc)
        ok += BK
    tl.store(c + om[:, None] * BN + on[None, :], acc)

types = dict(a="*fp16", b="*fp16", c="*fp32", K="i32", BM="constexpr", BN="constexpr", BK="constexpr")
constants = {(4,): 128, (5,): 128, (6,): 64}
aligned = {(i,): [["tt.divisibility", 16]] for i in range(4)}
triton.compile(ASTSource(product, types, constants, aligned), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
"""
TILELANG = """
import tilelang, tilelang.language as T

def product(M, N, K):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(N // 128, M // 128, threads=128) as (x, y):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 128), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(K // 64, num_stages=3):
                T.copy(A[y * 128, k * 64], a)
                T.copy(B[k * 64, x * 128], b)
                T.gemm(a, b, c)
            T.copy(c, C[y * 128, x * 128])
    return main

tilelang.compile(product(512, 512, 512), target={"kind": "cuda", "arch": "sm_90a"})
"""
CUTE = """
import cutlass, cutlass.cute as cute

@cute.kernel
def doubled(x: cute.Tensor, y: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    y[i] = x[i] + x[i]

@cute.jit
def launch(x: cute.Tensor, y: cute.Tensor):
    doubled(x, y).launch(grid=[1, 1, 1], block=[128, 1, 1])

def tensor():
    return cute.runtime.make_fake_compact_tensor(cutlass.Float32, (128,), stride_order=(0,), assumed_align=16)
cute.compile(launch, tensor(), tensor())
"""
PROGRAMS = {"triton": ("Triton", TRITON), "tilelang": ("TileLang", TILELANG), "cutlass": ("CuTe DSL", CUTE)}


def main(package):
    name, program = PROGRAMS[package]
    if importlib.util.find_spec(package) is None:
        print(f"skipped: {sys.executable} has no {package}")
        raise SystemExit(77)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(program)
        env = {**os.environ, "TMPDIR": folder, "TRITON_CACHE_DIR": folder, "CUTE_DSL_ARCH": "sm_90a"}
        done = subprocess.run([sys.executable, "-m", "wgrun", str(file)], capture_output=True, text=True, env=env)
    print(done.stdout, done.stderr)
    if "nvcc" in done.stderr and package == "tilelang" and "Could not find" in done.stderr:
        print("skipped: TileLang finds no nvcc")
        raise SystemExit(77)
    assert done.returncode == 0, done.returncode
    assert f"wgrun: checked 1 kernel by {name}: 0 errors" in done.stderr


main(sys.argv[1])
