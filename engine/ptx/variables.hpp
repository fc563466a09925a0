// Variables of a module in global and constant memory (PTX ISA 5.1.3, 5.1.4).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ptx/module.hpp"

namespace wgrun::ptx {

/// Returns the bytes that a variable begins with: those of its initial value, then zeros. Nothing: it has no
/// size, or more than 256 MiB, or its value has addresses, which only a launch knows.
std::optional<std::vector<std::byte>> initial_bytes(const Module& module, const Variable& variable);

}  // namespace wgrun::ptx
