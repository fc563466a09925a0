// Kernels that were read from PTX, and the arguments that only they take: wg.ptx, wg.pointer, wg.tensor_map,
// wg.struct.
#include "wgrun/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/map_options.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {

/// A text that has been read.
struct PtxBox {
    ForeignModule module;
};
template <>
inline constexpr const char* class_name<PtxBox> = "wgrun.ptx_text";

namespace {

// --- wg.ptx --------------------------------------------------------------------------------------------

constexpr Option ptx_keys[] = {{"text", "string", "the PTX text"},
                               {"name", R"(string = "ptx")", "how findings name the text"}};

std::string contents(const std::string& name) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), &std::fclose);
    std::string text;
    char piece[1 << 16];
    while (file != nullptr) {
        const std::size_t read = std::fread(piece, 1, sizeof piece, file.get());
        text.append(piece, read);
        if (read < sizeof piece) break;
    }
    if (file == nullptr || std::ferror(file.get()) != 0)
        throw EnvironmentError("ENOENT", "cannot read " + name + ": " + std::strerror(errno));
    return text;
}

// m[name], m[i]: the kernel, which is kept in the table.
int ptx_index(lua_State* L) {
    const PtxBox& box = check<PtxBox>(L, lua_upvalueindex(1));
    const std::vector<std::string>& names = box.module.names();
    std::string_view name;
    std::int64_t number = 0;
    if (lua_type(L, 2) == LUA_TSTRING) {
        name = string_argument(L, 2);
    } else if (to_integer(L, 2, number) && number >= 1 && number <= static_cast<std::int64_t>(names.size())) {
        name = names[static_cast<std::size_t>(number) - 1];
        lua_pushlstring(L, name.data(), name.size());
        lua_gettable(L, 1);
        return 1;
    } else {
        return lua_pushnil(L), 1;
    }
    push_object<Kernel>(L, [&] { return box.module.kernel(name); });
    remember_kernel(L, -1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

// wg.ptx(file) or wg.ptx{ text =, name = }: the kernels of a PTX text
int ptx_new(lua_State* L) {
    auto& file = held<std::string>(L);
    auto& text = held<std::string>(L);
    if (lua_type(L, 1) == LUA_TTABLE) {
        const Options options(L, 1, "wg.ptx", ptx_keys);
        const std::string_view given = options.string("text"), name = options.string("name", "ptx");
        guarded(L, [&] { text = given, file = name; });
    } else {
        check_unrestricted(L, "a file of PTX");
        const std::string_view name = name_argument(L, 1);
        guarded(L, [&] { file = name; });
        if (const int failed = attempted(L, [&] { text = contents(file); })) return failed;
    }
    push_object<PtxBox>(L, [&] { return PtxBox{ForeignModule(std::move(file), std::move(text))}; });
    const int box = lua_gettop(L);
    const std::vector<std::string>& names = check<PtxBox>(L, box).module.names();
    lua_createtable(L, 0, static_cast<int>(names.size()) + 1);
    lua_createtable(L, static_cast<int>(names.size()), 0);
    for (std::size_t i = 0; i < names.size(); ++i) {
        lua_pushlstring(L, names[i].data(), names[i].size());
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "kernels");
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, box);
    lua_pushcclosure(L, ptx_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "wgrun.ptx");
    lua_setfield(L, -2, "__name");
    lua_setmetatable(L, -2);
    return 1;
}

// --- arguments -----------------------------------------------------------------------------------------

/// Adds the tensor at `index` to those that the box holds, and makes `view` one of it. Raises for anything
/// else.
void hold(lua_State* L, int index, const char* function, ArgumentBox& box, TensorView& view) {
    if (const std::shared_ptr<Tensor>* tensor = test_tensor(L, index)) {
        guarded(L, [&] { view.tensor = box.tensors.emplace_back(*tensor).get(); });
    } else if (const DeviceTensorBox* device = test<DeviceTensorBox>(L, index)) {
        guarded(L, [&] { view.tensor = box.device_tensors.emplace_back(device->tensor).get(); });
    } else {
        const ShortText got = describe(L, index);
        fail(L, [&] { return fmt::format("{}: expected a tensor, got {}", function, got.text); });
    }
}

Dtype dtype_of(const TensorView& view) {
    return std::visit([](const auto* tensor) { return tensor->dtype(); }, view.tensor);
}

const TensorShape& shape_of(const TensorView& view) {
    return std::visit([](const auto* tensor) -> const TensorShape& { return tensor->shape(); }, view.tensor);
}

// wg.pointer(tensor, element): the address of an element
int pointer_new(lua_State* L) {
    auto& box = held<ArgumentBox>(L);
    auto& view = held<TensorView>(L);
    hold(L, 1, "wg.pointer", box, view);
    const std::int64_t element = lua_isnoneornil(L, 2) ? 0 : integer_argument(L, 2);
    guarded(L, [&] {
        std::int64_t items = 1;
        for (const std::int64_t extent : shape_of(view)) items *= extent;
        if (element < 0 || element > items)
            throw ArgumentError(fmt::format("wg.pointer: element {} of a tensor of {}", element, items));
        view.offset = element * bits(dtype_of(view)) / 8;
        box.argument = view;
    });
    push_object<ArgumentBox>(L, [&] { return box; });
    return 1;
}

constexpr Option map_keys[] = {
    {"box", "table", "the extents of the box in elements, the fastest dimension first"},
    {"swizzle", R"(string = "none")",
     R"(the swizzle of the box in shared memory: "none", "32B", "64B" or "128B")"},
    {"dtype", "string?", "the element type; by default the tensor's"},
    {"nan_fill", "boolean = false", "elements outside of the tensor are filled with NaN instead of 0"},
    steps_option,
    lower_option,
    upper_option,
    {"extents", "table?", "the elements of each dimension, the fastest first; by default the tensor's shape"},
    {"strides", "table?",
     "the bytes from one element to the next, of each dimension but the fastest; by default without gaps"},
    {"offset", "integer = 0", "bytes from the tensor's first element to that of the map"}};

// wg.tensor_map(tensor, { box =, swizzle =, ... }): a tensor map
int tensor_map_new(lua_State* L) {
    auto& box = held<ArgumentBox>(L);
    auto& view = held<TensorView>(L);
    hold(L, 1, "wg.tensor_map", box, view);
    const Options options(L, 2, "wg.tensor_map", map_keys);
    guarded(L, [&] { view.box.emplace().dtype = dtype_of(view); });
    const std::string_view swizzle = options.string("swizzle", "none", swizzle_names),
                           dtype = options.string("dtype", "");
    guarded(L, [&] {
        view.box->swizzle = parse_swizzle_mode(swizzle);
        if (!dtype.empty()) view.box->dtype = dtype_named(dtype);
    });
    view.box->nan_fill = options.boolean("nan_fill", false);
    view.offset = options.integer("offset", 0, 0);
    options.push("box");
    read_integers(L, -1, "box", view.box->extents, 5);
    read_box_details(L, options, *view.box);
    if (options.push("extents") != LUA_TNIL) read_integers(L, -1, "extents", view.extents, 5);
    if (options.push("strides") != LUA_TNIL) read_integers(L, -1, "strides", view.strides, 4);
    guarded(L, [&] {
        complete_map(view);
        check_box(*view.box);
        box.argument = view;
    });
    push_object<ArgumentBox>(L, [&] { return box; });
    return 1;
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    return {first, first + sizeof value};
}

/// The bytes of a number of a structure, as `type`, "u64"; without one an int or a float.
std::vector<std::byte> bytes_of_number(std::string_view type, bool integral, std::int64_t integer,
                                       double number) {
    if (type.empty()) type = integral ? "s32" : "f32";
    const isa::Type known = isa::parse_type(type).value_or(isa::Type::none);
    const int width = known == isa::Type::none ? 0 : isa::bits(known);
    if (width < 8 || width > 64 || (!integral && !isa::is_float(known)))
        throw ArgumentError(fmt::format("wg.struct: {} is no type of {}", type, number));
    if (known == isa::Type::f64) return bytes_of(number);
    if (known == isa::Type::f32) return bytes_of(static_cast<float>(number));
    if (isa::is_float(known))
        throw ArgumentError(fmt::format("wg.struct: {}: f32 and f64 are possible, or its bits as u16", type));
    const bool fits =
        width == 64 || (integer >= -(std::int64_t{1} << (width - 1)) && integer < std::int64_t{1} << width);
    if (!fits)
        throw ArgumentError(fmt::format("wg.struct: {} does not fit {}", integer, type),
                            R"({ "u64", value })");
    std::vector<std::byte> out = bytes_of(integer);
    out.resize(static_cast<std::size_t>(width / 8));
    return out;
}

/// Reads the value on top of the stack, a part of a structure.
void read_part(lua_State* L, ArgumentBox& box, Structure::Part& part) {
    if (const ArgumentBox* made = test<ArgumentBox>(L, -1)) {
        guarded(L, [&] {
            const auto* view = std::get_if<TensorView>(&made->argument);
            if (view == nullptr) throw ArgumentError("wg.struct: a structure in a structure: give its parts");
            part.value = *view;
            box.tensors.insert(box.tensors.end(), made->tensors.begin(), made->tensors.end());
            box.device_tensors.insert(box.device_tensors.end(), made->device_tensors.begin(),
                                      made->device_tensors.end());
        });
        return;
    }
    std::string_view type;
    const bool typed = lua_type(L, -1) == LUA_TTABLE;
    if (typed) {
        lua_rawgeti(L, -1, 1);
        type = string_argument(L, -1);
        lua_rawgeti(L, -2, 2);
    }
    if (lua_type(L, -1) == LUA_TNUMBER) {
        const bool integral = lua_isinteger(L, -1) != 0;
        const std::int64_t integer = integral ? lua_tointeger(L, -1) : 0;
        const double number = lua_tonumber(L, -1);
        guarded(L, [&] { part.value = bytes_of_number(type, integral, integer, number); });
    } else {
        const int value = lua_gettop(L);
        auto& view = held<TensorView>(L);
        hold(L, value, "wg.struct", box, view);
        lua_settop(L, value);
        guarded(L, [&] { part.value = view; });
    }
    if (typed) lua_pop(L, 2);
}

// wg.struct{ size =, [offset] = value, ... }: a structure that is passed by value
int struct_new(lua_State* L) {
    if (lua_type(L, 1) != LUA_TTABLE) fail_argument(L, 1, "a table: { size = 24, [0] = A, [8] = 4096 }");
    auto& box = held<ArgumentBox>(L);
    auto& structure = held<Structure>(L);
    if (lua_getfield(L, 1, "size") != LUA_TNUMBER)
        fail(L, [] { return std::string("wg.struct: `size` is missing: the bytes of the structure"); });
    structure.bytes = integer_argument(L, -1);
    lua_pop(L, 1);
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        std::int64_t offset = 0;
        if (lua_type(L, -2) == LUA_TSTRING && string_argument(L, -2) == "size") {
            lua_pop(L, 1);
            continue;
        }
        if (!to_integer(L, -2, offset) || offset < 0) {
            const ShortText got = describe(L, -2);
            fail(L, [&] { return fmt::format("wg.struct: keys are offsets in bytes, got {}", got.text); });
        }
        Structure::Part* part = guarded(L, [&] { return &structure.parts.emplace_back(); });
        part->offset = offset;
        read_part(L, box, *part);
        lua_pop(L, 1);
    }
    guarded(L, [&] {
        // In the order of the offsets, since tables have none.
        std::ranges::sort(structure.parts, {}, &Structure::Part::offset);
        box.argument = structure;
    });
    push_object<ArgumentBox>(L, [&] { return box; });
    return 1;
}

}  // namespace

void open_foreign(lua_State* L) {
    declare<PtxBox>(L, {.text = R"(
A PTX text that was read: what the table of wg.ptx keeps.
@see wg.ptx)"});
    declare<ArgumentBox>(L, {.text = R"(
An argument of a launch that is neither a tensor nor a number, made by wg.pointer, wg.tensor_map or wg.struct.
@see wg.ptx)"});
    static const Member functions[] = {{"ptx", ptx_new, R"--(
Reads a PTX text that a compiler or a person has made. Each entry is a kernel as those of wg.kernel: it can be checked, run, timed, debugged. On a GPU the text itself runs; the simulator runs the instructions that wgrun knows, and ends with an error where a thread reaches another one. What the text leaves open (`block`, `cluster`, `shared`) is given at each launch.
@param options string|table  the name of a file, or a table of options
@return table  or nil, message, code when the file cannot be read. The kernels by their names, and by number
@field kernels table  the names of the kernels, a list
@raise with every error, when the text is no PTX.
@example
  local m = wg.ptx "add.ptx"
  m.add:run { grid = { 8 }, block = 128, args = { A, B, D, 1024 } }
@see wg.tensor_map)--",
                                        ptx_keys},
                                       {"pointer", pointer_new, R"(
The address of an element of a tensor, as an argument of a kernel of wg.ptx. The tensor itself stands for its first element.
@param tensor tensor|device_tensor
@param element integer = 0  its number, in the order of memory
@return argument)"},
                                       {"tensor_map", tensor_map_new, R"(
A tensor map of a tensor, as an argument of a kernel of wg.ptx, or in a structure.
@param tensor tensor|device_tensor
@param options table
@return argument
@see wg.struct
@example
  local map = wg.tensor_map(A, { box = { 64, 128 }, swizzle = "128B" }))",
                                        map_keys},
                                       {"struct", struct_new, R"--(
A structure that is passed by value, as an argument of a kernel of wg.ptx. Bytes that are not given are 0.
@param parts table  `size`, the bytes of the structure; and by their offset in bytes: tensors and wg.pointer (addresses), wg.tensor_map, integers (of 32 bits), numbers with a point (f32), or { "u64", value } for another type
@return argument
@example
  local parameters = wg.struct { size = 152, [0] = wg.tensor_map(A, { box = { 64, 64 } }), [128] = D, [136] = 4096, [144] = { "u64", 1 } })--"},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
