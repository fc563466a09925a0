"""What pyproject.toml cannot say: the version, which is the project's, and the tag of a wheel that carries the library
(wgrun/libwgrun_c.so.0) and the tool (bin/wgrun), put there by `make wheel`: any Python 3, but one platform."""

import os
import platform
import re
from pathlib import Path

from setuptools import setup
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

here = Path(__file__).resolve().parent
library = here / "wgrun" / "libwgrun_c.so.0"
tool = here / "bin" / "wgrun"


def version() -> str:
    """From the project's CMakeLists.txt, or from what `make wheel` wrote beside this file."""
    for path, pattern in ((here / "VERSION", r"(.+)"), (here.parents[1] / "CMakeLists.txt", r"project\(wgrun VERSION (\S+)")):
        if path.exists():
            found = re.search(pattern, path.read_text())
            if found:
                return found.group(1).strip()
    raise SystemExit("no version: neither VERSION nor the project's CMakeLists.txt is here")


class Platform(Distribution):
    def has_ext_modules(self) -> bool:
        return library.exists() or tool.exists()


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        if not self.distribution.has_ext_modules():
            return "py3", "none", "any"
        needed = [tuple(map(int, found.groups())) for file in (library, tool) if file.exists()
                  for found in re.finditer(rb"GLIBC_(\d+)\.(\d+)", file.read_bytes())]
        tag = f"manylinux_{max(needed)[0]}_{max(needed)[1]}" if needed else "linux"
        return "py3", "none", f"{tag}_{platform.machine()}"


os.chdir(here)
setup(version=version(), data_files=[("bin", ["bin/wgrun"])] if tool.exists() else [], distclass=Platform, cmdclass={"bdist_wheel": Wheel})
