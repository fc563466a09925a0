// Files as memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace wgrun {

/// The size of an open file in bytes. Throws EnvironmentError EIO, the message beginning with `name`.
std::uint64_t file_size(int descriptor, const std::string& name);

/// The first `bytes` (at least one) of an open regular file as memory of this process alone: a page is read
/// when it is touched, and copied when it is written. The descriptor may be closed. Throws EnvironmentError,
/// ENOMEM without address space and EIO otherwise, the message beginning with `name`.
std::shared_ptr<std::byte> map_file(int descriptor, std::uint64_t bytes, const std::string& name);

}  // namespace wgrun
