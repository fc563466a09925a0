"""What pyproject.toml cannot say: the version, which is the project's, and the tag of a wheel that carries the library
(wgrun/libwgrun_c.so.N) and the tool (bin/wgrun): any Python 3, but one platform.

They come from the build folder that WGRUN_BUILD names (`make wheel`), or, in a source distribution, from the project's sources, which
are built (source/, packaging/sdist.sh). Without both the package is Python alone."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

here = Path(__file__).resolve().parent
source = here / "source"


def version() -> str:
    """The project's, from its CMakeLists.txt."""
    for root in (source, here.parents[1]):
        if (root / "CMakeLists.txt").exists():
            found = re.search(r"project\(wgrun VERSION (\S+)", (root / "CMakeLists.txt").read_text("utf-8"))
            if found:
                return found.group(1)
    raise SystemExit("no version: the project's CMakeLists.txt is not here")


def cmake(*words: object) -> None:
    subprocess.run(["cmake", *map(str, words)], check=True)


def build_from_source() -> Path:
    build = here / "build-source"
    cmake("-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DWGRUN_TESTS=OFF", "-DWGRUN_UNITY=ON")
    cmake("--build", build, "--target", "wgrun", "wgrun_lib_c_shared", "--parallel", os.cpu_count() or 1)
    return build


def carry(build: Path) -> None:
    """The library and the tool as they are installed from a build folder, into the package."""
    prefix = here / "prefix"
    for part in ("lib_c", "tool"):
        cmake("--install", build, "--component", part, "--strip", "--prefix", prefix)
    (library,) = (path for path in prefix.rglob("libwgrun_c.so.*") if re.search(r"\.so\.\d+$", path.name))
    shutil.copy(library, here / "wgrun" / library.name)
    shutil.copytree(prefix / "bin", here / "bin", dirs_exist_ok=True)
    shutil.rmtree(prefix)


def carried() -> list[Path]:
    return [path for path in (*(here / "wgrun").glob("libwgrun_c.so.*"), here / "bin" / "wgrun") if path.exists()]


class Platform(Distribution):
    def has_ext_modules(self) -> bool:
        return bool(carried())


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        if not self.distribution.has_ext_modules():
            return "py3", "none", "any"
        needed = [tuple(map(int, found.groups())) for file in carried()
                  for found in re.finditer(rb"GLIBC_(\d+)\.(\d+)", file.read_bytes())]
        tag = f"manylinux_{max(needed)[0]}_{max(needed)[1]}" if needed else "linux"
        return "py3", "none", f"{tag}_{platform.machine()}"


os.chdir(here)
if "bdist_wheel" in sys.argv and not carried():
    if os.environ.get("WGRUN_BUILD"):
        carry(Path(os.environ["WGRUN_BUILD"]))
    elif source.exists():
        carry(build_from_source())
setup(version=version(), data_files=[("bin", ["bin/wgrun"])] if (here / "bin" / "wgrun").exists() else [], distclass=Platform,
      cmdclass={"bdist_wheel": Wheel})
