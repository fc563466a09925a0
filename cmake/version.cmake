# wgrun/version.hpp, and the file that defines what it declares; the latter looks at the commit whenever something is
# built, and is compiled anew when that has changed.
set(WGRUN_GENERATED ${CMAKE_CURRENT_BINARY_DIR}/generated)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.hpp.in ${WGRUN_GENERATED}/include/wgrun/version.hpp @ONLY)
set(stamp ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
          -DOUTPUT=${WGRUN_GENERATED}/version.cpp -P ${CMAKE_CURRENT_LIST_DIR}/commit.cmake)
execute_process(COMMAND ${stamp} COMMAND_ERROR_IS_FATAL ANY)
add_custom_target(wgrun_commit COMMAND ${stamp} BYPRODUCTS ${WGRUN_GENERATED}/version.cpp VERBATIM)
