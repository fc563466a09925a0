// SHA-256 (FIPS 180-4), for names in the cache on disk.
//
// Two texts must never share an entry, so the hash must be collision-resistant. One page of
// code, checked against the standard's vectors, is lighter than a dependency on a cryptography library.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace wgrun::gpu {

/// The 64 lower-case hexadecimal digits of SHA-256.
std::string sha256(std::span<const std::byte> data);
std::string sha256(std::string_view text);

}  // namespace wgrun::gpu
