// Machine code as text, by the toolkit's nvdisasm.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// The nvdisasm program of the PATH, a toolkit or a wheel; its version is not asked.
Part find_nvdisasm();

/// The SASS of a cubin: what `nvdisasm -c` prints; with `lines` what `nvdisasm -c -hex -g -gp` prints, which
/// also has the encodings, and before each instruction the lines of the source and of the PTX that the cubin
/// knows. EnvironmentError ENOENT where there is no nvdisasm, EIO where it refuses the cubin or prints more
/// than 512 MiB, ETIMEDOUT after `limit`, EINTR when `stop` was raised. Thread-safe.
std::string disassemble(std::span<const std::byte> cubin, const std::atomic<bool>* stop = nullptr,
                        bool lines = false, std::chrono::milliseconds limit = std::chrono::minutes(2));

/// The cubins for sm_90 and sm_90a that an object file, a library or an executable carries, by cuobjdump;
/// that of a cubin is itself. EnvironmentError ENOENT where there is no cuobjdump, or no such cubin;
/// ETIMEDOUT, EINTR. Thread-safe.
std::vector<std::vector<std::byte>> cubins_of(const std::string& path,
                                              const std::atomic<bool>* stop = nullptr);

/// Whether the file is an ELF file, a fatbin, or a static library.
bool is_binary(const std::string& path);
/// Whether the file is a cubin.
bool is_cubin(const std::string& path);

}  // namespace wgrun::gpu
