// How a program that is not linked with the driver gets at its functions: dlsym, and the driver's own
// cuGetProcAddress.
#include <dlfcn.h>

#include <string>
#include <string_view>

#include "bindings/record/driver.hpp"

namespace {

using namespace wgrun::record;

/// The hook before the driver's function of this name: what this library has by the name. Null: there is
/// none.
void* hook_of(const std::string& name) {
    static void* const here = [] {
        Dl_info info{};
        return ::dladdr(reinterpret_cast<void*>(hook_of), &info) == 0
                   ? nullptr
                   : ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    return here == nullptr ? nullptr : real_dlsym()(here, name.c_str());
}

/// What dlsym says; null: what the C library says. The next one behind a hook of somebody else is the
/// driver's.
void* answer(void* library, const char* name) noexcept {
    if (library == RTLD_NEXT || !std::string_view(name).starts_with("cu")) return nullptr;
    void* const hook = hook_of(name);
    return hook == nullptr || real_dlsym()(library, name) == nullptr ? nullptr : hook;
}

/// What a program gets that asks the driver for the address of a function.
Result replaced(Result result, const char* symbol, void** function, int version, std::uint64_t flags) {
    constexpr int second = 12000;                    // the version of CUDA since which this has a second form
    constexpr std::uint64_t per_thread_default = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
    if (result != success || function == nullptr || *function == nullptr) return result;
    std::string name = symbol;
    if (name == "cuGetProcAddress" && version >= second) name += "_v2";
    void* hook = (flags & per_thread_default) != 0 ? hook_of(name + "_ptsz") : nullptr;
    if (hook == nullptr) hook = hook_of(name);
    if (hook != nullptr) *function = hook;
    return result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Result cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags) {
    const auto call = original<decltype(cuGetProcAddress)>("cuGetProcAddress");
    return replaced(call(symbol, function, version, flags), symbol, function, version, flags);
}
Result cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t flags,
                           int* status) {
    const auto call = original<decltype(cuGetProcAddress_v2)>("cuGetProcAddress_v2");
    return replaced(call(symbol, function, version, flags, status), symbol, function, version, flags);
}

void* dlsym(void* library, const char* name) noexcept {
    if (void* const hook = answer(library, name)) return hook;
    // A jump, and no call: what RTLD_NEXT means follows from who calls.
    return real_dlsym()(library, name);
}

}  // extern "C"
#pragma GCC visibility pop
