# Finds the static Lua 5.4 of Debian and Ubuntu (liblua5.4-dev). CMake's own FindLua picks the shared one,
# which would tie the binary to the machine that built it.
set(flavour lua5.4)
if(WGRUN_LUA_CXX)
    set(flavour lua5.4-c++)
endif()
find_path(WGRUN_LUA_INCLUDE lua.h PATH_SUFFIXES lua5.4 REQUIRED)
find_library(WGRUN_LUA_ARCHIVE_${flavour} lib${flavour}.a REQUIRED)

add_library(wgrun_liblua INTERFACE)
target_include_directories(wgrun_liblua SYSTEM INTERFACE ${WGRUN_LUA_INCLUDE})
target_link_libraries(wgrun_liblua INTERFACE ${WGRUN_LUA_ARCHIVE_${flavour}} m ${CMAKE_DL_LIBS})
if(WGRUN_LUA_CXX)
    target_compile_definitions(wgrun_liblua INTERFACE WGRUN_LUA_CXX)
endif()
