# wgrun_lua_has_c_names(LIBRARY RESULT): whether the functions of a Lua library have C linkage. Debian 12's liblua5.4-c++
# declares them extern "C"; Ubuntu 24.04's leaves them as a C++ compiler names them (_Z13lua_tolstringP9lua_StateiPm), so
# that Lua's lua.hpp does not suit it: cmake/lua_cxx has one that does.
include(CheckCXXSourceCompiles)
set(WGRUN_LUA_CXX_HEADERS ${CMAKE_CURRENT_LIST_DIR}/lua_cxx)
function(wgrun_lua_has_c_names library result)
    set(CMAKE_REQUIRED_INCLUDES ${WGRUN_LUA_INCLUDE})
    set(CMAKE_REQUIRED_LIBRARIES ${library} m ${CMAKE_DL_LIBS})
    set(CMAKE_REQUIRED_QUIET ON)
    check_cxx_source_compiles("#include <lua.hpp>
        int main() { lua_close(luaL_newstate()); }" ${result})
    set(${result} ${${result}} PARENT_SCOPE)
endfunction()
