# wgrun_precompile(TARGET)   TARGET's files are compiled with the standard library's headers parsed already
#
# A quarter of all compile time. Not where a compiler cache is: it cannot share what was compiled with a
# precompiled header between folders.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp CONTENT "\n")
    add_library(wgrun_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(wgrun_precompiled PRIVATE wgrun_flags wgrun_fmt Threads::Threads)
    target_precompile_headers(wgrun_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
endif()

function(wgrun_precompile target)
    if(TARGET wgrun_precompiled)
        target_precompile_headers(${target} REUSE_FROM wgrun_precompiled)
    endif()
endfunction()
