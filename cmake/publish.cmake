# What others link: libwgrun, libwgrun_lua and libwgrun_c, each as an archive and as a shared library with a soname,
# made of the objects of the modules. wgrun::NAME is the shared one where BUILD_SHARED_LIBS asks for it.
#
# wgrun_publish(NAME OUTPUT FILE EXPORTS PATTERN... MODULES MODULE... [LINK TARGET...] [LUA])
#
# EXPORTS    what symbols a shared library shows. The public headers have chosen among wgrun's own; this keeps back the
#            rest, such as what the standard library's templates leave behind
# LINK       what it needs; @ stands for static or shared
# LUA        there is a Lua inside that nobody else sees. Then the archive holds one object, whose global symbols are
#            the EXPORTS alone: the program around it may have a Lua of its own
include(GNUInstallDirs)

function(wgrun_publish name)
    if(EMSCRIPTEN)
        # There the tool alone is built, and CMake makes archives of shared libraries.
        add_library(wgrun_lib_${name}_static INTERFACE)
        return()
    endif()
    cmake_parse_arguments(arg "LUA" "OUTPUT" "EXPORTS;MODULES;LINK" ${ARGN})
    set(objects "")
    wgrun_public_headers(headers ${arg_MODULES})
    list(APPEND headers ${WGRUN_GENERATED}/include)
    foreach(module IN LISTS arg_MODULES)
        list(APPEND objects $<TARGET_OBJECTS:wgrun_${module}>)
    endforeach()
    list(TRANSFORM headers REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>")
    if(arg_LUA)
        list(TRANSFORM arg_MODULES PREPEND wgrun_ OUTPUT_VARIABLE archives)
        list(APPEND objects $<TARGET_OBJECTS:wgrun_streams>)
        set(merged ${CMAKE_CURRENT_BINARY_DIR}/${arg_OUTPUT}.o)
        wgrun_merge(${merged} OBJECTS ${objects} DEPENDS ${archives} wgrun_streams KEEP ${arg_EXPORTS})
        add_library(wgrun_lib_${name}_static STATIC ${merged})
        add_library(wgrun_lib_${name}_shared SHARED ${objects})
        target_link_libraries(wgrun_lib_${name}_shared PRIVATE $<BUILD_INTERFACE:${WGRUN_PRIVATE_LUA}>)
        wgrun_keep_private(wgrun_lib_${name}_shared PRIVATE ALL)
        # The C++ runtime is inside too, so that the library goes wherever its glibc is.
        if(NOT WGRUN_ASAN AND NOT WGRUN_TSAN)
            target_link_options(wgrun_lib_${name}_shared PRIVATE ${WGRUN_STATIC_RUNTIME})
        endif()
        add_dependencies(wgrun_lib_${name}_shared wgrun_private_lua)
    else()
        add_library(wgrun_lib_${name}_static STATIC ${objects})
        add_library(wgrun_lib_${name}_shared SHARED ${objects})
        if(NOT fmt IN_LIST arg_MODULES)
            # libwgrun keeps its {fmt} to itself.
            target_link_libraries(wgrun_lib_${name}_shared PRIVATE $<BUILD_INTERFACE:wgrun_fmt>)
        endif()
    endif()

    foreach(kind static shared)
        set(target wgrun_lib_${name}_${kind})
        add_library(wgrun::${name}_${kind} ALIAS ${target})
        target_include_directories(${target} INTERFACE ${headers} $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT} EXPORT_NAME ${name}_${kind}
            LINKER_LANGUAGE CXX ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
            LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
        if(NOT arg_LUA)
            target_compile_features(${target} INTERFACE cxx_std_20)
        endif()
        list(TRANSFORM arg_LINK REPLACE "@" "${kind}" OUTPUT_VARIABLE link)
        target_link_libraries(${target} PUBLIC ${link})
    endforeach()
    if(arg_LUA)
        # A program in C links it, with C's linker.
        set_target_properties(wgrun_lib_${name}_static PROPERTIES LINKER_LANGUAGE C)
        target_link_libraries(wgrun_lib_${name}_static PUBLIC stdc++)
    endif()

    set(map ${CMAKE_CURRENT_BINARY_DIR}/${arg_OUTPUT}.map)
    list(JOIN arg_EXPORTS "; " patterns)
    file(CONFIGURE OUTPUT ${map} CONTENT "{ global: ${patterns}; local: *; };\n")
    target_link_options(wgrun_lib_${name}_shared PRIVATE LINKER:--version-script=${map})
    # The interface of C is stable; that of C++ may change with each minor version. The libraries of the build
    # tree look for each other as those that are installed do: CMake's other way pads their RUNPATH with colons, which
    # stand for the current directory.
    if(arg_LUA)
        set(soversion ${PROJECT_VERSION_MAJOR})
    else()
        set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    endif()
    set_target_properties(wgrun_lib_${name}_shared PROPERTIES LINK_DEPENDS ${map}
        VERSION ${PROJECT_VERSION} SOVERSION ${soversion} INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)

    if(BUILD_SHARED_LIBS)
        add_library(wgrun::${name} ALIAS wgrun_lib_${name}_shared)
    else()
        add_library(wgrun::${name} ALIAS wgrun_lib_${name}_static)
    endif()
endfunction()

# OUTPUT: the OBJECTS and the private Lua as one object, in which only what KEEP matches is global. DEPENDS names the
# targets that the objects are of (make knows no objects of other targets). The linker is GNU's
# whatever CMake found, for the sake of --force-group-allocation: without it inline functions would still be shared with
# the program around. Static variables of inline functions are "unique" symbols with g++, which objcopy cannot make local
# unless they are weak first. It fails on an empty list, so that the list starts with a name that nothing has.
function(wgrun_merge output)
    cmake_parse_arguments(arg "" "" "OBJECTS;DEPENDS;KEEP" ${ARGN})
    list(TRANSFORM arg_KEEP PREPEND --keep-global-symbol=)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -fuse-ld=bfd -Wl,--force-group-allocation -o ${output} ${arg_OBJECTS}
                -Wl,--whole-archive ${WGRUN_PRIVATE_LUA}
        COMMAND sh -c "\"$1\" --defined-only \"$2\" | awk 'BEGIN { print \"-\" } $2 == \"u\" { print $3 }' > \"$2.unique\"" sh ${CMAKE_NM} ${output}
        COMMAND ${CMAKE_OBJCOPY} --weaken-symbols=${output}.unique ${output}
        COMMAND ${CMAKE_OBJCOPY} --wildcard ${arg_KEEP} ${output}
        DEPENDS ${arg_DEPENDS} wgrun_private_lua COMMAND_EXPAND_LISTS VERBATIM)
endfunction()
