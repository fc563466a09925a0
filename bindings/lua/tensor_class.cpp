// The class wgrun.tensor: t[{i,j}], #t, t.shape, t:save, t:close.
#include <cmath>
#include <cstring>

#include "bindings/lua/args.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/tensor.hpp"
#include "bindings/lua/tensor_text.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {

Tensor& check_tensor(lua_State* L, int arg) {
    HostTensorBox& box = check<HostTensorBox>(L, arg);
    if (!box.tensor) fail_argument(L, arg, "an open tensor (this one is closed)");
    return *box.tensor;
}

Tensor& hold_tensor(lua_State* L, int arg) {
    // Made before the tensor is used, since making it may run a finalizer that closes the tensor.
    auto& share = held<std::shared_ptr<Tensor>>(L);
    check_tensor(L, arg);  // raises for a closed one
    share = test<HostTensorBox>(L, arg)->tensor;
    return *share;
}

const std::shared_ptr<Tensor>* test_tensor(lua_State* L, int index) {
    const HostTensorBox* box = test<HostTensorBox>(L, index);
    if (box == nullptr) return nullptr;
    if (!box->tensor) fail(L, [] { return "the tensor is closed"; });
    return &box->tensor;
}

void store_element(lua_State* L, Tensor& tensor, std::int64_t position, int index) {
    if (lua_type(L, index) != LUA_TNUMBER) {
        const ShortText given = describe(L, index);
        fail(L, [&] { return to_string(tensor) + ": elements are numbers, got " + given.text; });
    }
    const bool wide = tensor.dtype() == Dtype::s64 || tensor.dtype() == Dtype::u64;
    if (wide && lua_isinteger(L, index) && (tensor.dtype() == Dtype::s64 || lua_tointeger(L, index) >= 0)) {
        const lua_Integer value = lua_tointeger(L, index);
        guarded(L, [&] { std::memcpy(tensor.data() + position * 8, &value, 8); });
        return;
    }
    const double value = lua_tonumber(L, index);
    guarded(L, [&] { tensor.set(position, value); });
}

void push_element(lua_State* L, const Tensor& tensor, std::int64_t position) {
    if (tensor.dtype() == Dtype::s64 || tensor.dtype() == Dtype::u64) {
        lua_Integer value = 0;
        std::memcpy(&value, tensor.data() + position * 8, 8);
        lua_pushinteger(L, value);
        return;
    }
    const double value = guarded(L, [&] { return tensor.get(position); });
    if (is_float(tensor.dtype())) {
        lua_pushnumber(L, value);
    } else {
        lua_pushinteger(L, static_cast<lua_Integer>(value));
    }
}

namespace {

// The index in argument 2: {i, j, ...}, or i for one dimension; from 0. It is read onto the stack before the
// tensor is used.
const std::vector<std::int64_t>& key_argument(lua_State* L) {
    check_tensor(L, 1);
    auto& index = held<std::vector<std::int64_t>>(L);
    read_integers(L, 2, "index", index);
    return index;
}

int tensor_get(lua_State* L) {
    const std::vector<std::int64_t>& index = key_argument(L);
    const Tensor& tensor = check_tensor(L, 1);
    push_element(L, tensor, guarded(L, [&] { return tensor.position(index); }));
    return 1;
}

int tensor_set(lua_State* L) {
    if (lua_type(L, 2) == LUA_TSTRING) {
        const std::string_view key = string_argument(L, 2);
        fail(L, [&] {
            return "t." + std::string(key) + " cannot be set: elements are t[{i, j}], counted from 0";
        });
    }
    const std::vector<std::int64_t>& index = key_argument(L);
    // The message about a value that is not a number calls Lua.
    Tensor& tensor = lua_type(L, 3) == LUA_TNUMBER ? check_tensor(L, 1) : hold_tensor(L, 1);
    store_element(L, tensor, guarded(L, [&] { return tensor.position(index); }), 3);
    return 0;
}

int tensor_len(lua_State* L) {
    lua_pushinteger(L, check_tensor(L, 1).items());
    return 1;
}

int tensor_tostring(lua_State* L) {
    auto& text = held<std::string>(L);
    const HostTensorBox& box = check<HostTensorBox>(L, 1);
    guarded(L, [&] { text = box.tensor ? text_of_tensor(*box.tensor) : "closed tensor"; });
    lua_pushlstring(L, text.data(), text.size());
    return 1;
}

int tensor_shape(lua_State* L) {
    const TensorShape& shape = hold_tensor(L, 1).shape();
    push_integers(L, shape.data(), shape.size());
    return 1;
}

int tensor_dtype(lua_State* L) {
    const std::string_view name = to_string(check_tensor(L, 1).dtype());
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

int tensor_bytes(lua_State* L) {
    lua_pushinteger(L, static_cast<lua_Integer>(check_tensor(L, 1).size_bytes()));
    return 1;
}

int tensor_device(lua_State* L) {
    check_tensor(L, 1);
    lua_pushliteral(L, "cpu");
    return 1;
}

// t:save(path): true, or nil, message, code
int tensor_save(lua_State* L) {
    check_unrestricted(L, "tensor:save");
    const Tensor& tensor = hold_tensor(L, 1);
    const std::string_view path = name_argument(L, 2);
    if (int failed = attempted(L, [&] { tensor.save(path); })) return failed;
    lua_pushboolean(L, 1);
    return 1;
}

int tensor_copy(lua_State* L) {
    const Tensor& tensor = hold_tensor(L, 1);
    push_tensor(L, [&] { return tensor.copy(); });
    account(L, tensor.size_bytes());
    return 1;
}

// t:convert(dtype)
int tensor_convert(lua_State* L) {
    const Tensor& tensor = hold_tensor(L, 1);
    const std::string_view name = string_argument(L, 2);
    const HostTensorBox& box = push_tensor(L, [&] { return tensor.convert(dtype_named(name)); });
    account(L, box.tensor->size_bytes());
    return 1;
}

// t:totable(): the elements in row-major order
int tensor_totable(lua_State* L) {
    const Tensor& tensor = hold_tensor(L, 1);
    const std::int64_t count = tensor.items();
    if (count > INT32_MAX) fail_argument(L, 1, "a tensor of fewer than 2^31 elements");
    lua_createtable(L, static_cast<int>(count), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        push_element(L, tensor, i);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// t:close(), also __close; may be called again
int tensor_close(lua_State* L) {
    check<HostTensorBox>(L, 1).tensor.reset();
    return 0;
}

}  // namespace

void declare_tensor(lua_State* L) {
    static const Member methods[] = {
        {"save", tensor_save, R"(
Writes the tensor as a .npy file. An error leaves no incomplete file behind.
@param path string
@return boolean  true; or nil, message, code)"},
        {"copy", tensor_copy, R"(
Copies the tensor.
@return tensor)"},

        {"convert", tensor_convert, R"(
Converts the tensor to another type, with one rounding to nearest even.
@param dtype string
@return tensor
@raise when an integer type cannot hold a value.)"},
        {"totable", tensor_totable, R"(
The elements as a flat list, in row-major order.
@return table)"},

        {"close", tensor_close,
         "Frees its memory at once, or unmaps its file. Further calls do nothing. A `<close>` "
         "variable calls it."},
        {}};
    static const Member fields[] = {{"shape", tensor_shape, R"(
The extents.
@return table  a list of integers)"},

                                    {"dtype", tensor_dtype, R"(
The element type.
@return string)"},

                                    {"bytes", tensor_bytes, R"(
The total size of its elements.
@return integer  bytes)"},

                                    {"device", tensor_device, R"(
The place of the tensor.
@return string  "cpu")"},
                                    {}};
    static const Member metamethods[] = {{"__newindex", tensor_set},
                                         {"__len", tensor_len},
                                         {"__tostring", tensor_tostring},
                                         {"__close", tensor_close},
                                         {}};
    declare<HostTensorBox>(
        L, {.methods = methods, .fields = fields, .metamethods = metamethods, .index = tensor_get, .text = R"(
A tensor in host memory, row-major, made by wg.tensor, wg.zeros, wg.randn, wg.randint, wg.load and others. Kernels take it as an argument; when kernel:run returns, it holds what they wrote.

t[{ i, j }] is an element, with indices from 0, and can be assigned to; for one dimension t[i] suffices. `#t` is the number of elements, and print(t) shows them, of a large tensor the first and the last ones. + - * / % ^ and unary - work element by element, with numbers or tensors of a shape that fits; comparisons are methods.
@operator add sub mul div mod pow: tensor|number -> tensor
@operator unm: -> tensor
@operator len: -> integer
@operator index: integer|table -> number
@see wg.tensor)"});
}

}  // namespace wgrun::lua
