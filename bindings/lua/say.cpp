// k:print, k:assert, k:trap, k:breakpoint: messages from the threads of a kernel (docs/debugging.md).
#include "bindings/lua/args.hpp"
#include "bindings/lua/trace.hpp"

namespace wgrun::lua {
namespace {

/// The request of one call. Lives in a userdata, since reading the arguments calls Lua.
struct PrintCall {
    std::vector<Operand> values;
    Operand condition;
    Reg guard;
    bool guard_negated = false;
    Where where;
};

void read_register(lua_State* L, const std::shared_ptr<Trace>& trace, int index, const char* what,
                   Operand& operand) {
    const RegBox* box = test<RegBox>(L, index);
    if (box == nullptr) {
        const ShortText got = describe(L, index);
        fail(L, [&] { return std::string(what) + ": expected a register, got " + got.text; });
    }
    require_same_trace(L, trace, box->trace);
    operand.kind = Operand::Kind::reg;
    operand.reg = box->reg;
    operand.negated = box->negated;
}

/// { guard = p } or { guard_not = p }, as for other methods of k.
bool read_guard(lua_State* L, const std::shared_ptr<Trace>& trace, int index, PrintCall& call) {
    if (lua_type(L, index) != LUA_TTABLE) return false;
    for (const char* key : {"guard", "guard_not"}) {
        if (lua_getfield(L, index, key) != LUA_TNIL) {
            Operand& guard = call.condition;
            read_register(L, trace, -1, key, guard);
            call.guard = guard.reg;
            call.guard_negated = guard.negated != (key[5] != '\0');
            guard = {};
        }
        lua_pop(L, 1);
    }
    return static_cast<bool>(call.guard);
}

/// The values from argument `first` on; the last one may be a table with a guard.
void read_values(lua_State* L, const std::shared_ptr<Trace>& trace, int first, PrintCall& call) {
    int last = lua_gettop(L);
    if (last >= first && read_guard(L, trace, last, call)) --last;
    for (int i = first; i <= last; ++i) {
        Operand* value = guarded(L, [&] { return &call.values.emplace_back(); });
        if (const RegsBox* regs = test<RegsBox>(L, i)) {
            require_same_trace(L, trace, regs->trace);
            value->kind = Operand::Kind::list;
            guarded(L, [&] { value->list = regs->regs; });
            continue;
        }
        if (lua_type(L, i) == LUA_TTABLE) {
            value->kind = Operand::Kind::list;
            const lua_Integer count = luaL_len(L, i);
            for (lua_Integer j = 1; j <= count; ++j) {
                lua_rawgeti(L, i, j);
                auto& entry = held<Operand>(L);
                read_register(L, trace, -2, "value of a message", entry);
                guarded(L, [&] { call.values.back().list.push_back(entry.reg); });
                lua_pop(L, 2);
            }
            continue;
        }
        if (test<RegBox>(L, i) == nullptr) {
            const ShortText got = describe(L, i);
            fail(L, [&] {
                return std::string("value of a message: expected a register or a list of registers, got ") +
                       got.text +
                       " (values that are known while the kernel is traced go into the text: "
                       "(\"x = %d\"):format(x))";
            });
        }
        read_register(L, trace, i, "value of a message", *value);
    }
}

int say(lua_State* L, Message::Kind kind, int format_at) {
    const auto& trace = trace_argument(L);
    const bool has_format = kind == Message::Kind::print || !lua_isnoneornil(L, format_at);
    const std::string_view format = has_format ? string_argument(L, format_at) : std::string_view();
    Builder& builder = builder_of(L, trace);
    auto& call = held<PrintCall>(L);
    call.where = builder.where();
    lua_insert(L, 1);  // below the arguments
    if (kind == Message::Kind::assertion) {
        auto& condition = held<Operand>(L);
        lua_insert(L, 1);
        read_register(L, trace, 4, "k:assert, condition", condition);
        read_values(L, trace, format_at + 3, call);
        call.condition = condition;
    } else {
        read_values(L, trace, format_at + 2, call);
    }
    guarded(L, [&] {
        builder.at(call.where);
        builder.say(kind, format, std::move(call.values), call.condition, call.guard, call.guard_negated);
    });
    return 0;
}

// k:print(format, ... [, { guard = p }])
int builder_print(lua_State* L) { return say(L, Message::Kind::print, 2); }

// k:assert(condition [, format, ...])
int builder_assert(lua_State* L) { return say(L, Message::Kind::assertion, 3); }

// k:trap([format, ...])
int builder_trap(lua_State* L) { return say(L, Message::Kind::trap, 2); }

// k:breakpoint()
int builder_breakpoint(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.breakpoint(); });
    return 0;
}

}  // namespace

void open_say(lua_State* L) {
    static const Member methods[] = {{"print", builder_print, R"(
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
    add_methods<BuilderBox>(L, methods);
}

}  // namespace wgrun::lua
