// A program that launches kernels through the driver, as `wgrun record` finds such: record_host WAY FOLDER,
// where FOLDER has the texts add.ptx and boxes.ptx. `linked` calls the functions that the loader has bound,
// `looked-up` those that it asks for.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "gpu/cuda_abi.hpp"

using namespace wgrun::gpu::abi;

extern "C" {
Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes);
Result cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes);
Result cuModuleLoadData(Handle* module, const void* image);
Result cuModuleGetFunction(Handle* function, Handle module, const char* name);
Result cuLibraryLoadData(Handle*, const void*, JitOption*, void**, unsigned, int*, void**, unsigned);
Result cuLibraryGetKernel(Handle* kernel, Handle library, const char* name);
Result cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                      void**, void**);
Result cuLaunchKernelEx(const LaunchConfig* config, Handle function, void** parameters, void** extra);
Result cuTensorMapEncodeTiled(void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                              const std::uint32_t*, const std::uint32_t*, int, int, int, int);
Result cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t flags,
                           int* status);
}

namespace {

bool looked_up = false;

template <class F>
F* function(F* bound, const char* name) {
    if (!looked_up) return bound;
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    return reinterpret_cast<F*>(dlsym(driver, name));
}

void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "record_host: %s\n", what);
    std::exit(1);
}

std::string contents(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The second half of an array of 64 words, and a number; twice, and once of a kernel that has no text.
void add(const std::string& folder, DevicePointer words) {
    const std::string elf =
        "\x7f"
        "ELF .entry machine_code(.param .u32 n)";
    for (const std::string& image : {contents(folder + "/add.ptx"), elf}) {
        Handle module = nullptr, kernel = nullptr;
        const char* name = image == elf ? "machine_code" : "add";
        expect(function(cuModuleLoadData, "cuModuleLoadData")(&module, image.c_str()) == success, "a module");
        expect(function(cuModuleGetFunction, "cuModuleGetFunction")(&kernel, module, name) == success,
               "a kernel");
        DevicePointer second = words + 128;
        std::uint32_t n = 5;
        void* arguments[] = {&second, &n};
        if (image == elf) arguments[0] = &n;
        const auto launch = function(cuLaunchKernel, "cuLaunchKernel");
        for (int i = 0; i < 2; ++i)
            expect(launch(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == success, "a launch");
    }
}

/// A tensor map, a float and a structure, in a cluster, of a library.
void boxes(const std::string& folder, DevicePointer words) {
    Handle library = nullptr, kernel = nullptr;
    const std::string text = contents(folder + "/boxes.ptx");
    expect(function(cuLibraryLoadData, "cuLibraryLoadData")(&library, text.c_str(), nullptr, nullptr, 0,
                                                            nullptr, nullptr, 0) == success,
           "a library");
    expect(function(cuLibraryGetKernel, "cuLibraryGetKernel")(&kernel, library, "boxes") == success,
           "its kernel");
    alignas(64) std::byte map[128];
    const std::uint64_t extents[] = {8, 8}, strides[] = {32};
    const std::uint32_t box[] = {8, 4}, steps[] = {1, 1};
    constexpr int f32 = 7;
    expect(
        function(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled")(
            map, f32, 2, reinterpret_cast<void*>(words), extents, strides, box, steps, 0, 0, 0, 0) == success,
        "a tensor map");
    const float factor = 2.5F;
    struct {
        DevicePointer out;
        std::int64_t nothing;
        std::int32_t count, negative;
    } structure{words, 0, 7, -1};
    LaunchAttribute attribute{};
    attribute.id = launch_attribute_cluster_dimension;
    attribute.value.cluster = {2, 1, 1};
    const LaunchConfig config{2, 1, 1, 32, 1, 1, 1024, nullptr, &attribute, 1};
    void* arguments[] = {map, const_cast<float*>(&factor), &structure};
    auto launch = cuLaunchKernelEx;
    if (looked_up) {
        void* found = nullptr;
        constexpr int version = 13000;
        expect(function(cuGetProcAddress_v2, "cuGetProcAddress_v2")("cuLaunchKernelEx", &found, version, 0,
                                                                    nullptr) == success,
               "an address");
        launch = reinterpret_cast<decltype(launch)>(found);
    }
    expect(launch(&config, kernel, arguments, nullptr) == success, "a launch in clusters");
}

}  // namespace

int main(int, char** argv) {
    looked_up = argv[1] == std::string("looked-up");
    std::vector<std::uint32_t> values(64);
    std::iota(values.begin(), values.end(), 0U);
    DevicePointer words = 0;
    expect(cuMemAlloc_v2(&words, 256) == success && cuMemcpyHtoD_v2(words, values.data(), 256) == success,
           "memory");
    add(argv[2], words);
    boxes(argv[2], words);
    // Who asks for the next one of a name gets the one behind itself, with the recorder between as without.
    expect(dlsym(RTLD_NEXT, "cuModuleLoadData") == reinterpret_cast<void*>(cuModuleLoadData), "RTLD_NEXT");
    std::puts("done");
    return 3;
}
