// What the stand-in for the driver (fake_cuda.cpp) has besides for wgrun record: libraries of kernels,
// addresses of functions, and what a pointer points into.
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/worker/fake_cuda.hpp"

using namespace wgrun::gpu::abi;

extern "C" {

Result cuModuleLoadDataEx(Handle* module, const void* image, unsigned count, JitOption* options,
                          void** values);
Result cuModuleGetFunction(Handle* function, Handle module, const char* name);
Result cuFuncGetParamInfo(Handle function, std::size_t index, std::size_t* offset, std::size_t* size);
Result cuLaunchKernelEx(const LaunchConfig* config, Handle function, void** parameters, void** extra);

Result cuModuleLoadData(Handle* module, const void* image) {
    return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
Result cuLibraryLoadData(Handle* library, const void* image, JitOption*, void**, unsigned, int*, void**,
                         unsigned) {
    return cuModuleLoadData(library, image);
}
Result cuLibraryGetKernel(Handle* kernel, Handle library, const char* name) {
    return cuModuleGetFunction(kernel, library, name);
}
Result cuKernelGetParamInfo(Handle kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
    return cuFuncGetParamInfo(kernel, index, offset, size);
}
Result cuLaunchKernel(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, Handle stream, void** parameters, void** extra) {
    const LaunchConfig config{gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0};
    return cuLaunchKernelEx(&config, function, parameters, extra);
}
Result cuCtxSynchronize() { return success; }
Result cuMemcpy(DevicePointer to, DevicePointer from, std::size_t bytes) {
    return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), success;
}
Result cuPointerGetAttribute(void* data, int attribute, DevicePointer address) {
    const FakeBlock block = fake_block(address);
    if (block.bytes == 0) return invalid_value;
    const std::uint64_t value = attribute == 11 ? block.start : block.bytes;
    return std::memcpy(data, &value, sizeof value), success;
}
Result cuGetProcAddress_v2(const char* symbol, void** function, int, std::uint64_t, int*) {
    if (std::string(symbol) != "cuLaunchKernelEx") return not_found;
    return *function = reinterpret_cast<void*>(cuLaunchKernelEx), success;
}

}  // extern "C"
