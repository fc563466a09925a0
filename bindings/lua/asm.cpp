#include "bindings/lua/asm.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/trace.hpp"
#include "wgrun/inline_ptx.hpp"

namespace wgrun::lua {
namespace {

/// The request of a call. Lives in a userdata.
struct AsmArguments {
    isa::InlinePtx ptx;
    std::vector<Operand> operands;
    Reg guard;
    bool guard_negated = false;
};

isa::Access access_named(std::string_view name) {
    return name == "out" ? isa::Access::out : name == "inout" ? isa::Access::inout : isa::Access::in;
}

/// Reads { name, access, value }, on top of the stack: a register, a buffer, or the type of a new register.
void read_place(lua_State* L, const std::shared_ptr<Trace>& trace, AsmArguments& asked) {
    const int place = lua_gettop(L);
    lua_rawgeti(L, place, 1);
    lua_rawgeti(L, place, 2);
    lua_rawgeti(L, place, 3);
    const std::string_view name = string_argument(L, place + 1), access = string_argument(L, place + 2);
    Builder& builder = builder_of(L, trace);
    isa::Type type = isa::Type::u32;
    Operand& operand = *guarded(L, [&] { return &asked.operands.emplace_back(); });
    if (const RegBox* box = test<RegBox>(L, place + 3)) {
        require_same_trace(L, trace, box->trace);
        if (box->negated)
            fail(L, [&] {
                return "asm, " + std::string(name) + ": a negated predicate is not a register of its own";
            });
        guarded(L, [&] { operand = Operand::of(box->reg); });
        type = guarded(L, [&] { return builder.type_of(box->reg); });
    } else if (const SharedBox* shared = test<SharedBox>(L, place + 3)) {
        require_same_trace(L, trace, shared->trace);
        guarded(L, [&] { operand = Operand::shared(shared->index, 0); });
    } else {
        const ShortText got = describe(L, place + 3);
        const bool named = lua_type(L, place + 3) == LUA_TSTRING && access == "out";
        const std::string_view given = named ? string_argument(L, place + 3) : "";
        const auto parsed = isa::parse_type(given);
        if (!parsed)
            fail(L, [&] {
                return "asm, " + std::string(name) + ": expected a register" +
                       (access == "out"  ? " or the type of one"
                        : access == "in" ? " or a shared buffer"
                                         : "") +
                       ", got " + got.text;
            });
        guarded(L, [&] {
            operand = Operand::of(builder.reg(*parsed));
            type = builder.type_of(operand.reg);
        });
    }
    guarded(L, [&] { asked.ptx.places.push_back({std::string(name), access_named(access), type}); });
    lua_settop(L, place);
}

}  // namespace

int inline_ptx_from_lua(lua_State* L) {
    static constexpr Option keys[] = {{"text"},         {"operands"},  {"declared"}, {"reads"}, {"writes"},
                                      {"synchronises"}, {"simulated"}, {"isa"},      {"guard"}};
    const auto& trace = trace_argument(L);
    const Options options(L, 2, "k:asm", keys);
    auto& asked = held<AsmArguments>(L);
    const std::string_view text = options.string("text"), isa_version = options.string("isa", "8.0");
    spend(L, text.size() / 256);  // as much memory as so many instructions
    asked.ptx.declared = options.boolean("declared");
    asked.ptx.reads = options.boolean("reads");
    asked.ptx.writes = options.boolean("writes");
    asked.ptx.synchronises = options.boolean("synchronises");
    asked.ptx.simulated = options.boolean("simulated");
    guarded(L, [&] {
        asked.ptx.text = text;
        const std::size_t dot = isa_version.find('.');
        const auto digits = [](std::string_view part) {
            return !part.empty() && part.size() <= 2 &&
                   part.find_first_not_of("0123456789") == std::string_view::npos;
        };
        if (dot == std::string_view::npos || !digits(isa_version.substr(0, dot)) ||
            !digits(isa_version.substr(dot + 1)))
            throw ArgumentError(
                "k:asm: option `isa`: expected a version of the PTX ISA, such as \"8.6\", got \"" +
                std::string(isa_version) + "\"");
        asked.ptx.min_ptx = {std::stoi(std::string(isa_version.substr(0, dot))),
                             std::stoi(std::string(isa_version.substr(dot + 1)))};
    });
    options.push("operands");
    const int list = lua_gettop(L);
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, list));
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, list, i);
        read_place(L, trace, asked);
        lua_pop(L, 1);
    }
    if (options.push("guard") != LUA_TNIL) {
        const RegBox* box = test<RegBox>(L, -1);
        if (box == nullptr) options.fail_value("guard", "a predicate register");
        require_same_trace(L, trace, box->trace);
        asked.guard = box->reg;
        asked.guard_negated = box->negated;
    }
    Builder& builder = builder_of(L, trace);
    guarded(L, [&] {
        const isa::InstructionRef op = isa::inline_ptx(asked.ptx);
        if (asked.guard && op->ptx.starts_with("{{\n"))
            throw ArgumentError("k:asm: `guard` applies to one instruction, and the text has several",
                                "k:if_(p, function() ... end)");
        builder.add(*op, {}, asked.operands, asked.guard, asked.guard_negated);
    });
    luaL_checkstack(L, static_cast<int>(asked.operands.size()) + 4, nullptr);
    for (const Operand& operand : asked.operands) {
        if (operand.kind == Operand::Kind::reg)
            push_reg(L, trace, operand.reg);
        else
            lua_pushboolean(L, 0);
    }
    return static_cast<int>(asked.operands.size());
}

int simulated_only_from_lua(lua_State* L) {
    trace_argument(L)->simulated_only = lua_toboolean(L, 2) != 0;
    return 0;
}

}  // namespace wgrun::lua
