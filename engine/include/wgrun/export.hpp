// Kernels for programs without wgrun: their texts and machine code, and the host code that launches them.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// What the program of a kernel does not say of its launches, and whoever launches it without its script has
/// to know.
struct LaunchRule {
    /// The CTAs of the grid walk over the tiles of a matrix, `parts` times over: there are as many clusters
    /// along x as tiles, but no more than run at a time.
    struct Tiles {
        std::string rows, columns;  ///< u32 parameters: the matrix's extents
        std::int64_t m = 1, n = 1;  ///< of the tile of a cluster, in elements
        std::int64_t parts = 1;
    };
    std::optional<Tiles> tiles;                              ///< without: the grid is the caller's
    std::vector<std::pair<std::string, std::string>> notes;  ///< a parameter, and what to pass for it
};

/// Throws ArgumentError for a rule that does not fit the program: parameters that are not there or no u32,
/// notes of several lines, tiles where clusters are not along x.
void check_launch_rule(const Program& program, const LaunchRule& rule);

/// A kernel to write.
struct Export {
    Kernel* kernel = nullptr;
    LaunchRule rule{};
};

/// What was written of one kernel.
struct Exported {
    std::string name;                ///< the kernel's; its files are called NAME.ptx, NAME.json, ...
    std::vector<std::string> files;  ///< names within the folder
    std::optional<int> registers;    ///< of a thread; nothing without a cubin
    std::string no_cubin;            ///< why there is no NAME.cubin; empty when there is one
};

/// Writes into `folder`, for each kernel: NAME.ptx; NAME.cubin, where ptxas is here; NAME.cu, which nvcc
/// compiles alone; NAME.h and NAME.c, which launch the cubin (without ptxas the PTX, by the driver's JIT)
/// through the driver API; NAME.json, the manifest. docs/export.md describes them.
///
/// All or nothing: a new folder appears when it is complete, in one that is there already all files change
/// together, and what a failure has left half-written is taken away. The folder's parent must exist. Files
/// that wgrun has not written, or that were changed since, are never replaced.
///
/// Kernels of one name must be the same, and are written once. Throws ArgumentError for others; what
/// check_launch_rule and Kernel::ptx throw; gpu::CompileError with its place in the script when ptxas refuses
/// the text; EnvironmentError: EEXIST for files that are not wgrun's, EACCES, ENOSPC, EIO and the like for
/// the folder. Different calls may run on different threads, with kernels of their own.
std::vector<Exported> export_kernels(std::span<const Export> kernels, const std::filesystem::path& folder);

}  // namespace wgrun

#pragma GCC visibility pop
