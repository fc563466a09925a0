// What the makers of tensors and their class share.
#pragma once

#include <lua.hpp>

#include <cstddef>
#include <cstdint>

#include "wgrun/tensor.hpp"

namespace wgrun::lua {

/// Makes the class wgrun.tensor.
void declare_tensor(lua_State* L);

/// Writes the number at `index` of the stack to row-major position `position`. 64-bit integers are exact.
void store_element(lua_State* L, Tensor& tensor, std::int64_t position, int index);

/// Pushes the element at `position`: an integer for integer dtypes, else a float.
void push_element(lua_State* L, const Tensor& tensor, std::int64_t position);

/// Tells Lua's collector that the object just made keeps `bytes` bytes alive.
void account(lua_State* L, std::size_t bytes);

}  // namespace wgrun::lua
