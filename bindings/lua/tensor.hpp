// Shared by the functions that make tensors and by their class.
#pragma once

#include <lua.hpp>

#include <cstddef>
#include <cstdint>

#include "bindings/lua/limits.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {

/// Makes the class wgrun.tensor.
void declare_tensor(lua_State* L);

// Each adds to the module table on top of the stack; the others also to the class.
void add_files(lua_State* L);       // wg.load
void add_dlpack(lua_State* L);      // wg.from_dlpack, t:to_dlpack
void add_tensor_ops(lua_State* L);  // wg.ones ..., t + u, t:slice ...

/// The dtype named by argument `arg`, which comes before the shape. Raises otherwise.
Dtype dtype_argument(lua_State* L, int arg);

/// Pushes the tensor that `make` (guarded) returns. It is charged to the state's limits.
template <class Make>
HostTensorBox& push_tensor(lua_State* L, Make&& make) {
    HostTensorBox& box = push_object<HostTensorBox>(L, [] { return HostTensorBox{}; });
    charged(L, [&] { box.tensor = std::make_shared<Tensor>(make()); });
    return box;
}

/// Writes the number at `index` of the stack to row-major position `position`. 64-bit integers are exact.
void store_element(lua_State* L, Tensor& tensor, std::int64_t position, int index);

/// Pushes the element at `position`: an integer for integer dtypes, else a float.
void push_element(lua_State* L, const Tensor& tensor, std::int64_t position);

/// Tells Lua's collector that the object just made keeps `bytes` bytes alive.
void account(lua_State* L, std::size_t bytes);

}  // namespace wgrun::lua
