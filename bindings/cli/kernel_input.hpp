// Launches as SentryWard describes them, JSON of the schema spverify.kernel-input/v1: dimensions, values of
// parameters at offsets, descriptors of tensor maps, and which pointers name the same object.
#pragma once

#include "bindings/cli/json_value.hpp"
#include "bindings/cli/launch_file.hpp"
#include "wgrun/foreign.hpp"

namespace wgrun::cli {

/// Returns whether a file says that it is one.
bool is_kernel_input(const nlohmann::json& json);

/// Reads one into `out`. It says neither how large the memory behind a pointer is nor what it holds: each
/// object is 16 MiB of zeros here, or the tensor that a tensor map describes, with random numbers. Throws
/// ArgumentError where it has no value for a parameter of the kernel.
void read_kernel_input(const JsonValue& file, const ForeignModule& module, LaunchFile& out);

}  // namespace wgrun::cli
