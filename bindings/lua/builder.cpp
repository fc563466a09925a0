// k, the builder that the function of wg.kernel gets. Instructions are found by name (method_names.cpp);
// control flow (blocks.cpp), registers, parameters and shared memory have methods of their own. The tile tier
// adds more (stdlib/).
#include <algorithm>
#include <array>

#include "bindings/lua/args.hpp"
#include "bindings/lua/conditions.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/trace.hpp"
#include "wgrun/call.hpp"
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

// k:special "tid.x"
int builder_special(lua_State* L) {
    const std::shared_ptr<Trace>& trace = trace_argument(L);
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
    full.op = guarded(L, [&] { return &special_register(*sreg); });
    lua_settop(L, 1);
    return emit_from_lua(L, trace, full, 2);
}

int builder_threads(lua_State* L) {
    lua_pushinteger(L, trace_argument(L)->threads);
    return 1;
}

int builder_cluster(lua_State* L) {
    lua_pushinteger(L, trace_argument(L)->cluster);
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

}  // namespace

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

                                     {"special", builder_special, R"(
The value of a special register.
@param name string  "tid.x", "ctaid.x", "nctaid.x", "ntid.x", "laneid", "cluster_ctarank", "clock64", ...
@return reg  u32; of clock64, globaltimer and gridid u64, of is_explicit_cluster a predicate
@example
  local tid = k:special "tid.x")"},

                                     {}};
    static const Member fields[] = {{"threads", builder_threads, R"(
The threads of a CTA.
@return integer)"},
                                    {"cluster", builder_cluster, R"(
The CTAs of a cluster.
@return integer)"},
                                    {"name", builder_name, R"(
The name of the kernel.
@return string)"},
                                    {}};
    static const Member metamethods[] = {{"__tostring", builder_tostring}, {}};
    declare<BuilderBox>(L, {.methods = methods, .fields = fields, .metamethods = metamethods, .text = R"(
The builder of a kernel, which the function of wg.kernel gets. One call is one instruction, named as in PTX with underscores for dots, including its qualifiers: k:ld_global_v4_f32(a). The destination comes first or is left out, and is the result. Qualifiers may also be given by name in a table after the operands: k:ld(a, { space = "global", vec = 4, type = "f32" }). The table also takes `guard` (a predicate) and, where there is one address, `offset` (bytes). Whole tiles, loops and pipelines have methods of their own.
@see wg.kernel)"});
    open_parameters(L);
    open_shared(L);
    open_blocks(L);
    open_say(L);
    open_method_names(L);
}

}  // namespace wgrun::lua
