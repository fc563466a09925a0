// k, the builder that the function of wg.kernel gets. Instructions are found by name; control flow,
// registers, parameters and shared memory have methods of their own. The tile tier adds more (stdlib/).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bindings/lua/args.hpp"
#include "bindings/lua/conditions.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/trace.hpp"
#include "wgrun/nearest.hpp"

namespace wgrun::lua {

Builder& builder_of(lua_State* L, const std::shared_ptr<Trace>& trace) {
    if (!trace->builder)
        fail(L, [&] {
            return "kernel " + trace->name +
                   " is finished: its registers and buffers are valid only inside its function";
        });
    spend(L, 1);
    watch_conditions(L);
    trace->builder->at(caller(L));
    if (trace->names) note_register_names(L, *trace);
    return *trace->builder;
}

void require_same_trace(lua_State* L, const std::shared_ptr<Trace>& trace,
                        const std::shared_ptr<Trace>& used) {
    if (trace != used)
        fail(L, [&] {
            return "a register or buffer of kernel " + used->name + " is used in kernel " + trace->name;
        });
}

const std::shared_ptr<Trace>& trace_argument(lua_State* L) { return check<BuilderBox>(L, 1).trace; }

namespace {

isa::Type type_argument(lua_State* L, int arg) {
    const std::string_view name = string_argument(L, arg);
    const auto type = isa::parse_type(name);
    if (!type)
        fail(L, [&] {
            return "unknown register type `" + std::string(name) +
                   "` (pred, b16, b32, u32, s32, f32, b64, u64, s64, f64, ...)";
        });
    return *type;
}

// k:reg(type)
int builder_reg(lua_State* L) {
    const auto& trace = trace_argument(L);
    const isa::Type type = type_argument(L, 2);
    Builder& builder = builder_of(L, trace);
    push_reg(L, trace, guarded(L, [&] { return builder.reg(type); }));
    return 1;
}

// k:regs(type, count)
int builder_regs(lua_State* L) {
    const auto& trace = trace_argument(L);
    const isa::Type type = type_argument(L, 2);
    const std::int64_t count = integer_argument(L, 3);
    Builder& builder = builder_of(L, trace);
    spend(L, static_cast<std::uint64_t>(std::clamp<std::int64_t>(count, 0, INT32_MAX)));
    auto& regs = held<std::vector<Reg>>(L);
    guarded(L, [&] { regs = builder.regs(type, count); });
    push_regs(L, trace, regs);
    return 1;
}

struct ParamRequest {
    std::string name;
    isa::Type type = isa::Type::u64;
    std::optional<Dtype> pointee;
    bool constant = false;
};

/// "const bf16*", "f32*", "u32"
void parse_param_type(std::string_view text, ParamRequest& request) {
    std::string_view rest = text;
    if (rest.starts_with("const ")) request.constant = true, rest.remove_prefix(6);
    if (rest.ends_with('*')) {
        rest.remove_suffix(1);
        request.pointee = dtype_named(rest);
        return;
    }
    const auto type = isa::parse_type(rest);
    using enum isa::Type;
    constexpr std::array legal{u8, s8, u16, s16, u32, s32, f32, u64, s64, f64};
    if (request.constant || !type || std::find(legal.begin(), legal.end(), *type) == legal.end())
        throw ArgumentError("parameter type `" + std::string(text) +
                            "`: expected a pointer such as `const bf16*` or `f32*`, or u32, s32, f32, u64, "
                            "s64, f64, u16, s16, u8, "
                            "s8");
    request.type = *type;
}

// k:param(name, type): the parameter's value in a register
int builder_param(lua_State* L) {
    const auto& trace = trace_argument(L);
    const std::string_view name = string_argument(L, 2);
    const std::string_view type = string_argument(L, 3);
    Builder& builder = builder_of(L, trace);
    auto& request = held<ParamRequest>(L);
    const Reg reg = guarded(L, [&] {
        request.name = name;
        const std::string_view letters = name.substr(0, name.find_last_not_of('*') + 1);
        if (name.find('*') != std::string_view::npos && parse_dtype(letters.substr(letters.rfind(' ') + 1)))
            throw ArgumentError(
                "parameter `" + std::string(name) + "`, `" + std::string(type) + "`: the name comes first",
                "k:param(\"" + std::string(type) + "\", \"" + std::string(name) + "\")");
        parse_param_type(type, request);
        const int index = builder.param(request.name, request.type, request.pointee, request.constant);
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
void read_box(lua_State* L, const Options& options, wgrun::TensorBox& box) {
    const std::string_view dtype = options.string("dtype", "bf16");
    const std::string_view swizzle = options.string("swizzle", "none");
    options.push("box");
    read_integers(L, -1, "box", box.extents, 5);
    lua_pop(L, 1);
    const bool nan_fill = options.boolean("nan_fill", false);
    guarded(L, [&] {
        box.dtype = dtype_named(dtype);
        box.swizzle = parse_swizzle_mode(swizzle);
        box.nan_fill = nan_fill;
    });
}

/// One box of a tile, as TMA copies it: one panel of the swizzle's width.
wgrun::TensorBox box_of(const Tile& tile) {
    wgrun::TensorBox box;
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
    {"constant", "boolean = false",
     "the tensor is not written by any launch that may still run when this one starts"},
    {"tile", "tile?",
     "a tile, in place of `dtype`, `box` and `swizzle`: the map then copies panels of the tile"}};

// k:tensor_map(name, tile) or k:tensor_map(name, { dtype =, box = { inner, ... }, swizzle =, nan_fill = }):
// the address of the map, for cp.async.bulk.tensor. The argument of a launch is a tensor.
int builder_tensor_map(lua_State* L) {
    const auto& trace = trace_argument(L);
    const std::string_view name = string_argument(L, 2);
    auto& box = held<wgrun::TensorBox>(L);
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

constexpr Option shared_keys[] = {
    {"bytes", "integer?", "the size in bytes, where no tile is given"},
    {"align", "integer = 16", "the alignment in bytes; with a tile, by default what the tile needs"},
    {"name", R"(string = "shared")", R"(the name in messages)"},
    {"tile", "tile?", "the tile that the buffer holds"},
    {"count", "integer = 1", "the number of them, one after the other: 1 to 1024"}};

// k:shared(tile [, name]) or k:shared{ bytes =, align =, name = }
int builder_shared(lua_State* L) {
    const auto& trace = trace_argument(L);
    std::int64_t bytes = 0, align = 16, count = 1;
    std::string_view name = "shared";
    const Tile* tile = test<Tile>(L, 2);
    if (tile == nullptr) {
        if (lua_type(L, 2) == LUA_TNUMBER) fail_argument(L, 2, "a tile, or { bytes = }");
        const Options options(L, 2, "k:shared", shared_keys);
        if (options.has("tile")) {
            options.push("tile");
            tile = test<Tile>(L, -1);
            if (tile == nullptr) options.fail_value("tile", "a tile made by wg.tile");
        } else {
            bytes = options.integer("bytes");
        }
        count = options.integer("count", 1, 1, 1024);
        align = options.integer("align", tile != nullptr ? tile->align() : 16);
        name = options.string("name", name);
    } else {
        align = tile->align();
        if (!lua_isnoneornil(L, 3)) name = string_argument(L, 3);
    }
    Builder& builder = builder_of(L, trace);
    const int index = guarded(L, [&] {
        std::optional<Tile> layout;
        if (tile != nullptr) layout = *tile, bytes = tile->bytes();
        const std::int64_t total = bytes > INT64_MAX / count ? INT64_MAX : bytes * count;
        return builder.shared(std::string(name), total, align, layout);
    });
    push_object<SharedBox>(L, [&] { return SharedBox{trace, index}; });
    return 1;
}

constexpr Option local_keys[] = {
    {"bytes", "integer", "the size in bytes"},
    {"align", "integer = 16", "the alignment in bytes: a power of two up to 128"}};

// k:local_{ bytes =, align = }
int builder_local(lua_State* L) {
    const auto& trace = trace_argument(L);
    const Options options(L, 2, "k:local_", local_keys);
    const std::int64_t bytes = options.integer("bytes"), align = options.integer("align", 16);
    Builder& builder = builder_of(L, trace);
    const Reg address = guarded(L, [&] {
        const std::int64_t offset = builder.local(bytes, align);
        return builder.add(*isa::find("local.address"), {}, {{}, Operand::immediate(offset)}).operands[0].reg;
    });
    push_reg(L, trace, address);
    return 1;
}

const RegBox& condition_argument(lua_State* L, int arg) {
    const RegBox* box = test<RegBox>(L, arg);
    if (box == nullptr) fail_argument(L, arg, "a predicate register");
    require_same_trace(L, trace_argument(L), box->trace);
    Builder& builder = builder_of(L, box->trace);
    const isa::Type type = guarded(L, [&] { return builder.type_of(box->reg); });
    if (type != isa::Type::pred)
        fail(L, [&] {
            return ArgumentError("a condition of the kernel is a predicate, not a register of type " +
                                     std::string(isa::to_string(type)),
                                 "r:ne(0), r:lt(n) and the like give predicates");
        });
    return *test<RegBox>(L, arg);
}

/// The meaning of a text (k:asm) is not emitted, and so cannot branch.
void refuse_blocks_of_meanings(lua_State* L) {
    if (!trace_argument(L)->simulated_only) return;
    fail(L, [] {
        return ArgumentError("`meaning` of k:asm must be straight-line code, without loops and branches",
                             "k:selp(a, b, p); Lua's own loops unroll");
    });
}

int builder_begin_loop(lua_State* L) {
    refuse_blocks_of_meanings(L);
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.begin_loop(); });
    return 0;
}

int builder_loop_condition(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    const RegBox& condition = condition_argument(L, 2);
    if (condition.negated)
        fail(L, [] { return "the condition of a loop cannot be a negated predicate: compute it with setp"; });
    guarded(L, [&] { builder.loop_condition(condition.reg); });
    return 0;
}

int builder_end_loop(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.end_loop(); });
    return 0;
}

int builder_loop_next(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.loop_next(); });
    return 0;
}

template <Leave what>
int builder_leave(lua_State* L) {
    refuse_blocks_of_meanings(L);
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.leave(what); });
    return 0;
}

int builder_begin_if(lua_State* L) {
    refuse_blocks_of_meanings(L);
    Builder& builder = builder_of(L, trace_argument(L));
    const RegBox& condition = condition_argument(L, 2);
    guarded(L, [&] { builder.begin_if(condition.reg, condition.negated); });
    return 0;
}

int builder_begin_else(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.begin_else(); });
    return 0;
}

int builder_end_if(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.end_if(); });
    return 0;
}

// k:special "tid.x"
int builder_special(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<"special">(L);
    std::string_view name = string_argument(L, 2);
    if (name.starts_with('%')) name.remove_prefix(1);
    const auto sreg = isa::parse_value(isa::Field::sreg, name);
    if (!sreg)
        fail(L, [&] {
            constexpr std::array of_cuda{std::pair{"threadIdx", "tid"}, std::pair{"blockIdx", "ctaid"},
                                         std::pair{"blockDim", "ntid"}, std::pair{"gridDim", "nctaid"}};
            constexpr std::array<std::string_view, 8> usual{"tid.x",  "ctaid.x", "nctaid.x",    "ntid.x",
                                                            "laneid", "warpid",  "clusterid.x", "smid"};
            std::string hint = nearest(name, usual);
            for (const auto& [word, here] : of_cuda)
                if (name.starts_with(word))
                    hint = std::string(": here it is `").append(here).append(".x`, .y, .z");
            return "unknown special register `" + std::string(name) + "`" + hint +
                   " (tid.x, ctaid.x, nctaid.x, ntid.x, laneid, ...)";
        });
    isa::Spelling full = spelling;
    full.form.set(isa::Field::sreg, *sreg);
    const auto has_it = [&](const isa::Row& row) {
        const isa::Choice* choice = row.find(isa::Field::sreg);
        return choice != nullptr && choice->allows(*sreg);
    };
    if (std::ranges::none_of(full.op->rows, has_it)) full.op = isa::find("special.clock");
    lua_settop(L, 1);
    return emit_from_lua(L, trace_argument(L), full, 2);
}

int builder_threads(lua_State* L) {
    lua_pushinteger(L, trace_argument(L)->threads);
    return 1;
}

int builder_name(lua_State* L) {
    lua_pushstring(L, trace_argument(L)->name.c_str());
    return 1;
}

int builder_tostring(lua_State* L) {
    lua_pushfstring(L, "builder of kernel %s", trace_argument(L)->name.c_str());
    return 1;
}

// A method that is an instruction: upvalue 1 is its spelling.
int builder_instruction(lua_State* L) {
    const auto* spelling = static_cast<const isa::Spelling*>(lua_touserdata(L, lua_upvalueindex(1)));
    return emit_from_lua(L, trace_argument(L), *spelling, 2);
}

/// A name from other languages, and its counterpart here.
struct Translation {
    std::string_view word, here;
};
constexpr std::array translations{
    Translation{"for_", "k:loop(count, function(i) ... end), or Lua's own `for`, which unrolls"},
    Translation{"while", "k:while_(condition, body)"},
    Translation{"else_", "k:if_(predicate, when_true, otherwise)"},
    Translation{"elseif_", "k:if_(predicate, when_true, otherwise)"},
    Translation{"syncthreads", "k:bar_sync(0)"},
    Translation{"__syncthreads", "k:bar_sync(0)"},
    Translation{"syncwarp", "k:bar_warp_sync()"},
    Translation{"__syncwarp", "k:bar_warp_sync()"},
    Translation{"threadIdx", "k:special \"tid.x\""},
    Translation{"tid", "k:special \"tid.x\""},
    Translation{"blockIdx", "k:special \"ctaid.x\""},
    Translation{"ctaid", "k:special \"ctaid.x\""},
    Translation{"blockDim", "k:special \"ntid.x\""},
    Translation{"gridDim", "k:special \"nctaid.x\""},
    Translation{"laneid", "k:special \"laneid\""},
    Translation{"load", "k:ld_global_f32(address) and the like"},
    Translation{"store", "k:st_global_f32(address, value) and the like"},
    Translation{"shared_memory", "k:shared(tile)"},
    Translation{"smem", "k:shared(tile)"},
    Translation{"register", "k:reg(type)"},
    Translation{"arg", "k:param(name, type)"},
    Translation{"select", "k:selp(if_true, if_false, predicate)"},
    Translation{"where", "k:selp(if_true, if_false, predicate)"},
    Translation{"exp", "k:ex2_approx_f32(x * 1.4426950408889634)"},
    Translation{"log", "k:lg2_approx_f32(x) * 0.6931471805599453"},
    Translation{"wgmma", "k:mma(acc, { a =, b = }), or the one instruction, k:wgmma_mma_async(...)"},
};

/// The method with the qualifiers of `word` in another order: PTX's. Empty where there is none.
std::string reordered(std::string_view word) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= word.size();) {
        const std::size_t end = std::min(word.find('_', at), word.size());
        parts.emplace_back(word.substr(at, end - at));
        at = end + 1;
    }
    constexpr std::size_t most = 7;  // 720 orders
    if (parts.size() < 3 || parts.size() > most) return {};
    std::sort(parts.begin() + 1, parts.end());
    do {
        const std::string name = fmt::format("{}", fmt::join(parts, "_"));
        if (isa::parse_method(name).op != nullptr) return name;
    } while (std::next_permutation(parts.begin() + 1, parts.end()));
    return {};
}

std::string suggest_method(std::string_view word) {
    for (const Translation& translation : translations)
        if (translation.word == word) return std::string(": here it is ").append(translation.here);
    std::string method = isa::nearest_method(word);
    if (method.empty()) method = reordered(word);
    return method.empty() ? "" : std::string(": did you mean `").append(method).append("`?");
}

// __index of the method table: makes the method of an instruction on first use.
int find_instruction(lua_State* L) {
    if (lua_type(L, 2) != LUA_TSTRING) return 0;
    const std::string_view name = string_argument(L, 2);
    const isa::Spelling spelling = guarded(L, [&] { return isa::parse_method(name); });
    if (spelling.op == nullptr) {
        // Computed fields; and for names that are far off, the class itself looks for the nearest one.
        if (name == "threads" || name == "name") return 0;
        auto& hint = held<std::string>(L);
        guarded(L, [&] { hint = suggest_method(name); });
        if (hint.empty()) return 0;
        fail(L, [&] {
            return std::string(class_name<BuilderBox>) + " has no `" + std::string(name) + "`" + hint;
        });
    }
    void* memory = lua_newuserdatauv(L, sizeof(isa::Spelling), 0);
    new (memory) isa::Spelling(spelling);  // trivially destructible: Lua may just free it
    static_assert(std::is_trivially_destructible_v<isa::Spelling>);
    lua_pushcclosure(L, builder_instruction, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

/// Valid until the next call of Lua: a finalizer may add buffers.
const SharedBuffer& buffer_of(lua_State* L) {
    const SharedBox& box = check<SharedBox>(L, 1);
    return builder_of(L, box.trace).shared_buffer(box.index);
}

int shared_bytes(lua_State* L) {
    lua_pushinteger(L, buffer_of(L).bytes);
    return 1;
}

int shared_name(lua_State* L) {
    lua_pushstring(L, buffer_of(L).name.c_str());
    return 1;
}

int shared_tile(lua_State* L) {
    if (!buffer_of(L).tile) return lua_pushnil(L), 1;
    const SharedBox& box = check<SharedBox>(L, 1);
    push_object<Tile>(L, [&] { return *box.trace->builder->shared_buffer(box.index).tile; });
    return 1;
}

int shared_tostring(lua_State* L) {
    const SharedBox& box = check<SharedBox>(L, 1);
    lua_pushfstring(L, "shared buffer %d of kernel %s", box.index, box.trace->name.c_str());
    return 1;
}

}  // namespace

const isa::Instruction* instruction_of(lua_State* L, int index) {
    if (lua_tocfunction(L, index) != builder_instruction || lua_getupvalue(L, index, 1) == nullptr)
        return nullptr;
    const isa::Instruction* op = static_cast<const isa::Spelling*>(lua_touserdata(L, -1))->op;
    lua_pop(L, 1);
    return op;
}

void open_trace(lua_State* L) {
    static const Member methods[] = {{"reg", builder_reg, R"(
Makes a register.
@param type string  "pred", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", ...
@return reg)"},

                                     {"regs", builder_regs, R"(
Makes an array of registers, such as accumulators.
@param type string  as of k:reg
@param count integer  the number of registers
@return regs  indexed from 0)"},

                                     {"param", builder_param, R"(
Declares a parameter of the kernel. The arguments of a launch have the order of these calls.
@param name string
@param type string  a pointer such as "const bf16*" or "f32*", or "u32", "s32", "f32", "u64", "s64", "f64", "u16", "s16", "u8", "s8"
@return reg  its value, of 8 bits in a register of 16; for a pointer, the u64 address in global memory
@example
  local X, count = k:param("X", "const f32*"), k:param("count", "u32"))"},

                                     {"shared", builder_shared, R"(
Allocates a buffer in shared memory.
@param options tile|table  a tile, or a table of options
@param name string?  with a tile: the buffer's name in messages
@return shared
@example
  local a = k:shared(tile, "a")
  local stages = k:shared { tile = tile, count = 4, name = "stages" }
  local barrier = k:shared { bytes = 8, align = 8, name = "full" })",
                                      shared_keys},

                                     {"local_", builder_local, R"(
Reserves local memory: each thread has its own, which outlives registers and is as far away as global memory. Every byte is undefined at first.
@param options table
@return reg  u64: the address in the local space, for k:ld_local_... and k:st_local_...
@example
  local stack = k:local_ { bytes = 64, align = 16 }
  k:st_local_u32(stack + 4, 1)
  local x = k:ld_local_u32(stack + 4))",
                                      local_keys},

                                     {"tensor_map", builder_tensor_map, R"(
Declares a parameter that is a tensor map, for cp.async.bulk.tensor. The argument of a launch is a tensor, from which the map is made.
@param name string
@param options tile|table  the tile that is copied, or a table of options
@return reg  u64: the address of the map
@example
  local map = k:tensor_map("A", tile))",
                                      tensor_map_keys},

                                     {"special", builder_special, R"(
The value of a special register.
@param name string  "tid.x", "ctaid.x", "nctaid.x", "ntid.x", "laneid", "cluster_ctarank", "clock64", ...
@return reg  u32; of clock64, globaltimer and gridid u64, of is_explicit_cluster a predicate
@example
  local tid = k:special "tid.x")"},

                                     {"begin_loop", builder_begin_loop, R"(
Begins a loop: the instructions of its condition come first, then k:loop_condition. k:loop and k:while_ are made of it.
@see k:while_)"},

                                     {"loop_condition", builder_loop_condition, R"(
Ends the condition of a loop: threads where the predicate does not hold leave the loop.
@param condition reg  a predicate, not negated
@see k:while_)"},

                                     {"loop_next", builder_loop_next, R"(
Ends the body of a loop: what follows is executed at the end of every iteration, also where k:continue_ ends it.
@see k:while_)"},

                                     {"end_loop", builder_end_loop, R"(
Ends a loop.
@see k:while_)"},

                                     {"break_", builder_leave<Leave::loop>, R"(
The threads that come here leave the innermost loop.
@see k:continue_
@example
  k:while_(more, function()
    k:if_(found:ne(0), function() k:break_() end)
  end))"},

                                     {"continue_", builder_leave<Leave::iteration>, R"(
The threads that come here go on with the next iteration of the innermost loop; k:loop counts on.
@see k:break_
@example
  k:loop(count, function(i)
    k:if_(i:eq(skipped), function() k:continue_() end)
  end))"},

                                     {"exit", builder_leave<Leave::kernel>, R"(
The threads that come here end. What the warp does together afterwards, such as k:mma, lacks them.
@see k:if_
@example
  k:if_(index:ge(count), function() k:exit() end))"},

                                     {"begin_if", builder_begin_if, R"(
Begins a branch. k:if_ is made of it.
@param condition reg  a predicate
@see k:if_)"},

                                     {"begin_else", builder_begin_else, R"(
Ends the first side of a branch and begins the second.
@see k:if_)"},

                                     {"end_if", builder_end_if, R"(
Ends a branch.
@see k:if_)"},

                                     {"print", builder_print, R"(
Prints a message from each thread that executes it. The values are printed by the conversions of the format in order.
@param format string  as for string.format: %d, %u, %x, %f, ...
@param ... reg|regs|table  registers, arrays or lists of them; the last one may be { guard = p } or { guard_not = p }
@see k:assert
@example
  k:print("row %d: %f", row, sum, { guard = tid:eq(0) }))"},

                                     {"assert", builder_assert, R"(
Ends the launch with an error if the condition does not hold in some thread; the error names the line, the CTA and the thread.
@param condition reg  a predicate
@param format string?  the message, as of k:print
@param ... reg|regs|table  its values
@see k:print)"},

                                     {"trap", builder_trap, R"(
Ends the launch with an error when a thread executes it; the error names the line, the CTA and the thread.
@param format string?  the message, as of k:print
@param ... reg|regs|table  its values; the last one may be { guard = p } or { guard_not = p }
@see k:assert)"},

                                     {"breakpoint", builder_breakpoint, R"(
Stops the debugger of the simulator here. Without a debugger it does nothing.
@see k:print)"},

                                     {}};
    static const Member fields[] = {{"threads", builder_threads, R"(
The threads of a CTA.
@return integer)"},
                                    {"name", builder_name, R"(
The name of the kernel.
@return string)"},
                                    {}};
    static const Member metamethods[] = {{"__tostring", builder_tostring}, {}};
    declare<BuilderBox>(L, {.methods = methods, .fields = fields, .metamethods = metamethods, .text = R"(
The builder of a kernel, which the function of wg.kernel gets. One call is one instruction, named as in PTX with underscores for dots, including its qualifiers: k:ld_global_v4_f32(a). The destination comes first or is left out, and is the result. Qualifiers may also be given by name in a table after the operands: k:ld(a, { space = "global", vec = 4, type = "f32" }). The table also takes `guard` (a predicate) and, where there is one address, `offset` (bytes). Whole tiles, loops and pipelines have methods of their own.
@see wg.kernel)"});
    push_methods(L, &class_key<BuilderBox>, class_name<BuilderBox>);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, find_instruction);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    // The instructions without qualifiers are made at once, so that a misspelt name finds the nearest one.
    const auto instructions = guarded(L, [] { return isa::all(); });
    for (const isa::Instruction* op : instructions) {
        auto& name = held<std::string>(L);
        guarded(L, [&] {
            name = op->name;
            std::replace(name.begin(), name.end(), '.', '_');
        });
        lua_getfield(L, -2, name.c_str());
        lua_pop(L, 2);
    }
    lua_pop(L, 1);

    static const Member shared_fields[] = {

        {"bytes", shared_bytes, R"(
The size of the buffer.
@return integer  bytes)"},
        {"name", shared_name, R"(
The name in messages.
@return string)"},
        {"tile", shared_tile, R"(
The tile that it holds, or nil.
@return tile?)"},
        {}};
    static const Member shared_metamethods[] = {{"__tostring", shared_tostring}, {}};
    declare<SharedBox>(L, {.fields = shared_fields, .metamethods = shared_metamethods, .text = R"(
A buffer in shared memory, made by k:shared. Where an instruction takes an address, the buffer stands for its own; k:address gives the address in a register.
@see k:shared)"});
}

}  // namespace wgrun::lua
