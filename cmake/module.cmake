# wgrun_module(NAME DEPENDS OTHER...)    engine/NAME/*.cpp   -> static library wgrun_NAME; WGRUN_ENGINE lists them
# wgrun_bindings(NAME DEPENDS OTHER...)  bindings/NAME/*.cpp -> static library wgrun_NAME
# wgrun_runs_once(NAME...)               modules and bindings whose code has no loops that take time: -O1, which compiles in two thirds of it
# wgrun_embed(TARGET FOLDER FUNCTION)    FOLDER/*.lua become strings inside TARGET, which FUNCTION() gives
# wgrun_embed_code(TARGET FOLDER)        and what Lua makes of them, which stdlib_code() gives
#
# Tests and the tool link these, module by module. What others link is put together from the same objects
# (cmake/publish.cmake).

# How wgrun's own files are compiled.
add_library(wgrun_flags INTERFACE)
target_compile_features(wgrun_flags INTERFACE cxx_std_20)
# g++ takes values of std::optional and std::regex for uninitialised ones, in their own code.
target_compile_options(wgrun_flags INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${WGRUN_WERROR}>:-Werror>
                                             $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(WGRUN_ASAN)
    target_compile_options(wgrun_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                 -fno-omit-frame-pointer)
    target_link_options(wgrun_flags INTERFACE -fsanitize=address,undefined)
endif()
if(WGRUN_TSAN)
    target_compile_options(wgrun_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
    target_link_options(wgrun_flags INTERFACE -fsanitize=thread)
endif()
if(WGRUN_FUZZ)
    target_compile_options(wgrun_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                                                 -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(wgrun_flags INTERFACE -fsanitize=address,undefined)
endif()

include(${PROJECT_SOURCE_DIR}/cmake/precompiled.cmake)

# Eight files at once need half the time of eight, and 32 files three quarters of that: most of it goes into headers and
# the templates that they bring along. A compiler cache, or somebody who changes one file again and again, is better off
# without; a host compiles them once, however it is built. Many processors are better off with eight, of which there are
# enough for all of them.
if((CMAKE_BUILD_TYPE STREQUAL Release OR NOT PROJECT_IS_TOP_LEVEL) AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    option(WGRUN_UNITY "Compile several files at once" ON)
else()
    option(WGRUN_UNITY "Compile several files at once" OFF)
endif()
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
set(WGRUN_AT_ONCE 8)
if(processors LESS_EQUAL 4 AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(WGRUN_AT_ONCE 32)
endif()
if(WGRUN_UNITY)
    # Of several files at once g++ takes all but the first for headers, whose types must not be of one file alone.
    target_compile_options(wgrun_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()

# What wgrun's own files see of each other; no host does.
add_library(wgrun_inside INTERFACE)
target_include_directories(wgrun_inside INTERFACE ${PROJECT_SOURCE_DIR}/engine ${PROJECT_SOURCE_DIR})

# Public headers live with their modules: MODULE/include/wgrun/NAME.hpp is "wgrun/NAME.hpp" to whoever depends on MODULE.
function(wgrun_public_headers result)
    set(found "")
    foreach(module IN LISTS ARGN)
        file(GLOB folder ${PROJECT_SOURCE_DIR}/engine/${module}/include ${PROJECT_SOURCE_DIR}/bindings/${module}/include)
        list(APPEND found ${folder})
    endforeach()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

function(wgrun_library name folder)
    cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
    set(place ${PROJECT_SOURCE_DIR}/${folder}/${name})
    file(GLOB sources CONFIGURE_DEPENDS ${place}/*.cpp ${place}/*/*.cpp)
    list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/bindings/cli/main.cpp ${PROJECT_SOURCE_DIR}/bindings/cli/heap.cpp)
    list(TRANSFORM arg_DEPENDS PREPEND wgrun_)
    add_library(wgrun_${name} STATIC ${sources})
    wgrun_public_headers(public ${name})
    target_include_directories(wgrun_${name} PUBLIC ${public} ${WGRUN_GENERATED}/include)
    target_link_libraries(wgrun_${name} PUBLIC ${arg_DEPENDS} Threads::Threads
                                        PRIVATE wgrun_flags wgrun_inside wgrun_fmt wgrun_json)
    wgrun_precompile(wgrun_${name})
    if(WGRUN_UNITY)
        set_target_properties(wgrun_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${WGRUN_AT_ONCE})
    endif()
endfunction()

function(wgrun_module name)
    wgrun_library(${name} engine ${ARGN})
    set(WGRUN_ENGINE ${WGRUN_ENGINE} ${name} PARENT_SCOPE)
endfunction()

function(wgrun_bindings name)
    wgrun_library(${name} bindings ${ARGN})
endfunction()

function(wgrun_runs_once)
    foreach(name IN LISTS ARGN)
        target_compile_options(wgrun_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    endforeach()
endfunction()

function(wgrun_embed target folder function)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.lua)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.gen.cpp)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} "-DFILES=${files}"
                -DFOLDER=${PROJECT_SOURCE_DIR}/${folder}
                -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()

# Nothing where what is built does not run here, or the host brings Lua.
function(wgrun_embed_code target folder)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.lua)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/stdlib_code.gen.cpp)
    if(CMAKE_CROSSCOMPILING OR NOT TARGET wgrun_liblua)
        file(CONFIGURE OUTPUT ${output} CONTENT "#include \"bindings/lua/stdlib.hpp\"\n
wgrun::lua::StdlibCode wgrun::lua::stdlib_code() { return {}; }\n")
    else()
        add_executable(wgrun_compile_lua ${PROJECT_SOURCE_DIR}/cmake/compile_lua.cpp)
        target_link_libraries(wgrun_compile_lua PRIVATE wgrun_flags wgrun_inside wgrun_liblua)
        wgrun_public_headers(public diag rules)
        target_include_directories(wgrun_compile_lua PRIVATE ${public})
        add_custom_command(OUTPUT ${output}
            COMMAND wgrun_compile_lua ${output} ${PROJECT_SOURCE_DIR}/${folder} ${files}
            DEPENDS ${files} VERBATIM)
    endif()
    target_sources(${target} PRIVATE ${output})
endfunction()
