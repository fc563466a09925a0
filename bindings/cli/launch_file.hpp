// Launches that are described by JSON (docs/schema/launch.json): wgrun check --dynamic kernel.ptx --launch
// FILE.
#pragma once

#include <list>
#include <string>

#include "wgrun/foreign.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun::cli {

/// A launch, with the tensors that it is given.
struct LaunchFile {
    std::string kernel;  ///< its name; empty: the text's only one
    RunOptions options;
    std::list<Tensor> tensors;  ///< the arguments point to them
};

/// Reads a launch. Every call makes the tensors anew, so that each run begins with the same values. Files of
/// tensors are named from the folder of `file`. Throws EnvironmentError ENOENT for a file that cannot be
/// read, ArgumentError for one that is no launch: it names the place, "arguments[2].box". A file of
/// SentryWard's (kernel_input.hpp) gives its arguments by the parameters of the module's kernel.
LaunchFile read_launch(const std::string& file, const ForeignModule& module);

/// The parameters of a kernel of the module, without the module's variables.
std::vector<Param> parameters_of(const ForeignModule& module, const std::string& kernel);

}  // namespace wgrun::cli
