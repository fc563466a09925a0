// The sizes that scripts declare to be legal for their kernels, with kernel:sizes.
#pragma once

#include <lua.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/edge_sizes.hpp"

namespace wgrun::lua {

/// What kernel:sizes was given, but the function.
struct DeclaredSizes {
    std::vector<SizeRange> ranges;  ///< by name
    Where where;                    ///< the call
};

/// Pushes the function that launches the kernel at `index`, and returns its sizes, which stay valid as long
/// as the kernel does; null, with nothing pushed, if it has none. Only a session that traces keeps them.
const DeclaredSizes* push_sizes(lua_State* L, int index);

/// Adds to a finding of a launch with these sizes which launch that is.
void name_size(Diagnostic& finding, std::string_view kernel, const DeclaredSizes& sizes,
               const std::vector<std::int64_t>& values, std::uint64_t seed);

/// Pushes the table that the function takes, of one value for each range.
void push_size(lua_State* L, const std::vector<SizeRange>& ranges, const std::vector<std::int64_t>& values);

}  // namespace wgrun::lua
