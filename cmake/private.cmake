# targets wgrun_fmt and wgrun_json: {fmt} and nlohmann/json, which only wgrun's own files see.
#
# Their include folders are copied here, since a target that find_package imports is known in this folder alone, and
# a host that adds this folder has to be able to link what depends on it.
#
# {fmt} is compiled once and linked statically. Debian and Ubuntu have the shared library only, which would tie the
# binary to the machine that built it, and the header-only form, which makes every file that formats a line take three
# times as long to compile. It is a module of
# the engine then: its objects go into the libraries.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)

get_target_property(folders fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
if(fmt_VERSION VERSION_LESS 10)
    list(APPEND WGRUN_ENGINE fmt)
    add_library(wgrun_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
    target_compile_features(wgrun_fmt PUBLIC cxx_std_20)
    target_include_directories(wgrun_fmt SYSTEM PUBLIC ${folders})
else()
    # Other versions keep other parts out of their headers.
    add_library(wgrun_fmt INTERFACE)
    target_compile_definitions(wgrun_fmt INTERFACE FMT_HEADER_ONLY=1)
    target_include_directories(wgrun_fmt SYSTEM INTERFACE ${folders})
endif()

get_target_property(folders nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
add_library(wgrun_json INTERFACE)
target_include_directories(wgrun_json SYSTEM INTERFACE ${folders})
