// red and atom: they read, combine and write back in one access, atomic with respect to each other.
#include <algorithm>
#include <cstring>

#include "isa/combine.hpp"
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/generic.hpp"
#include "isa/lanes.hpp"
#include "isa/order.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

bool is_wide(Space space) { return space == Space::global || space == Space::generic; }
Type address_type(const Form& form) { return is_wide(space(form)) ? u64 : u32; }

Addresses addresses(Machine& m, const Operand& address, Space space) {
    return is_wide(space) ? addresses_of<std::uint64_t>(m, address) : addresses_of<std::uint32_t>(m, address);
}

// --- meaning -------------------------------------------------------------------------------------------

/// Returns the new value in place of `old`. The bits of each value are the lowest ones. global: in global
/// memory.
std::uint64_t replacement(std::string_view op, const Form& form, bool global, std::uint64_t old,
                          std::uint64_t b, std::uint64_t c) {
    if (op == "exch") return b;
    if (op == "cas") return old == b ? c : old;
    return combined(static_cast<BulkCopy::Reduction>(form.get(Field::op)), form.type(), global, old, b);
}

template <class F>
void with_size(int bytes, F f) {
    if (bytes == 8)
        f(std::uint64_t{});
    else if (bytes == 4)
        f(std::uint32_t{});
    else
        f(std::uint16_t{});
}

Operand element(const Operand& operand, int i) {
    return operand.kind == Operand::Kind::list ? Operand::of(operand.list[static_cast<std::size_t>(i)])
                                               : operand;
}

constexpr int most_elements = 8;
using Elements = std::array<Lanes<std::uint64_t>, most_elements>;

/// exch or cas of 128 bits, which have no other operation. Writes the old contents to operand 0.
void run_wide(const Step& s, Machine& m) {
    const bool compares = s.operands.size() > 3 && s.op->operands[3].name == "c";
    const auto b = read<Bits128>(m, s.operands[2]);
    const auto c = compares ? read<Bits128>(m, s.operands[3]) : b;
    Lanes<Bits128> old{};
    const Space where = space(s.form);
    m.update(where, addresses(m, s.operands[1], where), sizeof(Bits128), [&](int lane, std::byte* place) {
        const auto l = static_cast<std::size_t>(lane);
        std::memcpy(&old[l], place, sizeof(Bits128));
        if (!compares || old[l] == b[l]) std::memcpy(place, &c[l], sizeof(Bits128));
    });
    write_reg(m, s.operands[0].reg, old);
}

Elements read_elements(const Step& s, Machine& m, const Operand& operand) {
    Elements out{};
    for (int i = 0; i < vec(s.form); ++i)
        with_size(element_bytes(s.form), [&]<class T>(T) {
            const Lanes<T> values = read<T>(m, element(operand, i));
            std::copy(values.begin(), values.end(), out[static_cast<std::size_t>(i)].begin());
        });
    return out;
}

/// Combines memory with the operands. Returns the old contents.
Elements update(const Step& s, Machine& m, const Operand& address, const Elements& b, const Elements& c) {
    const std::string op = spelled(Field::op, s.form.get(Field::op));
    const Space where = space(s.form);
    const int size = element_bytes(s.form), count = vec(s.form);
    Elements old{};
    const Addresses at = addresses(m, address, where);
    m.update(where, at, size * count, [&](int lane, std::byte* place) {
        const bool global = where == Space::generic
                                ? space_of(at[static_cast<std::size_t>(lane)]) == Space::global
                                : where == Space::global;
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            const auto l = static_cast<std::size_t>(lane), bytes = static_cast<std::size_t>(size);
            std::memcpy(&old[i][l], place + i * bytes, bytes);
            const std::uint64_t value = replacement(op, s.form, global, old[i][l], b[i][l], c[i][l]);
            std::memcpy(place + i * bytes, &value, bytes);
        }
    });
    return old;
}

void write_elements(const Step& s, Machine& m, const Operand& operand, const Elements& values) {
    for (int i = 0; i < vec(s.form); ++i)
        with_size(element_bytes(s.form), [&]<class T>(T) {
            Lanes<T> d;
            for (std::size_t l = 0; l < lanes; ++l)
                d[l] = static_cast<T>(values[static_cast<std::size_t>(i)][l]);
            write_reg(m, element(operand, i).reg, d);
        });
}

void run_red(const Step& s, Machine& m) {
    update(s, m, s.operands[0], read_elements(s, m, s.operands[1]), {});
}
void run_atom(const Step& s, Machine& m) {
    if (s.form.type() == b128) return run_wide(s, m);
    write_elements(s, m, s.operands[0], update(s, m, s.operands[1], read_elements(s, m, s.operands[2]), {}));
}
void run_cas(const Step& s, Machine& m) {
    const Elements b = read_elements(s, m, s.operands[2]), c = read_elements(s, m, s.operands[3]);
    write_elements(s, m, s.operands[0], update(s, m, s.operands[1], b, c));
}

template <int address>
void effects(const Step& s, Effects& e) {
    const int bytes = element_bytes(s.form) * vec(s.form);
    if (order_of(s).acquire) e.await_arrivals();
    e.memory({space(s.form), false, &s.operands[address], bytes});
    e.memory({space(s.form), true, &s.operands[address], bytes});
}

// --- the records ---------------------------------------------------------------------------------------

using Names = std::initializer_list<std::string_view>;

Choice of_red(std::string_view fallback) { return in_all_scopes({"relaxed", "release"}, fallback); }
Choice of_atom(std::string_view fallback) {
    return in_all_scopes({"relaxed", "acquire", "release", "acq_rel"}, fallback);
}

Choice global_space() {
    Choice out = spelled_as(Field::space, {"global"});
    out.asked = true;
    return out;
}
/// Without a space the address is generic.
Choice shared_or_generic() {
    return optional(spelled_as(Field::space, {"shared", "shared::cta", "shared::cluster"}));
}

/// Returns the rows that red and atom share. Accesses to shared memory need not name an order.
std::vector<Row> rows(Choice (*orders)(std::string_view fallback), Names bitwise, Names more = {}) {
    std::vector<Row> out;
    const Choice of_shared = optional(orders({})), of_global = orders("relaxed.gpu");
    const auto add = [&](Names ops, std::initializer_list<Type> of, std::vector<Choice> tail = {}) {
        for (bool global : {true, false}) {
            Row row{{reductions(ops), types(of), among(Field::vec, {1}, 1)}, {7, 8}};
            row.choices.push_back(global ? global_space() : shared_or_generic());
            row.choices.push_back(global ? of_global : of_shared);
            if (global) row.choices.push_back(cache_hint());
            row.choices.insert(row.choices.end(), tail.begin(), tail.end());
            out.push_back(row);
        }
    };
    const Choice noftz = among(Field::noftz, {1});
    add({"add"}, {u32, s32, u64, f32, f64});
    add({"add"}, {f16, bf16, f16x2, bf16x2}, {noftz});
    add({"min", "max"}, {u32, s32, u64, s64});
    add({"inc", "dec"}, {u32});
    add(bitwise, {b32, b64});
    if (more.size() > 0) {
        add(more, {b32, b64});
        const std::size_t before = out.size();
        add(more, {b128});
        for (std::size_t i = before; i < out.size(); ++i) {
            out[i].min_ptx = {8, 4};
            out[i].choices[1] = only(b128);
        }
    }
    const auto add_vector = [&](Names ops, std::initializer_list<Type> of, std::initializer_list<int> sizes,
                                std::initializer_list<Choice> tail) {
        Row row{
            {reductions(ops), types(of), among(Field::vec, sizes), global_space(), of_global, cache_hint()},
            {8, 1}};
        row.choices.insert(row.choices.end(), tail.begin(), tail.end());
        out.push_back(row);
    };
    add_vector({"add"}, {f32}, {2, 4}, {});
    add_vector({"add", "min", "max"}, {f16x2, bf16x2}, {2, 4}, {noftz});
    add_vector({"add", "min", "max"}, {f16, bf16}, {2, 4, 8}, {noftz});
    return out;
}

std::vector<Row> cas_rows(const Choice& type, PtxVersion least) {
    const Choice op = spelled_as(Field::op, {"cas"});
    return {{{op, type, global_space(), of_atom("relaxed.gpu")}, least},
            {{op, type, shared_or_generic(), optional(of_atom({}))}, least}};
}

OperandRule destination() {
    return {"d", Access::out, Rule::reg | Rule::list, typed<Field::type>, vec, false, {}, {}};
}
OperandRule place() { return {"a", Access::in, Rule::address, address_type, nullptr, false, {}, {}}; }
OperandRule operand() {
    return {"b", Access::in, Rule::reg | Rule::imm | Rule::list, typed<Field::type>, vec, false, {}, {}};
}

/// Every thread finds a different value there.
Value unknown(const Step&, const ValueOf&) { return {}; }

}  // namespace

std::span<const Instruction> atomic_family() {
    static const std::vector<Instruction> list{
        {.name = "red",
         .summary = "reduces a value into memory, atomically",
         .section = "9.7.13.6",
         .rows = rows(of_red, {"and", "or", "xor"}),
         .operands = {place(), operand(), cache_policy()},
         .ptx = "red{.sem}{.space}{.op}{.noftz}{.cache}{.vec}{.type} [{%a}], {%b}{,%policy}",
         .atomic = true,
         .effects = effects<0>,
         .run = run_red},
        {.name = "atom",
         .summary = "combines a value with memory, atomically, and returns the old value",
         .section = "9.7.13.5",
         .rows = rows(of_atom, {"and", "or", "xor"}, {"exch"}),
         .operands = {destination(), place(), operand(), cache_policy()},
         .ptx = "atom{.sem}{.space}{.op}{.noftz}{.cache}{.vec}{.type} {%d}, [{%a}], {%b}{,%policy}",
         .atomic = true,
         .effects = effects<1>,
         .value = unknown,
         .run = run_atom},
        {.name = "atom.cas",
         .summary = "stores c if memory holds b, atomically, and returns the old value",
         .section = "9.7.13.5",
         .rows = cas_rows(types({b16, b32, b64}), {7, 8}),
         .operands = {out("d"), place(), in("b"), in("c")},
         .ptx = "atom{.sem}{.space}{.op}{.type} {%d}, [{%a}], {%b}, {%c}",
         .atomic = true,
         .effects = effects<1>,
         .value = unknown,
         .run = run_cas},
        // ptxas 13.0 ends by a signal where a number stands for b or c.
        {.name = "atom.cas.b128",
         .summary = "the same of 128 bits, which are in registers",
         .section = "9.7.13.5",
         .rows = cas_rows(types({b128}), {8, 4}),
         .operands = {out("d"), place(), in("b", typed<Field::type>, Rule::reg),
                      in("c", typed<Field::type>, Rule::reg)},
         .ptx = "atom{.sem}{.space}{.op}{.type} {%d}, [{%a}], {%b}, {%c}",
         .atomic = true,
         .effects = effects<1>,
         .value = unknown,
         .run = run_wide},
    };
    return list;
}

}  // namespace wgrun::isa
