// Computing with tensors: operators and comparisons, shapes and slices, wg.ones, full, arange, eye.
#include "wgrun/tensor_ops.hpp"

#include <algorithm>
#include <cmath>

#include "bindings/lua/args.hpp"
#include "bindings/lua/literal.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/tensor.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

int push_result(lua_State* L, const HostTensorBox& box) {
    account(L, box.tensor->size_bytes());
    return 1;
}

/// An operand: a tensor, or a number as a tensor of rank 0 in binary64.
const std::shared_ptr<Tensor>& operand(lua_State* L, int arg, const char* name) {
    auto& share = held<std::shared_ptr<Tensor>>(L);
    if (lua_type(L, arg) == LUA_TNUMBER) {
        const double value = lua_tonumber(L, arg);
        guarded(L, [&] { share = std::make_shared<Tensor>(full(Dtype::f64, {}, value)); });
        return share;
    }
    if (const std::shared_ptr<Tensor>* tensor = test_tensor(L, arg)) {
        share = *tensor;
        return share;
    }
    const ShortText got = describe(L, arg);
    fail(L,
         [&] { return std::string("tensor, ") + name + ": expected a tensor or a number, got " + got.text; });
}

/// The dtype of a number beside a tensor: the tensor's, but f32 for a fraction beside integers.
Dtype dtype_beside(Dtype dtype, double number) {
    if (is_float(dtype) || number == std::trunc(number)) return dtype;
    return bits(dtype) == 64 ? Dtype::f64 : Dtype::f32;
}

template <Literal name>
int elementwise_binary(lua_State* L) {
    lua_settop(L, 2);
    const std::shared_ptr<Tensor>& a = operand(L, 1, name.text);
    const std::shared_ptr<Tensor>& b = operand(L, 2, name.text);
    const bool number_a = lua_type(L, 1) == LUA_TNUMBER, number_b = lua_type(L, 2) == LUA_TNUMBER;
    const double number = number_a ? lua_tonumber(L, 1) : number_b ? lua_tonumber(L, 2) : 0;
    return push_result(L, push_tensor(L, [&] {
                           std::optional<Dtype> dtype;
                           if (number_a) dtype = dtype_beside(b->dtype(), number);
                           if (number_b) dtype = dtype_beside(a->dtype(), number);
                           return elementwise(name.text, *a, *b, dtype);
                       }));
}

template <Literal name>
int elementwise_unary(lua_State* L) {
    lua_settop(L, 1);
    const Tensor& tensor = hold_tensor(L, 1);
    return push_result(L, push_tensor(L, [&] { return elementwise(name.text, tensor); }));
}

constexpr Option along[] = {
    {"axis", "integer?",
     "the dimension that goes away, from 0, or counted from the end by -1, -2, ...: the "
     "result is a tensor without it"}};

// t:sum{ axis = 1 }: along one dimension
template <Literal name>
int reduction_along(lua_State* L) {
    const Options options(L, 2, name.text, along);
    const std::int64_t axis = options.integer("axis");
    const Tensor& tensor = hold_tensor(L, 1);
    return push_result(L, push_tensor(L, [&] { return reduce(name.text, tensor, axis); }));
}

template <Literal name>
int reduction(lua_State* L) {
    if (lua_type(L, 2) == LUA_TTABLE) return reduction_along<name>(L);
    if (!lua_isnoneornil(L, 2)) fail_argument(L, 2, "nothing, or { axis = n } for one dimension");
    const Tensor& tensor = hold_tensor(L, 1);
    lua_pushnumber(L, guarded(L, [&] { return reduce(name.text, tensor); }));
    return 1;
}

// t:min() is a number, t:min(u) a tensor, t:min{ axis = 1 } one of fewer dimensions; max likewise.
template <Literal name>
int least_or_most(lua_State* L) {
    return lua_isnoneornil(L, 2) || lua_type(L, 2) == LUA_TTABLE ? reduction<name>(L)
                                                                 : elementwise_binary<name>(L);
}

// Lua converts the result of < to one Boolean.
int no_tensor_order(lua_State* L) {
    fail(L, [] {
        return ArgumentError(
            "tensors cannot be compared by Lua's <, which gives one Boolean",
            "t:lt(u), le, gt, ge, eq, ne give a tensor of 0 and 1; wg.compare says whether two "
            "agree");
    });
}

// t == u: of the same type and shape, and equal element by element, so that a NaN differs from itself.
int tensor_eq(lua_State* L) {
    if (test<HostTensorBox>(L, 1) == nullptr || test<HostTensorBox>(L, 2) == nullptr)
        return lua_pushboolean(L, 0), 1;
    const Tensor &a = hold_tensor(L, 1), &b = hold_tensor(L, 2);
    const bool equal = guarded(L, [&] {
        if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
        // elementwise() computes in binary64, which does not hold all integers of 64 bits.
        if (a.dtype() == Dtype::s64 || a.dtype() == Dtype::u64)
            return std::ranges::equal(a.bytes(), b.bytes());
        return a.items() == 0 || reduce("min", elementwise("eq", a, b)) == 1;
    });
    return lua_pushboolean(L, equal ? 1 : 0), 1;
}

// t:reshape(n, m, ...) or t:reshape{ n, m }: a view; one extent may be -1
int reshape_tensor(lua_State* L) {
    auto& share = held<std::shared_ptr<Tensor>>(L);
    hold_tensor(L, 1);
    share = test<HostTensorBox>(L, 1)->tensor;
    auto& shape = held<TensorShape>(L);
    if (lua_type(L, 2) == LUA_TTABLE) {
        read_integers(L, 2, "shape", shape);
    } else {
        for (int arg = 2; lua_type(L, arg) == LUA_TNUMBER; ++arg) {
            const std::int64_t extent = integer_argument(L, arg);
            guarded(L, [&] { shape.push_back(extent); });
        }
    }
    push_tensor(L, [&] { return reshape(share, shape); });
    return 1;
}

// t:rows(from, to): indices from .. to - 1 of the first dimension, a view
int rows(lua_State* L) {
    lua_settop(L, 3);
    auto& share = held<std::shared_ptr<Tensor>>(L);
    hold_tensor(L, 1);
    share = test<HostTensorBox>(L, 1)->tensor;
    const std::int64_t from = integer_argument(L, 2), to = integer_argument(L, 3);
    push_tensor(L, [&] {
        TensorShape shape = share->shape();
        if (shape.empty() || from < 0 || to < from || to > shape[0])
            throw ArgumentError("rows " + std::to_string(from) + " to " + std::to_string(to) +
                                " (excluded) of " + to_string(*share));
        const std::int64_t row = shape[0] == 0 ? 0 : share->items() / shape[0];
        shape[0] = to - from;
        return view(share, from * row, std::move(shape));
    });
    return 1;
}

// t:transpose() swaps the last two dimensions; t:transpose{ 2, 0, 1 } puts them in that order. A copy.
int transpose(lua_State* L) {
    lua_settop(L, 2);
    const Tensor& tensor = hold_tensor(L, 1);
    auto& order = held<std::vector<std::int64_t>>(L);
    if (!lua_isnil(L, 2)) read_integers(L, 2, "order", order);
    const bool given = !lua_isnil(L, 2);
    return push_result(
        L, push_tensor(L, [&] {
            std::vector<int> dimensions;
            for (const std::int64_t d : order)  // any other number is none of them either
                dimensions.push_back(static_cast<int>(std::clamp<std::int64_t>(d, -1, Tensor::max_rank)));
            if (!given) {
                for (int d = 0; d < tensor.rank(); ++d) dimensions.push_back(d);
                if (tensor.rank() < 2)
                    throw ArgumentError(to_string(tensor) + " has fewer than two dimensions to swap",
                                        "t:reshape(1, -1) makes a row, t:reshape(-1, 1) a column");
                std::swap(dimensions.end()[-1], dimensions.end()[-2]);
            }
            return permute(tensor, dimensions);
        }));
}

/// Reads the ranges at argument 2, a list with one entry a dimension: an index; { from, to, step }; {} or
/// true for all of it. `shape` is of the tensor.
void read_ranges(lua_State* L, const TensorShape& shape, std::vector<IndexRange>& ranges) {
    if (lua_type(L, 2) != LUA_TTABLE) fail_argument(L, 2, "a list of ranges: { {from, to}, index, ... }");
    const auto count = static_cast<std::int64_t>(lua_rawlen(L, 2));
    auto& numbers = held<std::vector<std::int64_t>>(L);
    for (std::int64_t d = 0; d < count; ++d) {
        lua_rawgeti(L, 2, d + 1);
        const bool whole = lua_type(L, -1) == LUA_TBOOLEAN && lua_toboolean(L, -1) != 0;
        const bool index = lua_type(L, -1) == LUA_TNUMBER;
        guarded(L, [&] { numbers.clear(); });
        if (!whole) read_integers(L, -1, "range", numbers, 3);
        lua_pop(L, 1);
        guarded(L, [&] {
            if (d >= static_cast<std::int64_t>(shape.size()))
                throw ArgumentError(std::to_string(count) + " ranges for a tensor of " +
                                    std::to_string(shape.size()) + " dimensions");
            const std::int64_t extent = shape[static_cast<std::size_t>(d)];
            // No tensor has as many elements, and no sum of such numbers overflows.
            for (const std::int64_t number : numbers)
                if (number < -8 * Tensor::max_bytes || number > 8 * Tensor::max_bytes)
                    throw ArgumentError("range: " + std::to_string(number) + " is no index of " +
                                        std::to_string(extent) + " elements");
            IndexRange range{0, extent, 1, false};
            if (index) range = {numbers[0], 1, 1, true};
            if (!index && numbers.size() == 1) range = {numbers[0], extent - numbers[0], 1, false};
            if (!index && numbers.size() > 1) {
                range.first = numbers[0];
                range.step = numbers.size() > 2 ? numbers[2] : 1;
                const std::int64_t length = numbers[1] - numbers[0];
                if (range.step == 0 || (length != 0 && (length > 0) != (range.step > 0)))
                    throw ArgumentError("range { " + std::to_string(numbers[0]) + ", " +
                                        std::to_string(numbers[1]) + ", " + std::to_string(range.step) +
                                        " } never reaches its end");
                range.count = (length + range.step - (range.step > 0 ? 1 : -1)) / range.step;
            }
            ranges.push_back(range);
        });
    }
}

// t:slice{ range, ... }: a copy of a part
int slice_tensor(lua_State* L) {
    lua_settop(L, 2);
    const Tensor& tensor = hold_tensor(L, 1);
    auto& ranges = held<std::vector<IndexRange>>(L);
    read_ranges(L, tensor.shape(), ranges);
    return push_result(L, push_tensor(L, [&] { return slice(tensor, ranges); }));
}

// t:put({ range, ... }, value): writes a tensor or a number to a part; returns t
int put(lua_State* L) {
    lua_settop(L, 3);
    Tensor& tensor = hold_tensor(L, 1);
    auto& ranges = held<std::vector<IndexRange>>(L);
    read_ranges(L, tensor.shape(), ranges);
    const std::shared_ptr<Tensor>& value = operand(L, 3, "put");
    guarded(L, [&] { assign(tensor, ranges, *value); });
    lua_settop(L, 1);
    return 1;
}

// t:fill(value): returns t
int fill(lua_State* L) {
    lua_settop(L, 2);
    Tensor& tensor = hold_tensor(L, 1);
    const double value = number_argument(L, 2);
    guarded(L, [&] {
        const Tensor one = full(Dtype::f64, {}, value);
        assign(tensor, {}, one);
    });
    lua_settop(L, 1);
    return 1;
}

int matrix_product(lua_State* L) {
    lua_settop(L, 2);
    const Tensor& a = hold_tensor(L, 1);
    const Tensor& b = hold_tensor(L, 2);
    return push_result(L, push_tensor(L, [&] { return matmul(a, b); }));
}

// --- makers --------------------------------------------------------------------------------------------

// wg.full(dtype, shape, value)
int full_tensor(lua_State* L) {
    lua_settop(L, 3);
    const Dtype dtype = dtype_argument(L, 1);
    auto& shape = held<TensorShape>(L);
    read_integers(L, 2, "shape", shape);
    if (lua_type(L, 3) != LUA_TNUMBER)
        fail_argument(L, 3, "the value, after dtype and shape: (\"f32\", { 64, 64 }, 1)");
    const double value = lua_tonumber(L, 3);
    return push_result(L, push_tensor(L, [&] { return full(dtype, shape, value); }));
}

// wg.ones(dtype, shape)
int ones(lua_State* L) {
    lua_settop(L, 2);
    lua_pushinteger(L, 1);
    return full_tensor(L);
}

// wg.arange(dtype, count) or wg.arange(dtype, from, to [, step]), without `to`
int arange_tensor(lua_State* L) {
    lua_settop(L, 4);
    const Dtype dtype = dtype_argument(L, 1);
    const bool counted = lua_isnil(L, 3);
    const double from = counted ? 0 : number_argument(L, 2), to = number_argument(L, counted ? 2 : 3);
    const double step = lua_isnil(L, 4) ? 1 : number_argument(L, 4);
    const double count = std::ceil((to - from) / step);
    if (!(count >= 0 && count < 0x1p40))
        fail(L, [&] {
            return std::string("wg.arange: the step does not lead from the first value towards the last");
        });
    return push_result(
        L, push_tensor(L, [&] { return arange(dtype, static_cast<std::int64_t>(count), from, step); }));
}

// wg.eye(dtype, rows [, columns])
int eye_tensor(lua_State* L) {
    lua_settop(L, 3);
    const Dtype dtype = dtype_argument(L, 1);
    const std::int64_t rows = integer_argument(L, 2);
    const std::int64_t columns = lua_isnil(L, 3) ? rows : integer_argument(L, 3);
    return push_result(L, push_tensor(L, [&] { return eye(dtype, rows, columns); }));
}

}  // namespace

void add_tensor_ops(lua_State* L) {
    static const Member functions[] = {{"ones", ones, R"(
Makes a tensor of ones.
@param dtype string
@param shape integer|table  the extents
@return tensor)"},
                                       {"full", full_tensor, R"(
Makes a tensor filled with one value.
@param dtype string
@param shape integer|table  the extents
@param value number
@return tensor)"},
                                       {"arange", arange_tensor, R"(
Makes a vector of evenly spaced numbers: wg.arange(dtype, count) gives 0 to count - 1, wg.arange(dtype, from, to, step) starts at `from` and stops before `to`.
@param dtype string
@param from number  the first value, or, if it is the only argument, the number of values
@param to number?  the end, which is excluded
@param step number = 1
@return tensor)"},
                                       {"eye", eye_tensor, R"(
Makes a matrix with ones on its diagonal and zeros elsewhere.
@param dtype string
@param rows integer
@param columns integer?  by default the same as `rows`
@return tensor)"},
                                       {"matmul", matrix_product, R"(
Multiplies two matrices on the host, as a reference.
@param a tensor  {m, k}
@param b tensor  {k, n}
@return tensor  {m, n}
@raise when the extents do not fit each other.)"},
                                       {}};
    add_functions(L, "wg", functions);
    static const Member methods[] = {{"reshape", reshape_tensor, R"(
A view with other extents, which shares the elements.
@param ... table|integer  the extents, as a list or as arguments; one of them may be -1, which is then computed from the others
@return tensor
@raise when the number of elements differs.)"},
                                     {"rows", rows, R"(
A view of a range of the first dimension, which shares the elements.
@param from integer  from 0
@param to integer  the end of the range, which is excluded
@return tensor)"},
                                     {"transpose", transpose, R"(
A copy with the last two dimensions exchanged, or with all of them in a given order.
@param order table?  the dimensions in their new order, from 0: { 2, 0, 1 }
@return tensor)"},
                                     {"slice", slice_tensor, R"(
A copy of a part of the tensor.
@param ranges table  an entry for each dimension: an index, { from, to, step } where `to` is excluded, or true for the whole dimension
@return tensor
@example
  local column = t:slice { true, 3 })"},
                                     {"put", put, R"(
Writes to a part of the tensor.
@param ranges table  as of tensor:slice
@param value tensor|number
@return tensor  itself)"},
                                     {"fill", fill, R"(
Sets all elements to one value.
@param value number
@return tensor  itself)"},
                                     {"min", least_or_most<"min">, R"(
The smallest element; with { axis = n }, of each line along dimension n (from 0, or -1 for the last); with a tensor or number, the minimum element by element.
@param other tensor|number|table?
@return number|tensor
@example
  local least = t:min { axis = 0 })"},
                                     {"max", least_or_most<"max">, R"(
The largest element; with { axis = n }, of each line along dimension n (from 0, or -1 for the last); with a tensor or number, the maximum element by element.
@param other tensor|number|table?
@return number|tensor
@example
  local most = t:max { axis = -1 })"},
                                     {"sum", reduction<"sum">, R"(
The sum of all elements, in binary64; with an axis, of those along one dimension.
@param options table?
@return number|tensor
@example
  local sums = t:sum { axis = 1 })",
                                      along},
                                     {"lt", elementwise_binary<"lt">, R"(
Compares with another tensor or a number, element by element: 1 where less, else 0.
@param other tensor|number
@return tensor)"},
                                     {"le", elementwise_binary<"le">, R"(
Compares with another tensor or a number, element by element: 1 where less or equal, else 0.
@param other tensor|number
@return tensor)"},
                                     {"gt", elementwise_binary<"gt">, R"(
Compares with another tensor or a number, element by element: 1 where greater, else 0.
@param other tensor|number
@return tensor)"},
                                     {"ge", elementwise_binary<"ge">, R"(
Compares with another tensor or a number, element by element: 1 where greater or equal, else 0.
@param other tensor|number
@return tensor)"},
                                     {"eq", elementwise_binary<"eq">, R"(
Compares with another tensor or a number, element by element: 1 where equal, else 0.
@param other tensor|number
@return tensor)"},
                                     {"ne", elementwise_binary<"ne">, R"(
Compares with another tensor or a number, element by element: 1 where not equal, else 0.
@param other tensor|number
@return tensor)"},
                                     {"abs", elementwise_unary<"abs">, R"(
The magnitude of each element.
@return tensor)"},
                                     {"exp", elementwise_unary<"exp">, R"(
The exponential of each element.
@return tensor)"},
                                     {"log", elementwise_unary<"log">, R"(
The natural logarithm of each element.
@return tensor)"},
                                     {"sqrt", elementwise_unary<"sqrt">, R"(
The square root of each element.
@return tensor)"},
                                     {"tanh", elementwise_unary<"tanh">, R"(
The hyperbolic tangent of each element.
@return tensor)"},
                                     {"floor", elementwise_unary<"floor">, R"(
Each element rounded down to an integer.
@return tensor)"},
                                     {}};
    add_methods<HostTensorBox>(L, methods);
    static const luaL_Reg metamethods[] = {{"__add", elementwise_binary<"add">},
                                           {"__sub", elementwise_binary<"sub">},
                                           {"__mul", elementwise_binary<"mul">},
                                           {"__div", elementwise_binary<"div">},
                                           {"__mod", elementwise_binary<"mod">},
                                           {"__pow", elementwise_binary<"pow">},
                                           {"__unm", elementwise_unary<"neg">},
                                           {"__lt", no_tensor_order},
                                           {"__le", no_tensor_order},
                                           {"__eq", tensor_eq},
                                           {nullptr, nullptr}};
    push_class(L, &class_key<HostTensorBox>, class_name<HostTensorBox>);
    luaL_setfuncs(L, metamethods, 0);
    lua_pop(L, 1);
}

}  // namespace wgrun::lua
