# target wgrun_fmt: {fmt}, compiled once and linked statically. Debian and Ubuntu have the shared library only, which
# would tie the binary to the machine that built it, and the header-only form, which makes every file that formats a
# line take three times as long to compile.
find_package(fmt REQUIRED)
if(fmt_VERSION VERSION_LESS 10)
    add_library(wgrun_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
    target_compile_features(wgrun_fmt PUBLIC cxx_std_20)
    target_include_directories(wgrun_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
else()
    # Other versions keep other parts out of their headers.
    add_library(wgrun_fmt INTERFACE)
    target_link_libraries(wgrun_fmt INTERFACE fmt::fmt-header-only)
endif()
