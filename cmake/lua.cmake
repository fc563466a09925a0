# Lua 5.4 of Debian and Ubuntu (liblua5.4-dev): required top level, and where it is missing there is no Lua side.
#
# wgrun_lua_headers   what the Lua bindings are compiled with; the host brings the library
# wgrun_liblua        the static library. CMake's own FindLua picks the shared one, which would tie the binary to the
#                     machine that built it
# wgrun_private_lua   makes WGRUN_PRIVATE_LUA, the same for shared libraries; wgrun_streams are objects that it needs
#
# Distributions compile static libraries for programs alone: they take the addresses of stdin, stdout and stderr as
# only a program can. That is all of them that is so; under other names they are variables of ours (streams.c).
function(wgrun_private_archive made archive)
    add_custom_command(OUTPUT ${made}
        COMMAND ${CMAKE_OBJCOPY} --redefine-sym stdin=wgrun_stdin --redefine-sym stdout=wgrun_stdout
                --redefine-sym stderr=wgrun_stderr ${archive} ${made}
        DEPENDS ${archive} VERBATIM)
endfunction()
set(flavour lua5.4)
set(archives liblua5.4.a liblua.a) # Debian's name, and that of Lua's own makefile, which conda and Spack keep
if(WGRUN_LUA_CXX)
    set(flavour lua5.4-c++)
    set(archives liblua5.4-c++.a)
endif()
set(required "")
if(PROJECT_IS_TOP_LEVEL)
    set(required REQUIRED)
endif()
find_path(WGRUN_LUA_INCLUDE lua.hpp PATH_SUFFIXES lua5.4 ${required})
find_library(WGRUN_LUA_ARCHIVE_${flavour} NAMES ${archives} ${required})
set(WGRUN_LUA_ARCHIVE ${WGRUN_LUA_ARCHIVE_${flavour}})

if(WGRUN_LUA_INCLUDE)
    add_library(wgrun_lua_headers INTERFACE)
    if(WGRUN_LUA_CXX AND WGRUN_LUA_ARCHIVE)
        include(${CMAKE_CURRENT_LIST_DIR}/lua_names.cmake)
        wgrun_lua_has_c_names(${WGRUN_LUA_ARCHIVE} WGRUN_LUA_CXX_HAS_C_NAMES)
        if(NOT WGRUN_LUA_CXX_HAS_C_NAMES)
            target_include_directories(wgrun_lua_headers BEFORE INTERFACE ${WGRUN_LUA_CXX_HEADERS})
        endif()
    endif()
    target_include_directories(wgrun_lua_headers SYSTEM INTERFACE ${WGRUN_LUA_INCLUDE})
endif()
if(WGRUN_LUA_INCLUDE AND WGRUN_LUA_ARCHIVE)
    add_library(wgrun_liblua INTERFACE)
    target_link_libraries(wgrun_liblua INTERFACE wgrun_lua_headers ${WGRUN_LUA_ARCHIVE} m ${CMAKE_DL_LIBS})

    set(WGRUN_PRIVATE_LUA ${CMAKE_CURRENT_BINARY_DIR}/private_lua.a)
    wgrun_private_archive(${WGRUN_PRIVATE_LUA} ${WGRUN_LUA_ARCHIVE})
    add_custom_target(wgrun_private_lua DEPENDS ${WGRUN_PRIVATE_LUA})
    add_library(wgrun_streams OBJECT ${CMAKE_CURRENT_LIST_DIR}/streams.c)
endif()
