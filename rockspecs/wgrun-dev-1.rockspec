-- The module for the distribution's lua5.4. In the folder of the sources:
--   luarocks --lua-version=5.4 --local make rockspecs/wgrun-dev-1.rockspec
-- What the build needs: cmake/install-packages.sh. Nothing of CUDA is needed, to build or to load it.
rockspec_format = "3.0"
package = "wgrun"
version = "dev-1"
source = { url = "file://." } -- `make` takes the folder that it is called in
description = {
  summary = "Lua-scripted assembler for Hopper tensor cores",
  detailed = [[
A Lua script describes tiles, layouts and wgmma sequences; wgrun checks them against the PTX ISA, assembles PTX or CUDA
C++, and runs the kernel on sm_90a or on a simulator that reports every ordering fault.]],
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4, < 5.5" }
build = {
  type = "command",
  build_command = "cmake -S . -B build.luarocks -DCMAKE_BUILD_TYPE=Release -DWGRUN_TESTS=OFF -DWGRUN_LUA_INCLUDE=$(LUA_INCDIR)"
    .. " && cmake --build build.luarocks --target wgrun_lua_module -j `nproc`",
  install = { lib = { wgrun = "build.luarocks/lua/wgrun.so" } },
}
