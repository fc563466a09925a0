// NVRTC in a process of its own: it offers no way to stop it, and a process can be killed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gpu/cuda_abi.hpp"

namespace wgrun::gpu {

/// The result of NVRTC for a text.
struct NvrtcAnswer {
    int result = 0;  ///< nvrtcResult of the compilation
    std::string log;
    std::vector<std::byte> image;  ///< empty when it has failed
};

/// In this process. EnvironmentError EFAULT if NVRTC fails for another reason than the text.
NvrtcAnswer nvrtc_here(const Nvrtc& nvrtc, const std::string& text, const std::vector<std::string>& options);

/// In a process of `program`, one that can be a worker. The same, and EINTR when the stop of this thread's
/// Patience was raised, ETIMEDOUT after ten minutes, EFAULT when the process ends without an answer.
NvrtcAnswer nvrtc_apart(const std::string& program, const std::string& text,
                        const std::vector<std::string>& options);

/// What such a process does: `folder` holds the text and the options, and gets the answer. Its exit code.
int nvrtc_main(const char* folder);

/// The argument, behind a worker's, that asks for it.
inline constexpr const char* nvrtc_command = "nvrtc";

}  // namespace wgrun::gpu
