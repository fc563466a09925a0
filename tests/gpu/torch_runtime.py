"""The Python package on a GPU, with PyTorch: torch_runtime.py; WGRUN_LIBRARY and PYTHONPATH say where things are. Ends with 77
where there is no PyTorch or no Hopper GPU, with 1 where something is wrong."""

import sys
import threading
import time
import traceback
from pathlib import Path

from hopper import torch  # first: ends where there is no GPU

for folder in (Path(__file__).parent, Path(__file__).resolve().parents[2] / "bindings" / "python" / "examples"):
    sys.path.insert(0, str(folder))
import linear
import wgrun

SCALE = """
local wg = require "wgrun"
local add = tonumber((...) or "0")
return wg.kernel("scale", { threads = 128 }, function(k)
  local A, n, f = k:param("A", "f32*"), k:param("n", "u32"), k:param("f", "f32")
  local i = k:special "ctaid.x" * 128 + k:special "tid.x"
  k:if_(i:lt(n), function()
    local address = k:element(A, i)
    k:st_global_f32(address, k:ld_global_f32(address) * f + add)
  end)
end)
"""
tests, failed = [], 0


def test(body):
    tests.append(body)
    return body


def scale(add=0):
    return wgrun.loads(SCALE, add).only


def raises(kind, message, body):
    try:
        body()
    except kind as error:
        assert message in str(error), str(error)
        return
    raise AssertionError(f"no {kind.__name__}")


@test
def current_stream():
    kernel, a = scale(), torch.arange(1000, dtype=torch.float32, device="cuda")
    kernel[8](a, 1000, 2.0)
    assert (a == 2 * torch.arange(1000, device="cuda")).all()
    stream = torch.cuda.Stream()
    big = torch.ones(1 << 26, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for _ in range(20):
            big.mul_(1.0)  # long enough for another stream to overtake
        big.add_(1)
        kernel[8](big, 1000, 2.0)
        assert big[0].item() == 4
    other = torch.zeros(8, device="cuda")
    kernel(other, 8, 1.0, grid=1, stream=stream)
    kernel(other, 8, 1.0, grid=1, stream=stream.cuda_stream, backend="gpu-cuda")
    stream.synchronize()


@test
def a_graph_after_a_warm_up():
    kernel, a = scale(1), torch.zeros(512, device="cuda")
    kernel[4](a, 512, 1.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel[4](a, 512, 2.0)
        kernel[4](a, 512, 2.0)
    assert (a == 1).all()  # captured, not run
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    want = 1
    for _ in range(6):
        want = 2 * want + 1
    assert (a == want).all(), a[0]


@test
def a_graph_without_a_warm_up_and_kernels_that_go_while_it_lives():
    used = scale(3)
    a = torch.zeros(512, device="cuda")
    used[4](a, 512, 1.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel = scale(1)  # compiled and loaded while the stream is captured
        kernel[4](a, 512, 2.0)
        del used  # and another unloaded
    del kernel
    import gc

    gc.collect()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    want = 3
    for _ in range(3):
        want = 2 * want + 1
    assert (a == want).all(), a[0]


@test
def graphs_of_launches_that_need_a_workspace():
    gemm = wgrun.gemm(dtype="bf16", d="f32", splits=4, tile=(128, 128, 64))
    pairs = [[torch.randn(256, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2)] for _ in range(3)]
    wants = [a.double() @ b.double().T for a, b in pairs]
    graphs, results = [], []
    for _ in range(2):  # the second graph must not have the first one's
        graphs.append(torch.cuda.CUDAGraph())
        results.append([torch.zeros(256, 256, device="cuda") for _ in pairs])
        with torch.cuda.graph(graphs[-1]):
            for (a, b), d in zip(pairs, results[-1]):
                gemm(a, b, d)
    streams = [torch.cuda.Stream() for _ in graphs]
    for _ in range(5):
        for graph, stream, ds in zip(graphs, streams, results):
            with torch.cuda.stream(stream):
                for d in ds:
                    d.fill_(float("nan"))
                graph.replay()
    torch.cuda.synchronize()
    for ds in results:
        for d, want in zip(ds, wants):
            assert (d - want).abs().max() < 1e-2, (d - want).abs().max()


@test
def products():
    torch.manual_seed(1)
    for m, n, k, dtype, options in (
        (4096, 4096, 4096, torch.bfloat16, {}),
        (1000, 1032, 520, torch.bfloat16, {"d": "f32"}),
        (256, 256, 8192, torch.bfloat16, {"d": "f32", "splits": 4, "tile": (128, 128, 64)}),
        (2048, 2048, 2048, torch.float16, {"d": "f32", "cluster": 2, "tile": (128, 256, 64)}),
        (1024, 1024, 1024, torch.float16, {"d": "f32", "raster": "hilbert", "tile": (128, 128, 64)}),
        (512, 512, 512, torch.float32, {"dtype": "tf32"}),
        (16, 4096, 4096, torch.bfloat16, {"d": "f32", "problem": (16, 4096, 4096)}),
    ):
        name = {"torch.bfloat16": "bf16", "torch.float16": "f16", "torch.float32": "tf32"}[str(dtype)]
        gemm = wgrun.gemm(**{"dtype": name, "problem": (m, n, k), **options})
        a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(n, k, device="cuda", dtype=dtype)
        result = torch.float32 if options.get("d") == "f32" or name == "tf32" else dtype
        for _ in range(2):
            d = torch.full((m, n), float("nan"), device="cuda", dtype=result)
            gemm(a, b, d)
            want = a.double() @ b.double().T
            error = ((d.double() - want).abs().max() / k**0.5).item()
            limit = 2e-2 if result == torch.bfloat16 or name == "tf32" else 1e-4
            assert error < limit, (m, n, k, name, options, error)
        print(f"    {m}x{n}x{k} {name} {options}: worst error / sqrt(K) {error:.2g}")


@test
def eight_bits():
    m, n, k = 256, 256, 512
    a, b = (torch.randn(x, k, device="cuda").to(torch.float8_e4m3fn) for x in (m, n))
    d = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    wgrun.gemm(dtype="e4m3", problem=(m, n, k))(a, b, d)
    want = a.double() @ b.double().T
    assert ((d.double() - want).abs().max() / k**0.5).item() < 3e-2


@test
def a_product_in_a_graph():
    m = n = 256
    k = 4096
    for options in ({}, {"splits": 4, "tile": (128, 128, 64)}):
        gemm = wgrun.gemm(dtype="bf16", d="f32", problem=(m, n, k), **options)
        a, b = (torch.randn(x, k, device="cuda", dtype=torch.bfloat16) for x in (m, n))
        d = torch.zeros(m, n, device="cuda")
        gemm(a, b, d)
        d.zero_()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            gemm(a, b, d)
        for _ in range(3):
            a.copy_(torch.randn(m, k, device="cuda"))
            graph.replay()
            torch.cuda.synchronize()
            error = (d.double() - a.double() @ b.double().T).abs().max().item()
            assert error < 1e-2, (options, error)


@test
def an_operator():
    a = torch.randn(256, 512, device="cuda", dtype=torch.bfloat16)
    weight = torch.randn(384, 512, device="cuda", dtype=torch.bfloat16) / 512**0.5
    bias = torch.randn(384, device="cuda")
    want = torch.nn.functional.gelu(a.double() @ weight.double().T + bias, approximate="tanh")
    assert (linear.linear_gelu(a, weight, bias) - want).abs().max().item() < 5e-2
    print("    opcheck:", torch.library.opcheck(linear.linear_gelu, (a, weight, bias)))
    compiled = torch.compile(lambda x: linear.linear_gelu(x, weight, bias) * 2, fullgraph=True, backend="aot_eager")
    assert (compiled(a) - 2 * want).abs().max().item() < 1e-1


@test
def foreign_arrays():
    class ByDlpack:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, stream=None):
            return self.tensor.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    class ByInterface:
        def __init__(self, tensor):
            self.__cuda_array_interface__ = tensor.__cuda_array_interface__

    kernel = scale()
    for wrap in (ByDlpack, ByInterface):
        a = torch.ones(100, device="cuda")
        kernel[1](wrap(a), 100, 3.0)
        torch.cuda.synchronize()
        assert (a == 3).all(), wrap


@test
def refused():
    kernel, a = scale(), torch.ones(64, 64, device="cuda")
    raises(wgrun.ArgumentError, "not contiguous", lambda: kernel[1](a.T[1:], 1, 1))
    raises(wgrun.ArgumentError, "of f32 is expected, not of f16", lambda: kernel[1](a.half(), 1, 1))
    raises(wgrun.ArgumentError, "cannot use arrays on a device", lambda: kernel(a, 1, 1, grid=1, backend="sim"))
    gemm = wgrun.gemm(dtype="bf16", d="f32", problem=(64, 64, 64))
    raises(wgrun.ArgumentError, "all must be on one device", lambda: gemm(a.bfloat16(), a.bfloat16().cpu(), a))
    raises(wgrun.Error, "D is 64 x 32", lambda: gemm(a.bfloat16(), a.bfloat16(), a[:, :32].contiguous()))
    assert (a == 1).all()  # the context is what it was


@test
def threads_without_a_context():
    kernel, a, errors = scale(), torch.ones(64, device="cuda"), []
    torch.cuda.synchronize()

    def work():
        try:
            scale()[1](a, 64, 2.0)
            kernel[1](a, 64, 2.0)
        except BaseException as error:
            errors.append(error)

    for _ in range(4):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    torch.cuda.synchronize()
    assert not errors, errors
    assert (a == 256).all(), a[0]


@test
def machine_code():
    for assembler in ("driver", "nvrtc", "ptxas", None):
        try:
            print(f"    {assembler}: {len(scale().cubin(assembler))} bytes")
        except wgrun.FileError as error:
            print(f"    {assembler}: {error}")
    assert scale().cubin("driver")[:4] == b"\x7fELF"


@test
def host_time():
    def per_call(work, calls=2000):
        for _ in range(50):
            work()
        torch.cuda.synchronize()
        best = 1e9
        for _ in range(5):
            begun = time.perf_counter()
            for _ in range(calls // 5):
                work()
            best = min(best, (time.perf_counter() - begun) / (calls // 5))
            torch.cuda.synchronize()
        return best * 1e6

    kernel, a = scale(), torch.ones(128, device="cuda")
    bound = kernel[1]
    print(f"    kernel[grid](A, n, f): {per_call(lambda: bound(a, 128, 1.0)):.1f} us")
    b = torch.randn(128, 128, device="cuda", dtype=torch.bfloat16)
    d = torch.empty(128, 128, device="cuda", dtype=torch.bfloat16)
    gemm = wgrun.gemm(dtype="bf16", problem=(128, 128, 128))
    print(f"    gemm(A, B, D):         {per_call(lambda: gemm(b, b, d)):.1f} us")
    print(f"    torch.mm(A, B, out=D): {per_call(lambda: torch.mm(b, b, out=d)):.1f} us")
    print(f"    tensor.mul_(1):        {per_call(lambda: a.mul_(1.0)):.1f} us")


@test
def nothing_is_left_behind():
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() < 1 << 30
    x = torch.randn(512, 512, device="cuda")
    assert torch.isfinite(x @ x).all()  # the process's CUDA is as it was


print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "wgrun", wgrun.__version__)
for body in tests:
    try:
        body()
        print("ok     ", body.__name__, flush=True)
    except BaseException:
        failed += 1
        print("FAILED ", body.__name__)
        traceback.print_exc(file=sys.stdout)
sys.exit(1 if failed else 0)
