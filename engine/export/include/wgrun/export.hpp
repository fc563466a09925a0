// Kernels for programs without wgrun: their text and machine code, and the host code that launches them.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// What a caller must know to launch a kernel without its script, and what the kernel's program does not
/// state.
struct LaunchRule {
    /// The CTAs of the grid walk over the tiles of a matrix, `parts` times: the grid has as many clusters
    /// along x as there are tiles, but no more than run at a time.
    struct Tiles {
        std::string rows, columns;  ///< u32 parameters: the matrix's extents
        std::int64_t m = 1, n = 1;  ///< of a cluster's tile, in elements
        std::int64_t parts = 1;
    };
    std::optional<Tiles> tiles;                              ///< absent: the caller chooses the grid
    std::vector<std::pair<std::string, std::string>> notes;  ///< the name of a parameter, and what to pass
};

/// Throws ArgumentError for a rule that does not fit the program: parameters that do not exist or are no u32,
/// notes of several lines, tiles with clusters that are not along x.
void check_launch_rule(const Program& program, const LaunchRule& rule);

/// A kernel to export.
struct Export {
    Kernel* kernel = nullptr;
    LaunchRule rule{};
};

/// What was written of one kernel.
struct Exported {
    std::string name;                ///< the kernel's; its files are called NAME.ptx, NAME.json, ...
    std::vector<std::string> files;  ///< names within the folder
    std::optional<int> registers;    ///< per thread; nothing without a cubin
    std::string no_cubin;            ///< why there is no NAME.cubin; empty when there is one
};

/// Writes into `folder`, for each kernel: NAME.ptx; NAME.cubin, if ptxas is available; NAME.cu, which nvcc
/// compiles alone; NAME.h and NAME.c, which launch the cubin (without ptxas the PTX, by the driver's JIT)
/// through the driver API; NAME.json, the manifest. docs/export.md describes them.
///
/// The export is atomic: a new folder appears when it is complete, the files of an existing folder change
/// together, and files left half-written by a failure are removed. The folder's parent must exist. Files that
/// wgrun has not written, or that were changed since, are never replaced.
///
/// Kernels of one name must be equal (else ArgumentError) and are written once. Throws what check_launch_rule
/// and Kernel::ptx throw; gpu::CompileError with its place in the script when ptxas rejects the text;
/// EnvironmentError: EEXIST for files that are not wgrun's, EACCES, ENOSPC, EIO and the like for the folder.
/// Different threads may call it at the same time with different kernels.
std::vector<Exported> export_kernels(std::span<const Export> kernels, const std::filesystem::path& folder);

}  // namespace wgrun

#pragma GCC visibility pop
