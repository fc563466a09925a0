"""A Spack package of the tool and the libraries. packaging/release.sh writes the version and the archive's hash into it.

In a repository of packages, as packages/wgrun/package.py, and with the archive in a mirror, as MIRROR/wgrun/wgrun-VERSION.tar.gz:
spack repo add REPOSITORY; spack mirror add wgrun file://MIRROR; spack install wgrun."""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Wgrun(CMakePackage):
    """Lua-scripted assembler and checker for Hopper tensor cores: PTX of wgmma, TMA and mbarriers, checked by the rules of the PTX ISA."""

    license("MIT")

    version("0", sha256="0000000000000000000000000000000000000000000000000000000000000000", url="file:///ARCHIVE")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("lua@5.4")
    depends_on("fmt")
    depends_on("cli11@2:")
    depends_on("nlohmann-json")
    depends_on("libedit")
    depends_on("isl@0.23:")  # which is opened at run time, as libisl.so.23

    conflicts("platform=darwin")
    conflicts("platform=windows")

    generator("ninja")

    def cmake_args(self):
        lua = self.spec["lua"].prefix
        return [
            self.define("WGRUN_TESTS", False),
            self.define("WGRUN_LUA_INCLUDE", lua.include),
            self.define("WGRUN_LUA_ARCHIVE_lua5.4", lua.lib.join("liblua.a")),
        ]
