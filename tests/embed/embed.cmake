# Outside projects, a folder each: built against what is installed, as archive and as shared library, and with wgrun's
# source as a folder of theirs. Each is a project that stands alone.
set(prefix ${PROJECT_BINARY_DIR}/embed/prefix)
set(embed ${CMAKE_CURRENT_SOURCE_DIR}/embed/build.sh)
set(compilers "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")
if(WGRUN_ASAN)
    list(APPEND compilers "CXXFLAGS=-fsanitize=address,undefined" "CFLAGS=-fsanitize=address,undefined")
elseif(WGRUN_TSAN)
    # As a part of this build; the others want an engine of their own.
    add_subdirectory(embed/threads)
    target_link_libraries(threads PRIVATE wgrun_flags)
    return()
endif()

add_test(NAME "embed: install" COMMAND ${embed} install ${PROJECT_BINARY_DIR} ${prefix})
set_tests_properties("embed: install" PROPERTIES FIXTURES_SETUP installed ENVIRONMENT "${compilers}" TIMEOUT 300)

file(GLOB projects CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/embed/*/CMakeLists.txt)
foreach(project IN LISTS projects)
    cmake_path(GET project PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    foreach(kind static shared)
        set(test "embed: ${name}, ${kind}")
        add_test(NAME ${test} COMMAND ${embed} package ${kind} ${folder} ${prefix} ${PROJECT_BINARY_DIR}/embed/${name}-${kind})
        set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED installed SKIP_RETURN_CODE 77 TIMEOUT 300
                                                ENVIRONMENT "${compilers}")
    endforeach()
endforeach()

add_test(NAME "embed: worker" COMMAND ${embed} worker ${prefix} $<TARGET_FILE_DIR:fake_cuda> ${PROJECT_BINARY_DIR}/embed/worker)
set_tests_properties("embed: worker" PROPERTIES FIXTURES_REQUIRED installed TIMEOUT 300 ENVIRONMENT "${compilers}")

# Without optimization, as a host that asks for nothing.
if(WGRUN_ASAN)
    return()
endif()
add_test(NAME "embed: folder" COMMAND ${embed} folder ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/embed/folder)
set_tests_properties("embed: folder" PROPERTIES TIMEOUT 1500 PROCESSORS 2 ENVIRONMENT "${compilers}")
