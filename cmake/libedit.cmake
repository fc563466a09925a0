# target wgrun_libedit: the prompt's line editor, where this machine has it; WGRUN_LIBEDIT says which kind.
#
# The archives of Debian and Ubuntu (libedit-dev, which brings libncurses-dev and libbsd-dev) make a tool that edits lines wherever it
# runs; where there are none the shared library will do, and without any the prompt reads plain lines. Why libedit:
# docs/decisions/line-editor.md.
find_path(WGRUN_LIBEDIT_INCLUDE histedit.h)
find_library(WGRUN_LIBEDIT_ARCHIVE libedit.a)
find_library(WGRUN_TINFO_ARCHIVE NAMES libtinfo.a libncurses.a)
find_library(WGRUN_BSD_ARCHIVE libbsd.a)
find_library(WGRUN_LIBEDIT_SHARED edit)
mark_as_advanced(WGRUN_LIBEDIT_INCLUDE WGRUN_LIBEDIT_ARCHIVE WGRUN_TINFO_ARCHIVE WGRUN_BSD_ARCHIVE WGRUN_LIBEDIT_SHARED)

add_library(wgrun_libedit INTERFACE)
set(WGRUN_LIBEDIT "none: the prompt reads plain lines (libedit-dev is missing)")
if(WGRUN_LIBEDIT_INCLUDE AND WGRUN_LIBEDIT_ARCHIVE AND WGRUN_TINFO_ARCHIVE AND WGRUN_BSD_ARCHIVE)
    set(WGRUN_LIBEDIT static)
    target_link_libraries(wgrun_libedit INTERFACE ${WGRUN_LIBEDIT_ARCHIVE} ${WGRUN_TINFO_ARCHIVE} ${WGRUN_BSD_ARCHIVE})
    wgrun_keep_private(wgrun_libedit INTERFACE libedit.a:libtinfo.a:libncurses.a:libbsd.a)
elseif(WGRUN_LIBEDIT_INCLUDE AND WGRUN_LIBEDIT_SHARED)
    set(WGRUN_LIBEDIT shared)
    target_link_libraries(wgrun_libedit INTERFACE ${WGRUN_LIBEDIT_SHARED})
endif()
if(NOT WGRUN_LIBEDIT MATCHES none)
    target_include_directories(wgrun_libedit SYSTEM INTERFACE ${WGRUN_LIBEDIT_INCLUDE})
    target_compile_definitions(wgrun_libedit INTERFACE WGRUN_HAS_LIBEDIT)
endif()
message(STATUS "line editor: ${WGRUN_LIBEDIT}")
