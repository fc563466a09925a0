#include "bindings/record/driver.hpp"

#include <dlfcn.h>

namespace wgrun::record {

Dlsym* real_dlsym() {
    static Dlsym* const found = [] {
        // dlsym's version: since glibc 2.34, and before on x86-64 and on AArch64.
        for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
            if (void* const it = ::dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Dlsym*>(it);
        return static_cast<Dlsym*>(nullptr);
    }();
    return found;
}

void* original(const char* name) {
    static void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
    return driver == nullptr ? nullptr : real_dlsym()(driver, name);
}

}  // namespace wgrun::record
