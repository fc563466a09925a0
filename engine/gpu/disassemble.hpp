// Machine code as text, by the toolkit's nvdisasm.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>

#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// The nvdisasm program of the PATH, a toolkit or a wheel; its version is not asked.
Part find_nvdisasm();

/// The SASS of a cubin: what `nvdisasm -c` prints; with `lines` what `nvdisasm -c -g` prints, in which the
/// lines of the source that the cubin knows stand before their instructions. EnvironmentError ENOENT where
/// there is no nvdisasm, EIO where it refuses the cubin or prints more than 8 MiB, ETIMEDOUT after a minute,
/// EINTR when `stop` was raised. Thread-safe.
std::string disassemble(std::span<const std::byte> cubin, const std::atomic<bool>* stop = nullptr,
                        bool lines = false);

}  // namespace wgrun::gpu
