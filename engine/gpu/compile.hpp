// Shared by the offline compilers and doctor(): the places of the compilers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gpu/cuda_abi.hpp"
#include "gpu/library.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

inline constexpr std::string_view architecture = sm_90a.name;

/// NVRTC, opened on the first call; `functions` is null when `part.missing` says why.
struct NvrtcLibrary {
    const Nvrtc* functions = nullptr;
    Part part;
};
NvrtcLibrary find_nvrtc();

/// The ptxas program. `version` is asked of it (a process) only when `ask_version`.
Part find_ptxas(bool ask_version);

/// A compiler's identity for cache keys: a file that was replaced is another compiler.
std::string file_identity(const std::string& path);

/// What a text calls its first kernel, behind `mark` (".entry ", "__global__ "); empty where it does not say.
std::string kernel_of(std::string_view text, std::string_view mark);

/// The text as a C string. ArgumentError for a text with a NUL byte, at which a compiler would stop.
std::string source_text(std::string_view text, std::string_view what);

}  // namespace wgrun::gpu
