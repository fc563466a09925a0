# wgrun.so, the module of `require "wgrun"` for an interpreter that is already there: the distribution's lua5.4, or any
# host of Lua 5.4. It is <build>/lua/wgrun.so, and <prefix>/lib/lua/5.4/wgrun.so once installed.
#
# It holds no Lua of its own: lua_* stay undefined, and the interpreter that loads it has them. Lua built as C and Lua
# built as C++ have the same names with C linkage on Debian (liblua5.4 and liblua5.4-c++), and the bindings are right
# under both (bindings/lua/guard.hpp), so that one module serves both. Where Lua as C++ has names of C++ (Ubuntu 24.04),
# the module that serves it is the one of a build with WGRUN_LUA_CXX.
#
# The C++ runtime is the shared one of the platform: where Lua is built as C++, its errors pass through the module's
# frames as exceptions, and whoever unwinds them must be the one whose context the frames' personality routine reads.
# With -static-libgcc these would be two.
add_library(wgrun_lua_module MODULE $<TARGET_OBJECTS:wgrun_lua>)
list(TRANSFORM WGRUN_ENGINE PREPEND wgrun_ OUTPUT_VARIABLE engine)
target_link_libraries(wgrun_lua_module PRIVATE ${engine} wgrun_flags)
# Only luaopen_wgrun is seen from outside, whatever else is in the process: another wgrun, another {fmt}. Once loaded
# the module stays: Lua unloads its modules with the state, while another thread may still be in it.
set(exports ${CMAKE_CURRENT_LIST_DIR}/lua_module.map)
target_link_options(wgrun_lua_module PRIVATE -Wl,--version-script=${exports} -Wl,-z,nodelete)
set_target_properties(wgrun_lua_module PROPERTIES
    LINKER_LANGUAGE CXX PREFIX "" OUTPUT_NAME wgrun SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lua
    LINK_DEPENDS ${exports})
if(WGRUN_INSTALL)
    install(TARGETS wgrun_lua_module LIBRARY DESTINATION lib/lua/5.4 COMPONENT lua)
endif()
