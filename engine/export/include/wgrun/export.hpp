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

/// A file of an export: its name within the folder and what is in it.
struct ExportedFile {
    std::string name;
    std::string content;
};

/// One kernel as files.
struct Exported {
    std::string name;                 ///< the kernel's; its files are called NAME.ptx, NAME.json, ...
    std::vector<ExportedFile> files;  ///< the manifest, NAME.json, is the last
    std::optional<int> registers;     ///< per thread; nothing without a cubin
    std::string no_cubin;             ///< why there is no NAME.cubin; empty when there is one
};

/// Makes the files of each kernel, in memory: NAME.ptx; NAME.cubin, if ptxas is available; NAME.cu, which
/// nvcc compiles alone; NAME.h and NAME.c, which launch the cubin (without ptxas the PTX, by the driver's
/// JIT) through the driver API; NAME.json, the manifest. docs/export.md describes them.
///
/// Kernels of one name must be equal (else ArgumentError) and are made once. Throws what check_launch_rule
/// and Kernel::ptx throw; gpu::CompileError with its place in the script when ptxas rejects the text.
/// Different threads may call it at the same time with different kernels.
std::vector<Exported> exported(std::span<const Export> kernels);

/// Writes files that exported() has made into `folder`.
///
/// The export is atomic: a new folder appears when it is complete, the files of an existing folder change
/// together, and files left half-written by a failure are removed. The folder's parent must exist. Files that
/// wgrun has not written, or that somebody has changed, are never replaced. Throws EnvironmentError: EEXIST
/// for files that are not wgrun's, EACCES, ENOSPC, EIO and the like for the folder.
void write_exported(std::span<const Exported> kernels, const std::filesystem::path& folder);

/// Does both.
std::vector<Exported> export_kernels(std::span<const Export> kernels, const std::filesystem::path& folder);

}  // namespace wgrun

#pragma GCC visibility pop
