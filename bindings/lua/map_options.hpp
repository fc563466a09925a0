// The options of k:tensor_map, k:parameter and wg.tensor_map that a box has besides its extents.
#pragma once

#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"

namespace wgrun::lua {

inline constexpr Option steps_option{
    "steps", "table?",
    "from one element that is copied to the next, in elements of each dimension of the tensor, 1 to 8; the "
    "first must be 1. The box is what is copied"};
inline constexpr Option lower_option{
    "lower", "table?",
    "of an im2col map, for copies of pixels: the first pixel of the bounding box, counted from the first of "
    "the tensor, in each of one to three dimensions, the fastest first. The tensor then is images x [depth x "
    "[height x]] width x channels, and the box { channels, pixels of a copy }"};
inline constexpr Option upper_option{"upper", "table?",
                                     "of an im2col map: the last pixel, counted from the last of the tensor"};

/// Reads these options into a box whose extents are known.
inline void read_box_details(lua_State* L, const Options& options, TensorBox& box) {
    if (options.push("steps") != LUA_TNIL) read_integers(L, -1, "steps", box.steps, 5);
    lua_pop(L, 1);
    if (!options.has("lower") && !options.has("upper")) return;
    TensorBox::Pixels& pixels = *guarded(L, [&] { return &box.pixels.emplace(); });
    if (options.push("lower") != LUA_TNIL) read_integers(L, -1, "lower", pixels.lower, 3);
    if (options.push("upper") != LUA_TNIL) read_integers(L, -1, "upper", pixels.upper, 3);
    lua_pop(L, 2);
    guarded(L, [&] {
        if (box.extents.size() == 2) box.extents.resize(pixels.lower.size() + 2, 1);
    });
}

}  // namespace wgrun::lua
