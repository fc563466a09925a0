// CUDA's compilers as Python wheels: pip install nvidia-cuda-nvcc nvidia-cuda-nvrtc nvidia-cuda-nvdisasm.
#pragma once

#include <string>
#include <vector>

namespace wgrun::gpu {

/// Folders of the wheels that python3 would import, laid out as toolkits are (bin, lib). Asks the python3 on
/// the PATH, once a process; empty where there is none. Thread-safe.
const std::vector<std::string>& wheel_roots();

}  // namespace wgrun::gpu
