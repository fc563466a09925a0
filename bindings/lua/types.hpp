// The classes that scripts see, and the parts that luaopen_wgrun puts together.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bindings/lua/userdata.hpp"
#include "wgrun/device_tensor.hpp"
#include "wgrun/fragment.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/layout.hpp"
#include "wgrun/picture.hpp"
#include "wgrun/tensor.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::lua {

/// A tensor that scripts can close early; then it is null. Calls and launches share its ownership, since a
/// finalizer, which may run at any allocation, could close a tensor that they use.
struct HostTensorBox {
    std::shared_ptr<Tensor> tensor;
    bool empty = false;  ///< made by wg.empty: nobody reads it before it is written
};

/// A product by cuBLAS, which shares ownership of its three tensors.
struct CublasBox {
    std::vector<std::shared_ptr<Tensor>> tensors;
    std::optional<Cublas> cublas;
};

/// A tensor on the device; after close() the object remains and raises errors.
struct DeviceTensorBox {
    std::shared_ptr<DeviceTensor> tensor;
};

/// An argument that is neither a tensor nor a number, made by wg.pointer, wg.tensor_map or wg.struct, which
/// shares ownership of its tensors.
struct ArgumentBox {
    Argument argument;
    std::vector<std::shared_ptr<Tensor>> tensors{};
    std::vector<std::shared_ptr<DeviceTensor>> device_tensors{};
};

/// A launch made by kernel:prepare, which shares ownership of its tensors; empty where kernels are only
/// traced.
struct LaunchBox {
    std::vector<std::shared_ptr<Tensor>> tensors;
    std::vector<std::shared_ptr<DeviceTensor>> device_tensors;
    std::optional<Launch> launch;
    /// Of a launch on the simulator, or under a debugger: each start is a run of the kernel, which is with
    /// the tensors.
    std::optional<RunOptions> simulated{};
};

template <>
inline constexpr const char* class_name<Layout> = "wgrun.layout";
template <>
inline constexpr const char* class_name<Swizzle> = "wgrun.swizzle";
template <>
inline constexpr const char* class_name<Tile> = "wgrun.tile";
template <>
inline constexpr const char* class_name<Fragment> = "wgrun.fragment";
template <>
inline constexpr const char* class_name<Picture> = "wgrun.picture";
template <>
inline constexpr const char* class_name<HostTensorBox> = "wgrun.tensor";
template <>
inline constexpr const char* class_name<DeviceTensorBox> = "wgrun.device_tensor";
template <>
inline constexpr const char* class_name<Kernel> = "wgrun.kernel";
template <>
inline constexpr const char* class_name<ArgumentBox> = "wgrun.argument";
template <>
inline constexpr const char* class_name<LaunchBox> = "wgrun.launch";
template <>
inline constexpr const char* class_name<CublasBox> = "wgrun.cublas";

/// The open tensor at argument `arg`; raises for anything else, including a closed one. Valid until the next
/// call of Lua, since a finalizer may close it.
Tensor& check_tensor(lua_State* L, int arg);

/// The same, and pushes an object that shares its ownership: valid as long as that stays on the stack.
Tensor& hold_tensor(lua_State* L, int arg);

/// The open tensor at `index`, or null for another value; raises for a closed one. Copy the pointer (guarded)
/// before the next call of Lua.
const std::shared_ptr<Tensor>* test_tensor(lua_State* L, int index);

/// Reads integers nested in tables: 8, {8, {2, 64}}. `what` names the value in messages; `out` must not live
/// in a C++ frame.
void read_tuple(lua_State* L, int index, const char* what, IntTuple& out);

/// Pushes a tuple as nested tables, a leaf as an integer.
void push_tuple(lua_State* L, const IntTuple& tuple);

// Each adds its functions to the module table on top of the stack and makes its classes.
void open_layout(lua_State* L);
void open_algebra(lua_State* L);
void open_tile(lua_State* L);
void open_fragment(lua_State* L);
void open_picture(lua_State* L);
void open_bank(lua_State* L);
void open_tensor(lua_State* L);
void open_device_tensor(lua_State* L);
void open_sparse(lua_State* L);
void open_device(lua_State* L);
void open_target(lua_State* L);
void open_kernel(lua_State* L);
void open_launch(lua_State* L);
void open_debug(lua_State* L);
void open_timeline(lua_State* L);
void open_cublas(lua_State* L);
void open_foreign(lua_State* L);
void open_export(lua_State* L);
void open_sizes(lua_State* L);

/// All of them, in order: what adds to a class comes after what makes it.
inline constexpr void (*parts[])(lua_State*) = {
    open_layout,  open_algebra,       open_tile,   open_fragment,               // shapes of data
    open_picture, open_bank,                                                    // add to them
    open_tensor,  open_device_tensor, open_sparse, open_device,   open_target,  // what is there
    open_kernel,  open_launch,        open_debug,  open_timeline, open_cublas,
    open_foreign, open_export,        open_sizes};

}  // namespace wgrun::lua
