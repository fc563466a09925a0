// k:param, k:parameter and k:tensor_map: what a launch gives to the kernel.
#include <algorithm>
#include <array>

#include "bindings/lua/args.hpp"
#include "bindings/lua/map_options.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/trace.hpp"
#include "wgrun/call.hpp"

namespace wgrun::lua {
namespace {

/// A parameter's name and type. Lives in a userdata.
struct ParamRequest : ParamType {
    std::string name;
};

void read_param_type(std::string_view text, ParamRequest& request) {
    static_cast<ParamType&>(request) = param_type(text);
}

constexpr Option param_keys[] = {
    {"least", "integer?",
     "of an integer: launches that pass less are refused, and verdicts are of the others; 1 and more"}};

// k:param(name, type, { least = }): the parameter's value in a register
int builder_param(lua_State* L) {
    const auto& trace = trace_argument(L);
    const std::string_view name = string_argument(L, 2);
    const std::string_view type = string_argument(L, 3);
    const Options options(L, 4, "k:param", param_keys, Options::Missing::empty);
    const bool has_least = options.has("least");
    const std::int64_t least = options.integer("least", 0);
    Builder& builder = builder_of(L, trace);
    auto& request = held<ParamRequest>(L);
    const Reg reg = guarded(L, [&] {
        request.name = name;
        const std::string_view letters = name.substr(0, name.find_last_not_of('*') + 1);
        if (name.find('*') != std::string_view::npos && parse_dtype(letters.substr(letters.rfind(' ') + 1)))
            throw ArgumentError(
                "parameter `" + std::string(name) + "`, `" + std::string(type) + "`: the name comes first",
                "k:param(\"" + std::string(type) + "\", \"" + std::string(name) + "\")");
        read_param_type(type, request);
        const int index = builder.param(request.name, request.type, request.pointee, request.constant);
        if (has_least) builder.at_least(index, least);
        isa::Form form;
        form.set(isa::Field::type, request.type);
        Reg value =
            builder.add(*isa::find("ld.param"), form, {Operand{}, Operand::param(index)}).operands[0].reg;
        if (!request.pointee) return value;
        value =
            builder.add(*isa::find("cvta.to.global"), {}, {Operand{}, Operand::of(value)}).operands[0].reg;
        trace->pointees[value.id] = *request.pointee;
        return value;
    });
    push_reg(L, trace, reg);
    return 1;
}

/// The option `box` of k:tensor_map: a list of extents.
void read_box(lua_State* L, const Options& options, TensorBox& box) {
    const std::string_view dtype = options.string("dtype", "bf16");
    const std::string_view swizzle = options.string("swizzle", "none", swizzle_names);
    if (options.push("box") == LUA_TNIL)
        fail(L, [] { return "k:tensor_map: option `box` or `tile` is missing"; });
    read_integers(L, -1, "box", box.extents);
    lua_pop(L, 1);
    read_box_details(L, options, box);
    const bool nan_fill = options.boolean("nan_fill", false);
    guarded(L, [&] {
        box.dtype = dtype_named(dtype);
        box.swizzle = parse_swizzle_mode(swizzle);
        box.nan_fill = nan_fill;
    });
}

/// One box of a tile, as TMA copies it: one panel of the swizzle's width.
TensorBox box_of(const Tile& tile) {
    TensorBox box;
    box.dtype = tile.dtype();
    box.swizzle = tile.swizzle();
    const TmaBox tma = tile.tma_box();
    box.extents = {tma.inner, tma.outer};
    return box;
}

constexpr Option tensor_map_keys[] = {
    {"dtype", R"(string = "bf16")", R"(the element type)"},
    {"box", "table?", "the extents of the box, the fastest dimension first"},
    {"swizzle", R"(string = "none")",
     R"(the swizzle of the box in shared memory: "none", "32B", "64B" or "128B")"},
    {"nan_fill", "boolean = false", "elements outside of the tensor are filled with NaN instead of 0"},
    steps_option,
    lower_option,
    upper_option,
    {"constant", "boolean = false",
     "the tensor is not written by any launch that may still run when this one starts"},
    {"tile", "tile?",
     "a tile, in place of `dtype`, `box` and `swizzle`: the map then copies panels of the tile"}};

// k:tensor_map(name, tile) or k:tensor_map(name, { dtype =, box = { inner, ... }, swizzle =, nan_fill = }):
// the address of the map, for cp.async.bulk.tensor. The argument of a launch is a tensor.
int builder_tensor_map(lua_State* L) {
    const auto& trace = trace_argument(L);
    const std::string_view name = string_argument(L, 2);
    auto& box = held<TensorBox>(L);
    bool constant = false;
    const Tile* tile = test<Tile>(L, 3);
    if (tile == nullptr) {
        const Options options(L, 3, "k:tensor_map", tensor_map_keys);
        constant = options.boolean("constant", false);
        if (options.has("tile")) {
            options.push("tile");
            tile = test<Tile>(L, -1);
            if (tile == nullptr) options.fail_value("tile", "a tile made by wg.tile");
        } else {
            read_box(L, options, box);
        }
    }
    Builder& builder = builder_of(L, trace);
    const Reg reg = guarded(L, [&] {
        if (tile != nullptr) box = box_of(*tile);
        const int index = builder.tensor_map(std::string(name), box, constant);
        return builder.add(*isa::find("cvta.param"), {}, {Operand{}, Operand::param(index)}).operands[0].reg;
    });
    push_reg(L, trace, reg);
    return 1;
}

constexpr Option parameter_keys[] = {
    {"bytes", "integer?", "the size in bytes of a structure that is passed by value"},
    {"align", "integer?",
     "its alignment in bytes: a power of two up to 128, of a structure 8 where nothing is given; of a tensor "
     "map 64 or 128"},
    {"map", "boolean = false", "a tensor map whose box the launch gives, by wg.tensor_map"},
    {"dtype", R"(string = "bf16")", "of a tensor map: the element type"},
    {"box", "table?", "of a tensor map: the extents of the box, the fastest dimension first"},
    {"swizzle", R"(string = "none")", R"(of a tensor map: "none", "32B", "64B" or "128B")"},
    {"nan_fill", "boolean = false", "of a tensor map: elements outside of the tensor are NaN instead of 0"},
    steps_option,
    lower_option,
    upper_option};

// k:parameter(name, type) or k:parameter(name, { bytes = }) or k:parameter(name, { box = })
int builder_parameter(lua_State* L) {
    const auto& trace = trace_argument(L);
    const std::string_view name = string_argument(L, 2);
    auto& request = held<ParamRequest>(L);
    auto& box = held<TensorBox>(L);
    std::int64_t bytes = 0, align = 0;
    bool map = false, open = false;
    std::string_view type;
    if (lua_type(L, 3) == LUA_TTABLE) {
        const Options options(L, 3, "k:parameter", parameter_keys);
        open = options.boolean("map", false);
        map = options.has("box");
        align = options.integer("align", map || open ? 64 : 8);
        if (map) read_box(L, options, box);
        if (!map && !open) bytes = options.integer("bytes");
    } else {
        type = string_argument(L, 3);
    }
    Builder& builder = builder_of(L, trace);
    const int index = guarded(L, [&] {
        request.name = name;
        if (map) return builder.tensor_map(request.name, box, false, align);
        if (open) return builder.tensor_map(request.name, align);
        if (type.empty()) return builder.structure(request.name, bytes, align);
        if (type == "*") return builder.any_param(request.name);
        read_param_type(type, request);
        return builder.param(request.name, request.type, request.pointee, request.constant);
    });
    push_object<ParameterBox>(L, [&] { return ParameterBox{trace, index}; });
    return 1;
}

}  // namespace

void open_parameters(lua_State* L) {
    static const Member methods[] = {{"param", builder_param, R"(
Declares a parameter of the kernel. The arguments of a launch have the order of these calls.
@param name string
@param type string  a pointer such as "const bf16*" or "f32*", or "u32", "s32", "f32", "u64", "s64", "f64", "u16", "s16", "u8", "s8"
@param options table?
@return reg  its value, of 8 bits in a register of 16; for a pointer, the u64 address in global memory
@example
  local X, count = k:param("X", "const f32*"), k:param("count", "u32", { least = 4 }))",
                                      param_keys},

                                     {"tensor_map", builder_tensor_map, R"(
Declares a parameter that is a tensor map, for cp.async.bulk.tensor. The argument of a launch is a tensor, from which the map is made.
@param name string
@param options tile|table  the tile that is copied, or a table of options
@return reg  u64: the address of the map
@example
  local map = k:tensor_map("A", tile))",
                                      tensor_map_keys},

                                     {"parameter", builder_parameter, R"(
Declares a parameter of the kernel that instructions name: k:param is this and k:ld_param. Scripts that wgrun lua has translated use it.
@param name string
@param options string|table  a type as of k:param; "*" for 64 bits of any kind, an integer or the address of elements of any type; or a table of options, for a structure or a tensor map with a box
@return parameter
@example
  local facts = k:parameter("facts", { bytes = 24, align = 8 })
  local count = k:ld_param_at_u32(facts, { offset = 16 })
@see k:param)",
                                      parameter_keys},

                                     {}};
    add_methods<BuilderBox>(L, methods);
    declare<ParameterBox>(L, {.text = R"(
A parameter of a kernel as an operand, made by k:parameter.
@see k:parameter)"});
}

}  // namespace wgrun::lua
