# The tool for WebAssembly, by emscripten: wgrun.js has a function of this name, whose promise is a wgrun that has run nothing yet
# (bindings/wasm). packaging/playground.sh configures such a build.
set(wasm ${CMAKE_CURRENT_LIST_DIR}/wasm)
add_compile_options(-fwasm-exceptions "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${wasm}/libcxx.hpp>")
include_directories(BEFORE SYSTEM ${wasm})
add_link_options(
    -fwasm-exceptions
    -sMODULARIZE -sEXPORT_NAME=wgrun -sENVIRONMENT=web,worker,node -sINVOKE_RUN=0 -sEXIT_RUNTIME=1
    -sFORCE_FILESYSTEM -sEXPORTED_RUNTIME_METHODS=FS,callMain
    -sINITIAL_MEMORY=64MB -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB -sABORTING_MALLOC=0 # std::bad_alloc, not the end
    -sTOTAL_STACK=8MB)
