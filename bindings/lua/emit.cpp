// One call of the builder, one instruction: Lua arguments to operands and qualifiers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bindings/lua/args.hpp"
#include "bindings/lua/conditions.hpp"
#include "bindings/lua/doc_instruction.hpp"
#include "bindings/lua/trace.hpp"
#include "wgrun/call.hpp"
#include "wgrun/inline_ptx.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::lua {
namespace {

using isa::Access;
using isa::Field;
using isa::Instruction;
using isa::OperandRule;
/// The request of one call. Lives in a userdata, since reading the arguments calls Lua.
struct Request : Call {
    Operand result;
    Where where;
};

/// The request that calls use one after the other: a userdata for each would be most of what the collector
/// has to do. A call within another, by a finalizer or a metamethod, has its own.
struct SharedRequest {
    Request request;
    bool taken = false;
    std::weak_ptr<Trace> by;  ///< the kernel whose call has taken it; no more, when an error has ended that

    bool free() const { return !taken || by.expired(); }
    void take(const std::shared_ptr<Trace>& trace) {
        taken = true;
        if (by.owner_before(trace) || trace.owner_before(by)) by = trace;
        request.positional.clear();
        request.operands.clear();
        request.offsets.clear();
        request.numbers.clear();
        request.guard = {};
        request.guard_negated = false;
        request.result = {};
    }
};

[[noreturn]] void fail_operand(lua_State* L, const Instruction& op, const char* name, int index) {
    const ShortText got = describe(L, index);
    auto& source = held<std::string>(L);
    if (lua_isnoneornil(L, index)) source_of_argument(L, index, source);
    fail(L, [&] {
        return std::string(op.name) + ", " + name +
               ": expected a register, a list of registers, a number or a shared buffer, got " + got.text +
               (source.empty() ? "" : ": " + source + " is " + got.text);
    });
}

bool read_number(lua_State* L, int index, Operand& operand) {
    if (lua_isinteger(L, index))
        operand = Operand::integer(lua_tointeger(L, index));
    else if (lua_type(L, index) == LUA_TNUMBER)
        operand = Operand::number(lua_tonumber(L, index));
    else
        return false;
    return true;
}

void read_register_list(lua_State* L, const std::shared_ptr<Trace>& trace, Request& request, const char* name,
                        int index, Operand& operand) {
    operand.kind = Operand::Kind::list;
    operand.index = static_cast<int>(request.numbers.size());
    const lua_Integer count = luaL_len(L, index);
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, index, i);
        const RegBox* box = test<RegBox>(L, -1);
        if (box != nullptr) {
            require_same_trace(L, trace, box->trace);
        } else if (lua_type(L, -1) == LUA_TNUMBER) {
            read_number(L, -1, *guarded(L, [&] { return &request.numbers.emplace_back(); }));
        } else {
            const ShortText got = describe(L, -1);
            fail(L, [&] {
                return fmt::format("{}, {}: entry {} of the list: expected a register or a number, got {}",
                                   request.op->name, name, i, got.text);
            });
        }
        guarded(L, [&] { operand.list.push_back(box != nullptr ? box->reg : Reg()); });
        lua_pop(L, 1);
    }
}

/// `operand` must not live in a C++ frame.
void read_operand(lua_State* L, const std::shared_ptr<Trace>& trace, Request& request, const char* name,
                  int index, Operand& operand) {
    index = lua_absindex(L, index);
    if (const RegBox* box = test<RegBox>(L, index)) {
        require_same_trace(L, trace, box->trace);
        operand.kind = Operand::Kind::reg;
        operand.reg = box->reg;
        operand.negated = box->negated;
    } else if (const RegsBox* regs = test<RegsBox>(L, index)) {
        require_same_trace(L, trace, regs->trace);
        operand.kind = Operand::Kind::list;
        guarded(L, [&] { operand.list = regs->regs; });
    } else if (const SharedBox* shared = test<SharedBox>(L, index)) {
        require_same_trace(L, trace, shared->trace);
        operand.kind = Operand::Kind::shared;
        operand.index = shared->index;
    } else if (const ParameterBox* parameter = test<ParameterBox>(L, index)) {
        require_same_trace(L, trace, parameter->trace);
        operand = Operand::param(parameter->index);
    } else if (read_number(L, index, operand)) {
        return;
    } else if (lua_type(L, index) == LUA_TBOOLEAN) {
        operand = Operand::integer(lua_toboolean(L, index));
    } else if (lua_type(L, index) == LUA_TTABLE) {
        read_register_list(L, trace, request, name, index, operand);
    } else {
        fail_operand(L, *request.op, name, index);
    }
}

void read_field(lua_State* L, Request& request, Field field) {
    const std::optional<int> value = qualifier(L, -1, field);
    if (!value) {
        const ShortText got = describe(L, -1);
        fail(L, [&] { return illegal_qualifier(*request.op, field, got.text); });
    }
    request.form.set(field, *value);
}

void read_guard(lua_State* L, const std::shared_ptr<Trace>& trace, Request& request, bool negated) {
    const RegBox* box = test<RegBox>(L, -1);
    if (box == nullptr) {
        const ShortText got = describe(L, -1);
        fail(L, [&] {
            return "guard of " + std::string(request.op->name) + ": expected a predicate register, got " +
                   got.text;
        });
    }
    require_same_trace(L, trace, box->trace);
    if (request.guard)
        fail(L,
             [&] { return std::string(request.op->name) + ": `guard` and `guard_not` exclude each other"; });
    request.guard = box->reg;
    request.guard_negated = box->negated != negated;
}

/// A number of bytes, or one for each address; complete_step refuses one that does not fit.
void read_offset(lua_State* L, Request& request) {
    const std::size_t count = addresses_of(*request.op);
    const ShortText got = describe(L, -1);
    if (lua_type(L, -1) == LUA_TTABLE) {
        guarded(L, [&] { request.offsets.reserve(count); });
        read_integers(L, -1, "offset", request.offsets, count);
    } else {
        guarded(L, [&] { request.offsets.assign(1, 0); });
        if (!to_integer(L, -1, request.offsets[0])) request.offsets.clear();
    }
    if (request.offsets.size() == count) return;
    fail(L, [&] {
        return count == 1 ? fmt::format("{}: option `offset`: expected a number of bytes, got {}",
                                        request.op->name, got.text)
                          : fmt::format(
                                "{}: option `offset`: expected a list of {} numbers of bytes, one for "
                                "each address, got {}",
                                request.op->name, count, got.text);
    });
}

void read_options(lua_State* L, const std::shared_ptr<Trace>& trace, Request& request, int index) {
    const Instruction& op = *request.op;
    request.operands.resize(op.operands.size());
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (lua_type(L, -2) != LUA_TSTRING)
            fail(L, [&] {
                return "options of " + std::string(op.name) +
                       " need names; a list of registers is an operand, and comes before the options";
            });
        const char* key = lua_tostring(L, -2);
        const std::string_view name = string_argument(L, -2);
        const OperandRule* rule = named_operand(op, name);
        const auto field = isa::parse_field(name);
        if (rule != nullptr)
            read_operand(L, trace, request, key, -1,
                         request.operands[static_cast<std::size_t>(rule - op.operands.data())]);
        else if (field && takes_field(op, *field))
            read_field(L, request, *field);
        else if (name == "guard" || name == "guard_not")
            read_guard(L, trace, request, name == "guard_not");
        else if (name == "offset" && takes_offset(op))
            read_offset(L, request);
        else
            fail(L, [&] { return unknown_option(op, name); });
        lua_pop(L, 1);
    }
}

/// The last argument is an option table unless it is a list of registers.
bool is_option_table(lua_State* L, int index) {
    if (lua_type(L, index) != LUA_TTABLE) return false;
    lua_rawgeti(L, index, 1);
    const bool list = !lua_isnil(L, -1);
    lua_pop(L, 1);
    return !list;
}

/// As Builder::add, of numbers alone, from which no type follows.
const Step& add_untyped(Builder& builder, const Instruction& op, Request& request) {
    try {
        return builder.add(op, request.form, std::move(request.operands), request.guard,
                           request.guard_negated);
    } catch (ArgumentError& error) {
        if (error.finding().rule == rules::WG_FORM_01.id && error.finding().fix.empty())
            error.finding().fix = fmt::format(
                "numbers have no type: {}(..., {{ type = \"f32\" }}); a sum that a loop adds to begins as "
                "k:mov(0, {{ type = \"f32\" }})",
                instruction_name(op));
        throw;
    }
}

/// Remembers when registers were last read (loop_body.hpp).
void note_reads(Trace& trace, const Step& step) {
    ++trace.steps;
    const auto note = [&](Reg reg) {
        if (!reg) return;
        if (trace.last_read.size() <= reg.id) trace.last_read.resize(reg.id + 1);
        trace.last_read[reg.id] = trace.steps;
    };
    note(step.guard);
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        if (step.op->operands[i].access == Access::out) continue;
        note(step.operands[i].reg);
        for (const Reg reg : step.operands[i].list) note(reg);
    }
}

}  // namespace

std::optional<int> qualifier(lua_State* L, int index, Field field) {
    if (lua_type(L, index) == LUA_TSTRING) return isa::parse_value(field, string_argument(L, index));
    std::int64_t number = 0;
    if (lua_type(L, index) == LUA_TBOOLEAN)
        number = lua_toboolean(L, index);
    else if (!to_integer(L, index, number))
        return std::nullopt;
    std::array<char, 24> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return isa::parse_value(field, {text.data(), static_cast<std::size_t>(end - text.data())});
}

int emit_from_lua(lua_State* L, const std::shared_ptr<Trace>& trace, const isa::Spelling& spelling,
                  int first) {
    Builder& builder = builder_of(L, trace);
    const int top = lua_gettop(L);
    int last = top;
    auto& shared = kept<SharedRequest>(L);
    const bool alone = shared.free();
    if (alone) shared.take(trace);
    auto& request = alone ? shared.request : held<Request>(L);
    request.op = spelling.op;
    request.where = builder.where();
    request.form = spelling.form;
    guarded(L, [&] { request.operands.resize(spelling.op->operands.size()); });
    if (last >= first && is_option_table(L, last)) read_options(L, trace, request, last--);
    for (int i = first; i <= last; ++i) {
        Operand* operand = guarded(L, [&] { return &request.positional.emplace_back(); });
        read_operand(L, trace, request, "operand", i, *operand);
    }
    // A finalizer that runs while operands are read or the result is pushed may add steps of its own, which
    // changes the builder's place and moves the steps.
    const bool has_result = guarded(L, [&] {
        builder.at(request.where);
        place_operands(request);
        const Instruction& mov = *isa::find("mov");
        place_numbers(request, builder, trace->simulated_only ? isa::simulated_only(mov) : mov);
        check_pointee(request, trace->pointees);
        for (const Operand& operand : request.operands)
            if (operand.kind == Operand::Kind::number && !std::isnan(operand.real))
                trace->last_number[operand.real] = trace->steps + 1;
        if (trace->simulated_only && request.guard)
            throw ArgumentError("`meaning` of k:asm must be straight-line code, without guards",
                                "k:selp(a, b, p)");
        const Instruction& op = trace->simulated_only ? isa::simulated_only(*request.op) : *request.op;
        const bool untyped = takes_field(op, Field::type) && !request.form.has(Field::type) &&
                             std::ranges::none_of(request.operands, [](const Operand& operand) {
                                 return operand.reg || !operand.list.empty();
                             });
        const Step& step = untyped ? add_untyped(builder, op, request)
                                   : builder.add(op, request.form, std::move(request.operands), request.guard,
                                                 request.guard_negated);
        note_reads(*trace, step);
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
            if (step.op->operands[i].access != Access::out) continue;
            request.result = step.operands[i];
            return true;
        }
        return false;
    });
    if (has_result) {
        if (request.result.kind == Operand::Kind::list)
            push_regs(L, trace, request.result.list);
        else
            push_reg(L, trace, request.result.reg);
    }
    if (alone) shared.taken = false;
    return has_result ? 1 : 0;
}

}  // namespace wgrun::lua
