# wgrun_module(NAME DEPENDS OTHER...)    engine/NAME/*.cpp   -> static library wgrun_NAME
# wgrun_bindings(NAME DEPENDS OTHER...)  bindings/NAME/*.cpp -> static library wgrun_NAME
# wgrun_embed(TARGET FOLDER)             FOLDER/*.lua become strings inside TARGET

add_library(wgrun_flags INTERFACE)
target_compile_features(wgrun_flags INTERFACE cxx_std_20)
target_compile_options(wgrun_flags INTERFACE -Wall -Wextra -Wpedantic -Werror)
target_compile_definitions(wgrun_flags INTERFACE WGRUN_VERSION="${PROJECT_VERSION}")
if(WGRUN_ASAN)
    target_compile_options(wgrun_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                 -fno-omit-frame-pointer)
    target_link_options(wgrun_flags INTERFACE -fsanitize=address,undefined)
endif()
if(WGRUN_FUZZ)
    target_compile_options(wgrun_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                                                 -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(wgrun_flags INTERFACE -fsanitize=address,undefined)
endif()

function(wgrun_library name folder)
    cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${name}/*.cpp)
    list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/bindings/cli/main.cpp)
    list(TRANSFORM arg_DEPENDS PREPEND wgrun_)
    add_library(wgrun_${name} STATIC ${sources})
    target_include_directories(wgrun_${name} PUBLIC ${PROJECT_SOURCE_DIR}/engine/include ${PROJECT_SOURCE_DIR}/engine
                                                    ${PROJECT_SOURCE_DIR})
    target_link_libraries(wgrun_${name} PUBLIC ${arg_DEPENDS} wgrun_fmt Threads::Threads
                                        PRIVATE wgrun_flags nlohmann_json::nlohmann_json)
endfunction()

function(wgrun_module name)
    wgrun_library(${name} engine ${ARGN})
endfunction()

function(wgrun_bindings name)
    wgrun_library(${name} bindings ${ARGN})
endfunction()

function(wgrun_embed target folder)
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.lua)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${folder}.gen.cpp)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
