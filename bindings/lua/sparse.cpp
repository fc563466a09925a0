// wg.sparse: matrices for wgmma.mma_async.sp.
#include "wgrun/sparse.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/tensor.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

/// Pushes a tensor that `make` makes, as the result of a function.
template <class Make>
int give_tensor(lua_State* L, Make make) {
    const TensorBox& box = push_tensor(L, make);
    account(L, box.tensor->size_bytes());
    return 1;
}

// wg.sparse.prune(t [, dtype]): t, in that dtype, with zeros where the smaller half of each chunk was
int prune(lua_State* L) {
    lua_settop(L, 2);
    const Tensor& tensor = hold_tensor(L, 1);
    const bool same = lua_isnoneornil(L, 2);
    const std::string_view name = same ? std::string_view() : string_argument(L, 2);
    return give_tensor(L, [&] {
        const Dtype dtype = same ? tensor.dtype() : dtype_named(name);
        sparse::instruction_k(dtype);  // refuses before work is done
        return dtype == tensor.dtype() ? sparse::prune(tensor) : sparse::prune(tensor.convert(dtype));
    });
}

// wg.sparse.compress(t): values {m, k/2}, metadata u32 {m/64, steps, 128}
int compress(lua_State* L) {
    const Tensor& tensor = hold_tensor(L, 1);
    TensorBox& values = push_object<TensorBox>(L, [] { return TensorBox{}; });
    TensorBox& metadata = push_object<TensorBox>(L, [] { return TensorBox{}; });
    charged(L, [&] {
        sparse::Compressed made = sparse::compress(tensor);
        values.tensor = std::make_shared<Tensor>(std::move(made.values));
        metadata.tensor = std::make_shared<Tensor>(std::move(made.metadata));
    });
    account(L, values.tensor->size_bytes() + metadata.tensor->size_bytes());
    return 2;
}

// wg.sparse.decompress(values, metadata)
int decompress(lua_State* L) {
    lua_settop(L, 2);
    const Tensor& values = hold_tensor(L, 1);
    const Tensor& metadata = hold_tensor(L, 2);
    return give_tensor(L, [&] { return sparse::decompress(values, metadata); });
}

// wg.sparse.validate(metadata, dtype): true, or an error that names row and chunk
int validate(lua_State* L) {
    lua_settop(L, 2);
    const Tensor& metadata = hold_tensor(L, 1);
    const std::string_view dtype = string_argument(L, 2);
    guarded(L, [&] { sparse::validate(metadata, dtype_named(dtype)); });
    lua_pushboolean(L, 1);
    return 1;
}

}  // namespace

void open_sparse(lua_State* L) {
    static const luaL_Reg functions[] = {{"prune", prune},
                                         {"compress", compress},
                                         {"decompress", decompress},
                                         {"validate", validate},
                                         {nullptr, nullptr}};
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    lua_setfield(L, -2, "sparse");
}

}  // namespace wgrun::lua
