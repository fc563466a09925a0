# find_package(wgrun [COMPONENTS lua c])
#
# wgrun::wgrun   the engine, for C++
# wgrun::lua     luaopen_wgrun, for a host that brings its own Lua 5.4
# wgrun::c       the C API, with a Lua of its own inside
#
# Each is the shared library where BUILD_SHARED_LIBS is on, and the archive elsewhere; wgrun::wgrun_shared and
# wgrun::wgrun_static (lua_..., c_...) say which.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/wgrun-targets.cmake)

set(kind static)
if(BUILD_SHARED_LIBS)
    set(kind shared)
endif()
foreach(name wgrun lua c)
    if(TARGET wgrun::${name}_${kind})
        set(wgrun_${name}_FOUND TRUE)
        if(NOT TARGET wgrun::${name})
            add_library(wgrun::${name} ALIAS wgrun::${name}_${kind})
        endif()
    endif()
endforeach()
foreach(component IN LISTS wgrun_FIND_COMPONENTS)
    if(wgrun_FIND_REQUIRED_${component} AND NOT wgrun_${component}_FOUND)
        set(wgrun_FOUND FALSE)
        set(wgrun_NOT_FOUND_MESSAGE "this wgrun was built without ${component}")
    endif()
endforeach()
