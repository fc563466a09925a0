// The GPUs that `wgrun tune` measures on.
#pragma once

#include <string>
#include <vector>

namespace wgrun::cli {

/// The GPUs of `list` ("all", "0,2", or "": the first) as CUDA_VISIBLE_DEVICES names them, a process each; ""
/// leaves that variable as it is. Numbers count what it names, where it is set: Slurm sets it. ArgumentError
/// for another list, and for GPUs that are not of one kind, whose times cannot be compared.
std::vector<std::string> devices_named(const std::string& list);

}  // namespace wgrun::cli
