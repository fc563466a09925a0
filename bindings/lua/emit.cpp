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
#include "wgrun/inline_ptx.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::lua {
namespace {

using isa::Access;
using isa::Field;
using isa::Instruction;
using isa::OperandRule;
/// The request of one call. Lives in a userdata, since reading the arguments calls Lua.
struct Request {
    const Instruction* op = nullptr;
    isa::Form form;
    std::vector<Operand> positional;
    std::vector<Operand> operands;
    std::vector<std::int64_t> offsets;  ///< of each address
    /// In lists of registers: those of a list begin at its Operand::index, where a register is absent.
    std::vector<Operand> numbers;
    Reg guard;
    bool guard_negated = false;
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

const OperandRule* named_operand(const Instruction& op, std::string_view name) {
    for (const OperandRule& rule : op.operands)
        if (rule.by_name && rule.name == name) return &rule;
    return nullptr;
}

[[noreturn]] void fail_option(lua_State* L, const Instruction& op, std::string_view key) {
    fail(L, [&] {
        const std::vector<std::string_view> legal = instruction_options(op);
        std::string list;
        for (std::string_view name : legal) list += (list.empty() ? "" : ", ") + std::string(name);
        return "unknown option `" + std::string(key) + "` of " + std::string(op.name) + nearest(key, legal) +
               " (legal: " + list + ")";
    });
}

void read_field(lua_State* L, Request& request, Field field) {
    const std::optional<int> value = qualifier(L, -1, field);
    if (!value) {
        const ShortText got = describe(L, -1);
        fail(L, [&] {
            std::string legal;
            for (const isa::Row& row : request.op->rows)
                if (const isa::Choice* choice = row.find(field))
                    for (int v : choice->values()) {
                        const std::string text = isa::spelled(field, v);
                        if (legal.size() < 80 && !text.empty() &&
                            (", " + legal + ",").find(", " + text + ",") == std::string::npos)
                            legal += (legal.empty() ? "" : ", ") + text;
                    }
            return std::string(request.op->name) + ": option `" + std::string(isa::to_string(field)) +
                   "`: " + got.text + " is not legal (legal: " + legal + ")";
        });
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

bool is_address(const OperandRule& rule) { return !rule.by_name && (rule.kinds & OperandRule::address) != 0; }

std::size_t addresses_of(const Instruction& op) {
    return static_cast<std::size_t>(
        std::ranges::count_if(op.operands, [](const OperandRule& rule) { return is_address(rule); }));
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
            fail_option(L, op, name);
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

/// Assigns the positional operands to their places; destinations may be left out.
void place_operands(Request& request) {
    const Instruction& op = *request.op;
    std::vector<std::size_t> places, sources;
    std::size_t needed = 0;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const OperandRule& rule = op.operands[i];
        if (rule.by_name) continue;
        places.push_back(i);
        if (rule.access == Access::out) continue;
        sources.push_back(i);
        if (!rule.fallback) ++needed;
    }
    const std::size_t given = request.positional.size();
    const bool without_destination = given >= needed && given <= sources.size();
    const std::vector<std::size_t>& where = without_destination ? sources : places;
    if (given > where.size() || given < needed) {
        std::string names, by_name;
        for (std::size_t i : places) names += (names.empty() ? "" : ", ") + std::string(op.operands[i].name);
        for (const OperandRule& rule : op.operands)
            if (rule.by_name) by_name += (by_name.empty() ? "" : ", ") + std::string(rule.name) + " =";
        if (given > where.size() && takes_offset(op) &&
            request.positional.back().kind == Operand::Kind::number)
            by_name += by_name.empty() ? "offset =" : ", offset =";
        throw ArgumentError(std::string(op.name) + " takes " + (names.empty() ? "no operands" : names) +
                                (sources.size() < places.size() ? " (the destination may be left out)" : "") +
                                (by_name.empty() ? "" : ", and by name { " + by_name + " }") + "; " +
                                std::to_string(given) + " given",
                            std::string(op.summary));
    }
    for (std::size_t i = 0; i < given; ++i) request.operands[where[i]] = std::move(request.positional[i]);
    std::size_t address = 0;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (!is_address(op.operands[i])) continue;
        Operand& operand = request.operands[i];
        const std::int64_t offset = address < request.offsets.size() ? request.offsets[address] : 0;
        ++address;
        // [register + offset] or [buffer + offset]
        if (operand.kind == Operand::Kind::param) operand.offset = offset;
        if (operand.kind != Operand::Kind::reg && operand.kind != Operand::Kind::shared) continue;
        if (operand.kind == Operand::Kind::reg) operand.index = -1;
        operand.kind = Operand::Kind::address;
        operand.offset = offset;
    }
}

/// The type of a list's registers: that of one of them, or what the form says.
isa::Type type_of_list(const Builder& builder, const Request& request, const OperandRule& rule,
                       const Operand& list) {
    for (const Reg reg : list.list)
        if (reg) return builder.type_of(reg);
    const bool typed = !takes_field(*request.op, Field::type) || request.form.has(Field::type);
    if (typed && rule.type != nullptr) return rule.type(request.form);
    throw ArgumentError(
        fmt::format("{}, operand {}: a list of numbers alone has no type", request.op->name, rule.name),
        "the type in the name, as in k:st_global_v4_f32");
}

/// Puts numbers in lists into registers: a list of PTX has registers alone.
void place_numbers(const Trace& trace, Builder& builder, Request& request) {
    if (request.numbers.empty()) return;
    const Instruction& mov =
        trace.simulated_only ? isa::simulated_only(*isa::find("mov")) : *isa::find("mov");
    for (std::size_t i = 0; i < request.operands.size(); ++i) {
        Operand& operand = request.operands[i];
        const OperandRule& rule = request.op->operands[i];
        if (operand.kind != Operand::Kind::list || operand.index < 0) continue;
        auto number = static_cast<std::size_t>(std::exchange(operand.index, -1));
        for (Reg& reg : operand.list) {
            if (reg) continue;
            if (rule.access != Access::in)
                throw ArgumentError(
                    fmt::format("{}, operand {}: a number is no destination", request.op->name, rule.name));
            isa::Form form;
            form.set(Field::type, static_cast<int>(type_of_list(builder, request, rule, operand)));
            reg = builder.add(mov, form, {Operand(), request.numbers[number++]}).operands.front().reg;
        }
    }
}

/// A scalar access of f32 or f64 at the address of elements of another type.
void check_pointee(const Trace& trace, const Request& request) {
    if (!request.form.has(Field::type) || request.form.has(Field::vec)) return;
    const auto type = static_cast<isa::Type>(request.form.get(Field::type));
    if (type != isa::Type::f32 && type != isa::Type::f64) return;
    for (const Operand& operand : request.operands) {
        if (operand.kind != Operand::Kind::address || !operand.reg) continue;
        const auto found = trace.pointees.find(operand.reg.id);
        if (found == trace.pointees.end()) continue;
        const std::string_view elements = to_string(found->second), wanted = isa::to_string(type);
        if (elements == wanted || (found->second == Dtype::tf32 && type == isa::Type::f32)) continue;
        const bool atomic = request.op->atomic, loads = request.op->operands.front().access == Access::out;
        std::string fix;
        if (atomic)
            fix = fmt::format("an address of {} elements", wanted);
        else if (found->second == Dtype::bf16 || found->second == Dtype::f16)
            fix = loads ? fmt::format("k:cvt_f32_{}(k:ld_global_b16(address)) gives the value", elements)
                        : fmt::format("k:st_global_b16(address, k:cvt_rn_{}_f32(x))", elements);
        throw ArgumentError(fmt::format("{}: the address is that of {} elements, and {} are {}",
                                        request.op->name, elements, wanted,
                                        atomic  ? "combined with"
                                        : loads ? "loaded"
                                                : "stored"),
                            fix);
    }
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

bool takes_field(const Instruction& op, Field field) {
    return std::any_of(op.rows.begin(), op.rows.end(),
                       [&](const isa::Row& row) { return row.find(field) != nullptr; });
}

bool takes_offset(const Instruction& op) { return addresses_of(op) > 0; }

std::vector<std::string_view> instruction_options(const Instruction& op) {
    std::vector<std::string_view> names{"guard", "guard_not"};
    if (takes_offset(op)) names.emplace_back("offset");
    for (int i = 0; i < isa::field_count; ++i)
        if (takes_field(op, static_cast<Field>(i))) names.push_back(isa::to_string(static_cast<Field>(i)));
    for (const OperandRule& rule : op.operands)
        if (rule.by_name) names.push_back(rule.name);
    return names;
}

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
        place_numbers(*trace, builder, request);
        check_pointee(*trace, request);
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
