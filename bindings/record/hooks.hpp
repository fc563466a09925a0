// What stands before the functions of the driver.
#pragma once

#include <string_view>

#include "bindings/record/driver.hpp"

#pragma GCC visibility push(default)
extern "C" {

/// Ask the driver for the address of a function (lookups.cpp).
wgrun::record::Result cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags);
wgrun::record::Result cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                          std::uint64_t flags, int* status);

}  // extern "C"
#pragma GCC visibility pop

namespace wgrun::record {

/// The hook before the driver's function of this name. Null: there is none.
void* hook_of(std::string_view name);

}  // namespace wgrun::record
