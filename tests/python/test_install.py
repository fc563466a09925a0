"""`pip install` of the package, and a wheel that carries the library: both into folders of their own, without a network.
Skipped where this Python lacks pip, setuptools or wheel."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ["WGRUN_LIBRARY"])
USE = ("import wgrun; k = wgrun.loads(\"return require('wgrun').kernel('k', {}, function() end)\").only; "
       "print(k.name, wgrun.__file__)")
try:
    for name in ("pip", "setuptools", "wheel"):
        if importlib.util.find_spec(name) is None:
            raise ImportError(f"{sys.executable} has no {name}")

    MISSING = ""
except ImportError as error:
    MISSING = str(error)


def run(*command, **environment):
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "WGRUN_LIBRARY")}
    done = subprocess.run([sys.executable, *command], env={**env, **environment}, cwd="/", text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}:\n{done.stdout}")
    return done.stdout


@unittest.skipIf(MISSING, MISSING)
class Install(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.package = self.folder / "project" / "bindings" / "python"  # pip builds beside the sources
        shutil.copytree(SOURCE / "bindings" / "python", self.package)
        shutil.copy(SOURCE / "CMakeLists.txt", self.folder / "project")  # and copytree has followed the links to docs/
        self.target = self.folder / "site"

    def install(self, what):
        run("-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target",
            str(self.target), str(what))

    def test_without_the_library(self):
        self.install(self.package)
        said = run("-c", USE, PYTHONPATH=str(self.target), WGRUN_LIBRARY=str(LIBRARY))
        self.assertIn(f"k {self.target}", said)
        self.assertEqual(run("-m", "wgrun", "skill", PYTHONPATH=str(self.target)), (SOURCE / "docs" / "SKILL.md").read_text())
        self.assertTrue((self.target / "wgrun" / "llms.txt").exists())
        with self.assertRaises(AssertionError) as caught:
            run("-c", USE, PYTHONPATH=str(self.target), WGRUN_LIBRARY="/no/such/library.so")
        self.assertIn("/no/such/library.so", str(caught.exception))

    def test_a_wheel_that_carries_it_and_the_tool(self):
        subprocess.run([SOURCE / "packaging" / "wheel.sh", LIBRARY.parents[1], self.folder, sys.executable], check=True,
                       stdout=subprocess.DEVNULL)
        (made,) = self.folder.glob(f"wgrun-*-py3-none-manylinux_2_*_{os.uname().machine}.whl")
        self.install(made)
        self.assertIn(f"k {self.target}", run("-c", USE, PYTHONPATH=str(self.target)))
        tool = self.target / "bin" / "wgrun"
        self.assertTrue(subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout.startswith("wgrun "))

    def test_other_runpaths_are_refused(self):
        """Of libraries whose RUNPATH has the entries of a build tree, an empty one or a relative one."""
        compiler = shutil.which("cc") or shutil.which("c++")
        for path, good in (("$ORIGIN", True), ("$ORIGIN/../lib", True), ("", True), ("/build/lib:::", False), (":", False),
                           ("lib", False), ("$ORIGIN:", False)):
            made = self.folder / "a.so"
            subprocess.run([compiler, "-shared", "-o", made, "-x", "c", os.devnull, *([f"-Wl,-rpath,{path}"] if path else [])],
                           check=True)
            said = subprocess.run([SOURCE / "cmake" / "runpaths.sh", made], stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual(said.returncode == 0, good, f"{path}: {said.stdout}")


if __name__ == "__main__":
    if MISSING:
        print(f"skipped: {MISSING}")
        sys.exit(77)
    unittest.main()
