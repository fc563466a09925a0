"""What a process compiles is checked: with compilers that are made up, which call back as Triton, TileLang and CuTe DSL do."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TEXT = Path(__file__).resolve().parents[1] / "ptx" / "missing_fence.ptx"

TRITON_KNOBS = """
class compilation:
    listener = None
"""
TRITON = """
from . import knobs
def compile(path, cache_hit=False, shared=0):
    if knobs.compilation.listener is not None:
        knobs.compilation.listener(src=None, metadata={"shared": shared}, metadata_group={"k.json": "", "k.ptx": path}, times=None, cache_hit=cache_hit)
"""
TVM_FFI = """
functions = {}
def get_global_func(name): return functions[name]
def register_global_func(name, function, override=False): functions[name] = function
"""
TILELANG = """
import tvm_ffi
tvm_ffi.functions["tilelang_callback_cuda_compile"] = lambda code, target, options=None: b"cubin of " + code.encode()
class Target: attrs = {"arch": "sm_90a"}
def compile(code): return tvm_ffi.functions["tilelang_callback_cuda_compile"](code, Target(), {})
"""
TILELANG_ENV = "TILELANG_TEMPLATE_PATH = CUTLASS_INCLUDE_DIR = '/nowhere'\n"
NVCC = """
import re
def compile_cuda(code, target_format, arch, options):
    assert target_format == "ptx" and arch == ["-arch=sm_90a"] and "-lineinfo" in options
    source = re.match(r'#line 1 "(.*)"', code).group(1)
    return bytearray(open(TEXT).read().replace("product.cu", source).encode())
"""
CUTE = """
class JitFunctionArtifacts:
    def __init__(self, path):
        self.PTX = path
        self.__post_init__()
    def __post_init__(self):
        self.PTX = self.PTX and open(self.PTX).read()
"""


class Compilations(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = Path(self.folder.name)
        (root / "tmp").mkdir()
        for name, text in {
            "triton/__init__.py": TRITON, "triton/knobs.py": TRITON_KNOBS, "tvm_ffi.py": TVM_FFI,
            "tilelang/__init__.py": TILELANG, "tilelang/env.py": TILELANG_ENV, "tilelang/contrib/__init__.py": "",
            "tilelang/contrib/nvcc.py": f"TEXT = {str(TEXT)!r}\n{NVCC}", "cutlass/__init__.py": "",
            "cutlass/base_dsl/__init__.py": "", "cutlass/base_dsl/jit_executor.py": CUTE,
        }.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run_program(self, program, *command, **environment):
        """The exit code and what is on standard error."""
        file = Path(self.folder.name) / "program.py"
        file.write_text(f"TEXT = {str(TEXT)!r}\n{program}")
        env = {**os.environ, "TMPDIR": str(Path(self.folder.name) / "tmp"), **environment}
        env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], self.folder.name])
        done = subprocess.run([sys.executable, *command, str(file), "an argument"], capture_output=True, text=True, env=env, timeout=120)
        return done.returncode, done.stderr

    def left_behind(self):
        return [path.name for path in (Path(self.folder.name) / "tmp").rglob("*") if path.is_file()]

    def test_a_program_that_knows_nothing_of_wgrun(self):
        code, err = self.run_program("import sys, triton\nassert sys.argv[1:] == ['an argument']\ntriton.compile(TEXT)\n", "-m", "wgrun")
        self.assertEqual(code, 1, err)
        self.assertIn("product.cu:15: error: an accumulator is accessed by a thread", err)
        self.assertIn("[WG-FENCE-01]", err)
        self.assertIn("product.cu:20: which is inlined here", err)
        self.assertIn(f"{TEXT}:32: in the PTX", err)
        self.assertIn("fix: wgmma.fence.sync.aligned before line 32", err)
        self.assertIn("wgrun: checked 1 kernel by Triton: 1 error, 0 remarks", err)
        self.assertEqual(self.left_behind(), [])

    def test_a_text_is_told_once_and_from_the_cache_too(self):
        code, err = self.run_program("import triton\ntriton.compile(TEXT, cache_hit=True)\ntriton.compile(TEXT)\n", "-m", "wgrun")
        self.assertEqual(code, 1)
        self.assertEqual(err.count("error: an accumulator"), 1)

    def test_a_program_whose_kernels_are_right_ends_as_it_would(self):
        right = 'text = ".version 8.0\\n.target sm_90a\\n.address_size 64\\n.visible .entry k() { ret; }\\n"\n'
        program = right + "open(__file__ + '.ptx', 'w').write(text)\nimport triton\ntriton.compile(__file__ + '.ptx')\n"
        code, err = self.run_program(program, "-m", "wgrun")
        self.assertEqual((code, err), (0, "wgrun: checked 1 kernel by Triton: 0 errors, 0 remarks\n"))
        code, err = self.run_program(program + "raise SystemExit(7)\n", "-m", "wgrun")
        self.assertEqual(code, 7)

    def test_candidates_that_cannot_be_loaded_are_not_checked(self):
        tool = [os.environ.get("WGRUN_TOOL", "wgrun"), "-e", 'print(require "wgrun".target.cta_shared)']
        most = int(subprocess.run(tool, capture_output=True, text=True, check=True).stdout)
        for bytes_, code in ((most, 1), (most + 1, 0)):
            self.assertEqual(self.run_program(f"import triton\ntriton.compile(TEXT, shared={bytes_})\n", "-m", "wgrun")[0], code)

    def test_errors_count_also_where_the_program_says_that_it_ends_well(self):
        for ending in ("raise SystemExit(0)\n", "import sys\nsys.exit()\n"):
            code, _ = self.run_program("import triton\ntriton.compile(TEXT)\n" + ending, "-m", "wgrun")
            self.assertEqual(code, 1)

    def test_the_environment_variable_and_the_call(self):
        program = "import wgrun, triton\ntriton.compile(TEXT)\n"
        self.assertEqual(self.run_program(program), (0, ""))
        code, err = self.run_program(program, WGRUN_CHECK="1")
        self.assertEqual(code, 0)
        self.assertIn("product.cu:15: error", err)
        code, err = self.run_program("""
import triton, wgrun
told = []
triton.knobs.compilation.listener = lambda **given: told.append("theirs")
wgrun.check_compilations(lambda compiler, findings: told.append((compiler, [one.rule for one in findings], findings.kernels)))
triton.compile(TEXT)
assert told == ["theirs", ("Triton", ["WG-FENCE-01"], ["product"])], told
""")
        self.assertEqual((code, err), (0, ""))

    def test_processes_that_it_starts(self):
        program = """
import subprocess, sys
if len(sys.argv) > 1: sys.exit(subprocess.run([sys.executable, __file__]).returncode)
import triton
triton.compile(TEXT)
"""
        code, err = self.run_program(program, "-m", "wgrun")
        self.assertEqual(code, 1)
        self.assertIn("product.cu:15: error", err)
        self.assertEqual(self.left_behind(), [])

    def test_processes_that_get_the_path_of_this_one(self):
        program = """
import os, subprocess, sys
if len(sys.argv) > 1:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}  # as torch.inductor starts its workers
    sys.exit(subprocess.run([sys.executable, __file__], env=env).returncode)
import triton
triton.compile(TEXT)
"""
        code, err = self.run_program(program, "-m", "wgrun")
        self.assertEqual(code, 1)
        self.assertIn("product.cu:15: error", err)

    def test_processes_whose_output_goes_elsewhere(self):
        program = """
import subprocess, sys
if len(sys.argv) > 1: sys.exit(subprocess.run([sys.executable, __file__], stderr=subprocess.DEVNULL).returncode)
import triton
triton.compile(TEXT)
"""
        code, err = self.run_program(program, "-m", "wgrun")
        self.assertEqual(code, 1)
        self.assertEqual(err.count("product.cu:15: error"), 1)
        self.assertIn("wgrun: in processes whose output goes elsewhere:", err)
        self.assertEqual(self.left_behind(), [])

    def test_processes_that_are_forked_and_end_at_once(self):
        # As the workers of torch.inductor's pool: what Python does at its end is not done.
        program = """
import os, triton
for _ in range(2):
    if os.fork() == 0:
        triton.compile(TEXT)
        os._exit(0)
    os.wait()
"""
        code, err = self.run_program(program, "-m", "wgrun")
        self.assertEqual(code, 1)
        self.assertEqual(err.count("product.cu:15: error"), 2)
        self.assertIn("wgrun: checked 1 kernel by Triton: 1 error, 0 remarks", err)  # of the same text
        self.assertEqual(self.left_behind(), [])

    def test_a_pool_of_processes(self):
        program = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
def compiled(path):
    import triton
    triton.compile(path)
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with ProcessPoolExecutor(2, mp_context=get_context(method)) as pool:
            list(pool.map(compiled, [TEXT, TEXT]))
"""
        code, err = self.run_program(program, "-m", "wgrun")
        self.assertEqual(code, 1, err)
        self.assertIn("product.cu:15: error", err)
        self.assertEqual(self.left_behind(), [])

    def test_tilelang_is_told_at_its_cuda(self):
        code, err = self.run_program("import tilelang\nassert tilelang.compile('// CUDA') == b'cubin of // CUDA'\n", "-m", "wgrun")
        self.assertEqual(code, 1, err)
        self.assertRegex(err, r"/tmp/wgrun-\w+/tilelang.cu:15: error: an accumulator")
        self.assertIn("checked 1 kernel by TileLang", err)
        self.assertEqual(sorted(self.left_behind()), ["tilelang.cu", "tilelang.ptx"])

    def test_cute(self):
        program = "from cutlass.base_dsl.jit_executor import JitFunctionArtifacts as Made\n" \
                  "assert Made(TEXT).PTX == open(TEXT).read()\nMade(None)\n"
        code, err = self.run_program(program + "import os\nassert os.environ['CUTE_DSL_KEEP_PTX'] == '1'\n", "-m", "wgrun")
        self.assertEqual(code, 1, err)
        self.assertIn("product.cu:15: error", err)
        self.assertIn("checked 1 kernel by CuTe DSL", err)

    def test_without_tool_and_library_the_program_goes_on(self):
        program = "import triton\ntriton.compile(TEXT)\nprint('done')\n"
        code, err = self.run_program(program, "-m", "wgrun", WGRUN_TOOL="", PATH="/nowhere", WGRUN_LIBRARY="/nowhere/none.so")
        self.assertEqual(code, 0)
        self.assertIn("wgrun: what Triton compiles is not checked: no wgrun on PATH", err)

    def test_without_a_program_it_says_how(self):
        done = subprocess.run([sys.executable, "-m", "wgrun"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("python3 -m wgrun PROGRAM", done.stderr)


if __name__ == "__main__":
    unittest.main()
