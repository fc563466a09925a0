// The driver's own functions, past the hooks (hooks.cpp).
#pragma once

#include "gpu/cuda_abi.hpp"

namespace wgrun::record {

using namespace gpu::abi;

/// The C library's dlsym, in whose place a hook stands.
using Dlsym = void*(void* library, const char* name) noexcept;
Dlsym* real_dlsym();

/// A function of the driver. Null: it has none of this name.
void* original(const char* name);

/// The same, as a function of type F.
template <class F>
F* original(const char* name) {
    return reinterpret_cast<F*>(original(name));
}

}  // namespace wgrun::record
