// wg.sparse: matrices for wgmma.mma_async.sp.
#include "wgrun/sparse.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/tensor.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

/// Pushes the tensor that `make` returns, as the result of a function.
template <class Make>
int give_tensor(lua_State* L, Make make) {
    const HostTensorBox& box = push_tensor(L, make);
    account(L, box.tensor->size_bytes());
    return 1;
}

// wg.sparse.prune(t [, dtype]): t, in that dtype, with the smaller half of each chunk replaced by zeros
int prune(lua_State* L) {
    lua_settop(L, 2);
    const Tensor& tensor = hold_tensor(L, 1);
    const bool same = lua_isnoneornil(L, 2);
    const std::string_view name = same ? std::string_view() : string_argument(L, 2);
    return give_tensor(L, [&] {
        const Dtype dtype = same ? tensor.dtype() : dtype_named(name);
        sparse::instruction_k(dtype);  // refuses the type before any work is done
        return dtype == tensor.dtype() ? sparse::prune(tensor) : sparse::prune(tensor.convert(dtype));
    });
}

// wg.sparse.compress(t [, order]): values {m, k/2}, metadata u32 {m/64, steps, 128}.
// stdlib/mainloop/sparse.lua takes device tensors.
int compress(lua_State* L) {
    lua_settop(L, 2);
    const Tensor& tensor = hold_tensor(L, 1);
    const std::string_view order = lua_isnoneornil(L, 2) ? "instruction" : string_argument(L, 2);
    HostTensorBox& values = push_object<HostTensorBox>(L, [] { return HostTensorBox{}; });
    HostTensorBox& metadata = push_object<HostTensorBox>(L, [] { return HostTensorBox{}; });
    charged(L, [&] {
        if (order != "instruction" && order != "gemm")
            throw ArgumentError("wg.sparse.compress: unknown order `" + std::string(order) +
                                "` (legal: instruction, gemm)");
        sparse::Compressed made =
            order == "gemm" ? sparse::compress_for_gemm(tensor) : sparse::compress(tensor);
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
    static const Member functions[] = {

        {"prune", prune, R"(
Makes a matrix 2:4 sparse: in each chunk of four elements (two of tf32) the smaller half becomes 0.
@param t tensor  M x K
@param dtype string?  converts to this type first
@return tensor)"},
        {"compress", compress, R"(
Splits a sparse matrix into its values and the metadata of wgmma. In the order "instruction" M is a multiple of 64 and K of an
instruction's K extent, and the metadata is u32, { M / 64, K steps, 128 }: one register for each thread and instruction. In the
order "gemm", that of wg.gemm, a row of the matrix is a multiple of 32 bytes; for types of 16 and 32 bits two instructions share a
register by their selectors. A tensor on the device stays there, its order is always "gemm", and a kernel does the work.
@param t tensor|device_tensor  M x K; at most half of each chunk is nonzero
@param order string = "instruction"  "instruction" or "gemm"
@return tensor|device_tensor  the values, M x K/2
@return tensor|device_tensor  the metadata
@raise when a chunk has too many nonzero elements.)"},
        {"decompress", decompress, R"(
Restores the matrix from its values and metadata.
@param values tensor
@param metadata tensor
@return tensor  M x K)"},
        {"validate", validate, R"(
Checks metadata from another source.
@param metadata tensor
@param dtype string  the type of the values
@return boolean  true
@raise when indices are not legal; the error names the row and the chunk.)"},
        {}};
    lua_newtable(L);
    add_functions(L, "wg.sparse", functions);
    lua_setfield(L, -2, "sparse");
}

}  // namespace wgrun::lua
