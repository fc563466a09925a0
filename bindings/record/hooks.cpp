// The functions that stand before the driver's, in a library that `wgrun record` has the loader load first. A
// program that is linked with the driver gets them from the loader; one that looks them up, from dlsym and
// cuGetProcAddress.
#include <cstring>

#include "bindings/record/recorder.hpp"

namespace {

using namespace wgrun::record;

Result loaded(Result result, const Handle* module, const void* image) {
    if (result == success) Recorder::get().loaded(*module, image);
    return result;
}

Result loaded_file(Result result, const Handle* module, const char* file) {
    if (result == success) Recorder::get().loaded_file(*module, file);
    return result;
}

Result found(Result result, const Handle* function, Handle module, const char* name, bool is_kernel) {
    if (result == success) Recorder::get().found(*function, module, name, is_kernel);
    return result;
}

Start start_of(const LaunchConfig& config, Handle function, void** parameters, void** extra) {
    Start out{function,
              {config.grid_x, config.grid_y, config.grid_z},
              {config.block_x, config.block_y, config.block_z},
              {0, 0, 0},
              config.shared_bytes,
              config.stream,
              parameters,
              extra};
    for (unsigned i = 0; i < config.attribute_count; ++i)
        if (const LaunchAttribute& it = config.attributes[i]; it.id == launch_attribute_cluster_dimension)
            out.cluster = {it.value.cluster.x, it.value.cluster.y, it.value.cluster.z};
    return out;
}

/// A cooperative launch has none.
void** extra_of(void** extra = nullptr) { return extra; }

/// What cuLaunchKernelEx, cuLaunchKernel and cuLaunchCooperativeKernel do.
Result launched(const char* name, const LaunchConfig* config, Handle function, void** parameters,
                void** extra) {
    Recorder::get().starts(start_of(*config, function, parameters, extra));
    using Call = Result(const LaunchConfig*, Handle, void**, void**);
    return original<Call>(name)(config, function, parameters, extra);
}

template <class... Extra>
Result launched(const char* name, Handle function, const LaunchConfig& config, void** parameters,
                Extra... extra) {
    Recorder::get().starts(start_of(config, function, parameters, extra_of(extra...)));
    using Call = Result(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                        void**, Extra...);
    return original<Call>(name)(function, config.grid_x, config.grid_y, config.grid_z, config.block_x,
                                config.block_y, config.block_z, config.shared_bytes, config.stream,
                                parameters, extra...);
}

template <class Number>
std::vector<std::int64_t> numbers(const Number* from, std::size_t count) {
    return {from, from + count};
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Result cuModuleLoad(Handle* module, const char* file) {
    return loaded_file(original<decltype(cuModuleLoad)>("cuModuleLoad")(module, file), module, file);
}
Result cuModuleLoadData(Handle* module, const void* image) {
    return loaded(original<decltype(cuModuleLoadData)>("cuModuleLoadData")(module, image), module, image);
}
Result cuModuleLoadDataEx(Handle* module, const void* image, unsigned count, JitOption* options,
                          void** values) {
    const auto call = original<decltype(cuModuleLoadDataEx)>("cuModuleLoadDataEx");
    return loaded(call(module, image, count, options, values), module, image);
}
Result cuModuleGetFunction(Handle* function, Handle module, const char* name) {
    const auto call = original<decltype(cuModuleGetFunction)>("cuModuleGetFunction");
    return found(call(function, module, name), function, module, name, false);
}
Result cuLibraryLoadData(Handle* library, const void* image, JitOption* options, void** values,
                         unsigned count, int* library_options, void** library_values,
                         unsigned library_count) {
    const auto call = original<decltype(cuLibraryLoadData)>("cuLibraryLoadData");
    return loaded(
        call(library, image, options, values, count, library_options, library_values, library_count), library,
        image);
}
Result cuLibraryLoadFromFile(Handle* library, const char* file, JitOption* options, void** values,
                             unsigned count, int* library_options, void** library_values,
                             unsigned library_count) {
    const auto call = original<decltype(cuLibraryLoadFromFile)>("cuLibraryLoadFromFile");
    return loaded_file(
        call(library, file, options, values, count, library_options, library_values, library_count), library,
        file);
}
Result cuLibraryGetKernel(Handle* kernel, Handle library, const char* name) {
    const auto call = original<decltype(cuLibraryGetKernel)>("cuLibraryGetKernel");
    return found(call(kernel, library, name), kernel, library, name, true);
}
Result cuLibraryGetModule(Handle* module, Handle library) {
    const Result result = original<decltype(cuLibraryGetModule)>("cuLibraryGetModule")(module, library);
    if (result == success) Recorder::get().same_text(library, *module);
    return result;
}
Result cuKernelGetFunction(Handle* function, Handle kernel) {
    const Result result = original<decltype(cuKernelGetFunction)>("cuKernelGetFunction")(function, kernel);
    if (result == success) Recorder::get().same_function(kernel, *function);
    return result;
}

Result cuTensorMapEncodeTiled(void* map, int dtype, std::uint32_t rank, void* address,
                              const std::uint64_t* extents, const std::uint64_t* strides,
                              const std::uint32_t* box, const std::uint32_t* steps, int interleave,
                              int swizzle, int promotion, int fill) {
    const Result result = original<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled")(
        map, dtype, rank, address, extents, strides, box, steps, interleave, swizzle, promotion, fill);
    if (result != success) return result;
    Map made{{},
             dtype,
             interleave,
             swizzle,
             fill != 0,
             reinterpret_cast<DevicePointer>(address),
             numbers(extents, rank),
             numbers(strides, rank - 1),
             numbers(box, rank),
             numbers(steps, rank),
             {},
             {}};
    std::memcpy(made.bytes.data(), map, made.bytes.size());
    Recorder::get().encoded(std::move(made));
    return result;
}
Result cuTensorMapEncodeIm2col(void* map, int dtype, std::uint32_t rank, void* address,
                               const std::uint64_t* extents, const std::uint64_t* strides, const int* lower,
                               const int* upper, std::uint32_t channels, std::uint32_t pixels,
                               const std::uint32_t* steps, int interleave, int swizzle, int promotion,
                               int fill) {
    const Result result = original<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col")(
        map, dtype, rank, address, extents, strides, lower, upper, channels, pixels, steps, interleave,
        swizzle, promotion, fill);
    if (result != success) return result;
    Map made{{},
             dtype,
             interleave,
             swizzle,
             fill != 0,
             reinterpret_cast<DevicePointer>(address),
             numbers(extents, rank),
             numbers(strides, rank - 1),
             {channels, pixels},
             numbers(steps, rank),
             numbers(lower, rank - 2),
             numbers(upper, rank - 2)};
    std::memcpy(made.bytes.data(), map, made.bytes.size());
    Recorder::get().encoded(std::move(made));
    return result;
}

// The same for the legacy default stream and for that of each thread.
Result cuLaunchKernelEx(const LaunchConfig* config, Handle function, void** parameters, void** extra) {
    return launched("cuLaunchKernelEx", config, function, parameters, extra);
}
Result cuLaunchKernelEx_ptsz(const LaunchConfig* config, Handle function, void** parameters, void** extra) {
    return launched("cuLaunchKernelEx_ptsz", config, function, parameters, extra);
}
Result cuLaunchKernel(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, Handle stream, void** parameters, void** extra) {
    return launched("cuLaunchKernel", function, {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0},
                    parameters, extra);
}
Result cuLaunchKernel_ptsz(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                           unsigned bz, unsigned shared, Handle stream, void** parameters, void** extra) {
    return launched("cuLaunchKernel_ptsz", function, {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0},
                    parameters, extra);
}
Result cuLaunchCooperativeKernel(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, Handle stream,
                                 void** parameters) {
    return launched("cuLaunchCooperativeKernel", function,
                    {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0}, parameters);
}
Result cuLaunchCooperativeKernel_ptsz(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, Handle stream,
                                      void** parameters) {
    return launched("cuLaunchCooperativeKernel_ptsz", function,
                    {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0}, parameters);
}

}  // extern "C"
#pragma GCC visibility pop
