// The identity of an open file or folder.
#pragma once

#include <cstdint>
#include <tuple>

namespace wgrun::file {

/// Its device, its number there and when it was born, for numbers are given again. All zeros: it is not
/// known.
using Identity = std::tuple<std::uint64_t, std::uint64_t, std::int64_t>;

Identity identity_of(int descriptor);

}  // namespace wgrun::file
