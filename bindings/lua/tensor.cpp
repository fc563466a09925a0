// Tensors: wg.tensor, zeros, randn, randint, compare, dot. The class is in tensor_class.cpp.
#include "wgrun/tensor.hpp"

#include "wgrun/difference.hpp"

#include <algorithm>

#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/tensor.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {

void account(lua_State* L, std::size_t bytes) {
    // Lua sees only a few bytes of each tensor; told of the rest, it collects as if it had allocated them
    // itself.
    const std::size_t kib = std::min<std::size_t>(bytes / 1024, std::size_t{1} << 30);
    if (kib > 0) lua_gc(L, LUA_GCSTEP, static_cast<int>(kib));
}

namespace {

// The engine checks Tensor::max_rank; this only bounds the length of the list that is read.
TensorShape& shape_argument(lua_State* L, int arg) {
    TensorShape& shape = held<TensorShape>(L);
    read_integers(L, arg, "shape", shape);
    return shape;
}

[[noreturn]] void fail_count(lua_State* L, const Tensor& tensor, const char* what) {
    fail(L, [&] { return "wg.tensor: " + std::string(what) + " for " + to_string(tensor); });
}

// Writes the numbers of the table on top of the stack, nested as the shape or flat in row-major order.
void fill(lua_State* L, Tensor& tensor, int dimension, std::int64_t& position) {
    luaL_checkstack(L, 4, nullptr);
    const auto count = static_cast<std::int64_t>(lua_rawlen(L, -1));
    const bool nested = lua_rawgeti(L, -1, 1) == LUA_TTABLE;
    lua_pop(L, 1);
    const bool flat = dimension == 0 && !nested;
    if (dimension >= tensor.rank() && !flat) fail_count(L, tensor, "the values are nested too deeply");
    const std::int64_t wanted = flat ? tensor.items() : tensor.shape()[static_cast<std::size_t>(dimension)];
    if (count != wanted) {
        fail(L, [&] {
            return "wg.tensor: " + std::to_string(count) + (count == 1 ? " value" : " values") + ", where " +
                   to_string(tensor) + " takes " + std::to_string(wanted);
        });
    }
    for (std::int64_t i = 1; i <= count; ++i) {
        const int type = lua_rawgeti(L, -1, i);
        if (type != LUA_TTABLE && type != LUA_TNUMBER) {
            const ShortText got = describe(L, -1);
            fail(L, [&] {
                return "wg.tensor: value " + std::to_string(nested ? i : position + 1) +
                       (nested ? " of the list" : " in row-major order") + ": expected a " +
                       (nested ? "table" : "number") + ", got " + got.text;
            });
        }
        if (nested) {
            if (type != LUA_TTABLE) fail_count(L, tensor, "the values mix numbers and tables");
            fill(L, tensor, dimension + 1, position);
        } else {
            if (!flat && dimension + 1 != tensor.rank())
                fail_count(L, tensor, "the values are not nested deeply enough");
            store_element(L, tensor, position++, -1);
        }
        lua_pop(L, 1);
    }
}

/// Reads the shape of the numbers nested in the table on top of the stack, by its first entries.
void read_literal_shape(lua_State* L, TensorShape& shape) {
    const int top = lua_gettop(L);
    while (lua_type(L, -1) == LUA_TTABLE) {
        const auto extent = static_cast<std::int64_t>(lua_rawlen(L, -1));
        guarded(L, [&] {
            if (shape.size() >= Tensor::max_rank)
                throw ArgumentError("wg.tensor: the values are nested more than " +
                                    std::to_string(Tensor::max_rank) + " deep");
            shape.push_back(extent);
        });
        luaL_checkstack(L, 2, nullptr);
        lua_rawgeti(L, -1, 1);
    }
    lua_settop(L, top);
}

// wg.tensor{ {1, 2}, {3, 4}, dtype = "f32" }, wg.tensor({ ... }, "f32"): the nesting gives the shape
int tensor_literal(lua_State* L) {
    if (lua_type(L, 2) == LUA_TTABLE)
        fail_argument(L, 1, "the dtype first, then the shape: (\"f32\", { 64, 64 })");
    lua_settop(L, 2);
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        if (lua_type(L, -2) == LUA_TSTRING && string_argument(L, -2) != "dtype") {
            const std::string_view key = string_argument(L, -2);
            fail(L, [&] {
                return "wg.tensor: unknown option `" + std::string(key) +
                       "` (legal: dtype, beside the values)";
            });
        }
        lua_pop(L, 1);
    }
    std::string_view name = lua_isnil(L, 2) ? "f32" : string_argument(L, 2);
    if (lua_getfield(L, 1, "dtype") != LUA_TNIL) name = string_argument(L, -1);
    const Dtype dtype = guarded(L, [&] { return dtype_named(name); });
    auto& shape = held<TensorShape>(L);
    lua_pushvalue(L, 1);
    read_literal_shape(L, shape);
    const HostTensorBox& box = push_tensor(L, [&] { return Tensor::zeros(dtype, shape); });
    std::int64_t position = 0;
    lua_pushvalue(L, 1);
    fill(L, *box.tensor, 0, position);
    lua_pop(L, 1);
    account(L, box.tensor->size_bytes());
    return 1;
}

// wg.tensor(dtype, shape [, values]), or a literal
int tensor_new(lua_State* L) {
    if (lua_type(L, 1) == LUA_TTABLE) return tensor_literal(L);
    lua_settop(L, 3);
    const Dtype dtype = dtype_argument(L, 1);
    const TensorShape& shape = shape_argument(L, 2);
    const HostTensorBox& box = push_tensor(L, [&] { return Tensor::zeros(dtype, shape); });
    const int result = lua_gettop(L);
    if (!lua_isnil(L, 3)) {
        if (lua_type(L, 3) != LUA_TTABLE) fail_argument(L, 3, "a table of numbers");
        lua_pushvalue(L, 3);
        std::int64_t position = 0;
        fill(L, *box.tensor, 0, position);
    }
    lua_settop(L, result);
    account(L, box.tensor->size_bytes());
    return 1;
}

// wg.zeros(dtype, shape)
int zeros(lua_State* L) {
    dtype_argument(L, 1);
    lua_settop(L, 2);
    return tensor_new(L);
}

// wg.empty(dtype, shape)
int empty(lua_State* L) {
    zeros(L);
    test<HostTensorBox>(L, -1)->empty = true;
    return 1;
}

// Reads the options shape and dtype; leaves the shape on the stack.
TensorShape& random_options(lua_State* L, const Options& options, Dtype& dtype) {
    const std::string_view name = options.string("dtype", "f32");
    dtype = guarded(L, [&] { return dtype_named(name); });
    TensorShape& shape = held<TensorShape>(L);
    options.push("shape");
    if (lua_isnil(L, -1)) options.fail_value("shape", "a list of extents");
    read_integers(L, -1, "shape", shape);
    return shape;
}

constexpr Option randn_keys[] = {{"shape", "integer|table", "the extents"},
                                 {"dtype", R"(string = "f32")", R"(the element type)"},
                                 {"seed", "integer = 0", "the seed of the generator"}};

// wg.randn{ shape =, dtype =, seed = }
int randn(lua_State* L) {
    const Options options(L, 1, "wg.randn", randn_keys);
    Dtype dtype{};
    const TensorShape& shape = random_options(L, options, dtype);
    const auto seed = static_cast<std::uint64_t>(options.integer("seed", 0));
    const HostTensorBox& box = push_tensor(L, [&] { return Tensor::randn(shape, dtype, seed); });
    account(L, box.tensor->size_bytes());
    return 1;
}

constexpr Option randint_keys[] = {{"shape", "integer|table", "the extents"},
                                   {"dtype", R"(string = "f32")", R"(the element type)"},
                                   {"lo", "integer", "the smallest value"},
                                   {"hi", "integer", "the largest value"},
                                   {"seed", "integer = 0", "the seed of the generator"}};

// wg.randint{ shape =, dtype =, lo =, hi =, seed = }
int randint(lua_State* L) {
    const Options options(L, 1, "wg.randint", randint_keys);
    Dtype dtype{};
    const TensorShape& shape = random_options(L, options, dtype);
    const std::int64_t lo = options.integer("lo");
    const std::int64_t hi = options.integer("hi");
    const auto seed = static_cast<std::uint64_t>(options.integer("seed", 0));
    const HostTensorBox& box = push_tensor(L, [&] { return Tensor::randint(shape, dtype, lo, hi, seed); });
    account(L, box.tensor->size_bytes());
    return 1;
}

constexpr Option tolerance_keys[] = {
    {"absolute", "number = 0", "the accepted absolute error"},
    {"relative", "number = 0", "the accepted error as a fraction of the wanted element"},
    {"report", "boolean = false", "prints where and by how much the tensors differ"}};

// Reads a tolerance: a number t (absolute t and relative t) or { absolute =, relative =, report = }.
std::optional<Tolerance> tolerance_argument(lua_State* L, int arg) {
    if (lua_isnoneornil(L, arg)) return std::nullopt;
    if (lua_type(L, arg) == LUA_TNUMBER) return Tolerance{lua_tonumber(L, arg), lua_tonumber(L, arg)};
    if (lua_type(L, arg) != LUA_TTABLE)
        fail_argument(L, arg, "a number or { absolute =, relative = } as the tolerance");
    const Options options(L, arg, "wg.compare: tolerance", tolerance_keys);
    if (!options.has("absolute") && !options.has("relative")) return std::nullopt;
    return Tolerance{options.number("absolute", 0), options.number("relative", 0)};
}

// tostring(where): the report of wg.compare
int report_tostring(lua_State* L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_getfield(L, 1, "report");
    return 1;
}

// Reads `report` of the option table at `arg`: whether the report is printed.
bool prints_report(lua_State* L, int arg) {
    if (lua_type(L, arg) != LUA_TTABLE) return false;
    lua_getfield(L, arg, "report");
    const bool prints = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    return prints;
}

// wg.compare(got, want [, tolerance]): ok, worst error, where
int compare_tensors(lua_State* L) {
    lua_settop(L, 3);
    const Tensor& got = hold_tensor(L, 1);
    const Tensor& want = hold_tensor(L, 2);
    const bool prints = prints_report(L, 3);
    const std::optional<Tolerance> tolerance = tolerance_argument(L, 3);
    auto& found = held<Difference>(L);
    auto& report = held<std::string>(L);
    const bool traced = session(L).mode == Mode::trace;
    guarded(L, [&] {
        found = difference(got, want, tolerance);
        if (traced) found = {};  // no kernel ran, so a difference proves nothing
        report = to_string(found, got);
    });
    const Comparison& result = found.comparison;
    if (prints && !traced) {
        lua_getglobal(L, "print");
        lua_pushlstring(L, report.data(), report.size());
        lua_call(L, 1, 0);
    }
    lua_pushboolean(L, result.ok);
    lua_pushnumber(L, result.worst);
    push_integers(L, result.index.data(), result.index.size());
    lua_pushnumber(L, result.got);
    lua_setfield(L, -2, "got");
    lua_pushnumber(L, result.want);
    lua_setfield(L, -2, "want");
    lua_pushinteger(L, result.mismatches);
    lua_setfield(L, -2, "mismatches");
    // The text of the report is kept in the metatable.
    lua_createtable(L, 0, 2);
    lua_createtable(L, 0, 2);
    put_string(L, "report", report);
    if (!result.ok) put_string(L, "places", found.places);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, report_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    return 3;
}

// wg.dot(a, first, stride, b, first, stride, count): positions count in row-major order from 0
int tensor_dot(lua_State* L) {
    lua_settop(L, 7);
    const Tensor& a = hold_tensor(L, 1);
    const StridedVector of_a{integer_argument(L, 2), integer_argument(L, 3)};
    const Tensor& b = hold_tensor(L, 4);
    const StridedVector of_b{integer_argument(L, 5), integer_argument(L, 6)};
    const std::int64_t count = integer_argument(L, 7);
    lua_pushnumber(L, guarded(L, [&] { return dot(a, of_a, b, of_b, count); }));
    return 1;
}

}  // namespace

Dtype dtype_argument(lua_State* L, int arg) {
    if (lua_type(L, arg) != LUA_TSTRING)
        fail_argument(L, arg, "the dtype first, then the shape: (\"f32\", { 64, 64 })");
    const std::string_view name = string_argument(L, arg);
    return guarded(L, [&] { return dtype_named(name); });
}

void open_tensor(lua_State* L) {
    declare_tensor(L);
    static const Member functions[] = {{"tensor", tensor_new, R"(
Makes a tensor in host memory.
@param dtype string|table  the element type: "f32", "bf16", "e4m3", "s8" ... (the error of an unknown one lists all); or the values alone, nested like the shape, with the dtype as the next argument or as their field `dtype`
@param shape integer|table?  the extents
@param values table?  numbers, nested like the shape or flat in row-major order; by default zeros
@return tensor
@example
  local t = wg.tensor("f32", { 2, 3 }, { { 1, 2, 3 }, { 4, 5, 6 } })
  local u = wg.tensor { { 1, 2, 3 }, { 4, 5, 6 }, dtype = "bf16" }
  t[{ 0, 2 }] = 7)"},

                                       {"zeros", zeros, R"(
Makes a tensor of zeros.
@param dtype string
@param shape integer|table  the extents
@return tensor)"},

                                       {"empty", empty, R"(
Makes a tensor that nobody reads before it is written, such as memory for what one kernel hands to the next one. Here it holds zeros; other hosts of a launch need not clear it.
@param dtype string
@param shape integer|table  the extents
@return tensor)"},

                                       {"randn", randn, R"(
Makes a tensor of normally distributed random numbers with mean 0 and variance 1. A seed gives the same numbers on every machine.
@param options table
@return tensor)",
                                        randn_keys},

                                       {"randint", randint, R"(
Makes a tensor of uniformly distributed random integers. A seed gives the same numbers on every machine.
@param options table
@return tensor)",
                                        randint_keys},

                                       {"compare", compare_tensors, R"(
Compares two tensors of the same shape, element by element. By default the tolerance fits their types.
@param got tensor
@param want tensor
@param tolerance number|table?  a number t for { absolute = t, relative = t }, or an option table: errors up to absolute + relative * |want| are accepted
@return boolean  whether all elements are within the tolerance
@return number  the largest error
@return table  the index of the worst element, with the fields got, want and mismatches; tostring gives a report, with a picture of the elements that differ
@example
  assert(wg.compare(D, reference, 1e-2)))",
                                        tolerance_keys},

                                       {"dot", tensor_dot, R"(
Computes the dot product of two vectors inside tensors in binary64: a reference for one element of a large matrix product.
@param a tensor
@param first_a integer  the first element of the vector: a position in row-major order, from 0
@param stride_a integer  the distance between elements of the vector
@param b tensor
@param first_b integer
@param stride_b integer
@param count integer  the length of the vectors
@return number)"},
                                       {}};
    add_functions(L, "wg", functions);
    add_files(L);
    add_dlpack(L);
    add_tensor_ops(L);
}

}  // namespace wgrun::lua
