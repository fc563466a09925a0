// wmma: matrix products of a warp, with fragments that only these instructions know (PTX ISA 9.7.14.4).
//
// The ISA does not say which element of a matrix a register holds, and code that depends on it is wrong. Here
// a lane holds neighbours of the matrix row by row, as many times as its registers have places: a fragment
// that is loaded, multiplied and stored in one shape gives the right result, and so does arithmetic that
// treats all elements alike.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/foreign.hpp"
#include "isa/lanes.hpp"
#include "isa/mma.hpp"
#include "number/number.hpp"

namespace wgrun::isa {
namespace wmma {
namespace {

using enum Type;
using Rule = OperandRule;

/// A fragment: the matrix that it is of, and the registers of a lane.
struct Fragment {
    int rows, columns;
    Type type;
    bool factor;  ///< A or B

    int elements() const { return rows * columns; }
    /// Factors of f16 have eight registers in every shape.
    int registers() const {
        if (type == f16 && factor) return 8;
        return elements() * bits(type) / (lanes * register_bits());
    }
    int register_bits() const { return std::max(32, bits(type)); }
    int in_register() const { return register_bits() / bits(type); }
    int in_lane() const { return elements() / lanes; }
    /// Returns the element at a place of a lane's registers.
    int element(std::size_t lane, int place) const {
        return static_cast<int>(lane) * in_lane() + place % in_lane();
    }
};

Fragment fragment(char role, const Form& form, Type type) {
    const int m = form.get(Field::m), n = form.get(Field::n), k = form.get(Field::k);
    if (role == 'a') return {m, k, type, true};
    if (role == 'b') return {k, n, type, true};
    return {m, n, type, false};
}

/// The types of the factors are not written where they are f16.
Type type_of(char role, const Form& form) {
    if (!form.has(Field::d)) return form.type();
    return role == 'd'          ? form.type(Field::d)
           : role == 'c'        ? form.type(Field::from)
           : form.has(Field::a) ? form.type(Field::a)
                                : f16;
}
template <char role>
Fragment of(const Form& form) {
    return fragment(role, form, type_of(role, form));
}
template <char role>
Type register_of(const Form& form) {
    const Type type = type_of(role, form);
    if (type == f64 || type == f32) return type;
    return type == f16 ? f16x2 : type == s32 ? s32 : b32;
}
template <char role>
int registers(const Form& form) {
    return of<role>(form).registers();
}
template <char role>
OperandRule list(Access access = Access::in) {
    static constexpr char name[] = {role, 0};
    return {name, access, Rule::list, register_of<role>, registers<role>, false, {}, {}};
}

// --- meaning -------------------------------------------------------------------------------------------

using Bits = std::vector<std::uint64_t>;  ///< of all elements, row by row

Bits read_fragment(Machine& m, const std::vector<Reg>& regs, const Fragment& of) {
    Bits out(static_cast<std::size_t>(of.elements()));
    for (int place = 0; place < of.in_lane(); ++place) {
        const Reg reg = regs[static_cast<std::size_t>(place / of.in_register())];
        const int shift = place % of.in_register() * bits(of.type);
        const std::uint64_t mask =
            bits(of.type) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits(of.type)) - 1;
        const auto take = [&]<class T>(T) {
            const Lanes<T> values = read_reg<T>(m, reg);
            for (std::size_t l = 0; l < lanes; ++l)
                out[static_cast<std::size_t>(of.element(l, place))] = values[l] >> shift & mask;
        };
        of.register_bits() == 64 ? take(std::uint64_t{}) : take(std::uint32_t{});
    }
    return out;
}

void write_fragment(Machine& m, const std::vector<Reg>& regs, const Fragment& of, const Bits& elements) {
    for (std::size_t r = 0; r < regs.size(); ++r) {
        const auto put = [&]<class T>(T) {
            Lanes<T> values{};
            for (std::size_t l = 0; l < lanes; ++l)
                for (int i = 0; i < of.in_register(); ++i) {
                    const int place = static_cast<int>(r) * of.in_register() + i;
                    values[l] |= static_cast<T>(elements[static_cast<std::size_t>(of.element(l, place))]
                                                << i * bits(of.type));
                }
            write_reg(m, regs[r], values);
        };
        of.register_bits() == 64 ? put(std::uint64_t{}) : put(std::uint32_t{});
    }
}

bool by_columns(const Step& s) { return s.op->ptx.find(".col.m") != std::string_view::npos; }

/// Calls visit(place, addresses) with where in memory the elements of one place of all lanes are.
template <class Visit>
void for_each_place(const Step& s, Machine& m, const Fragment& of, const Operand& address, Visit visit) {
    const Operand& given = s.operand("stride");
    const Space where = space(s.form);
    const Addresses base =
        is_shared(where) ? addresses_of<std::uint32_t>(m, address) : addresses_of<std::uint64_t>(m, address);
    const bool columns = by_columns(s);
    Counts stride{};
    if (given.kind != Operand::Kind::none) stride = counts_of<std::uint32_t>(m, given);
    for (int place = 0; place < of.in_lane(); ++place) {
        Addresses at = base;
        for (std::size_t l = 0; l < lanes; ++l) {
            const int element = of.element(l, place), row = element / of.columns,
                      column = element % of.columns;
            const std::int64_t apart = stride[l] != 0 ? stride[l] : columns ? of.rows : of.columns;
            const std::int64_t distance = columns ? column * apart + row : row * apart + column;
            at[l] += static_cast<std::uint64_t>(distance * bits(of.type) / 8);
        }
        visit(place, at);
    }
}

template <char role>
void run_load(const Step& s, Machine& m) {
    const Fragment fragment = of<role>(s.form);
    Bits elements(static_cast<std::size_t>(fragment.elements()));
    for_each_place(s, m, fragment, s.operands[1], [&](int place, const Addresses& at) {
        Lanes<std::uint64_t> data{};
        m.load(space(s.form), at, bits(fragment.type) / 8, data.data(), sizeof data[0]);
        for (std::size_t l = 0; l < lanes; ++l)
            elements[static_cast<std::size_t>(fragment.element(l, place))] = data[l];
    });
    write_fragment(m, s.operands[0].list, fragment, elements);
}

void run_store(const Step& s, Machine& m) {
    const Fragment fragment = of<'d'>(s.form);
    const Bits elements = read_fragment(m, s.operands[1].list, fragment);
    for_each_place(s, m, fragment, s.operands[0], [&](int place, const Addresses& at) {
        Lanes<std::uint64_t> data{};
        for (std::size_t l = 0; l < lanes; ++l)
            data[l] = elements[static_cast<std::size_t>(fragment.element(l, place))];
        m.store(space(s.form), at, bits(fragment.type) / 8, data.data(), sizeof data[0]);
    });
}

double number(Type type, std::uint64_t bits) {
    switch (type) {
        case f16: return from_f16(static_cast<std::uint16_t>(bits));
        case bf16: return from_bf16(static_cast<std::uint16_t>(bits));
        case f64: return std::bit_cast<double>(bits);
        case s8: return static_cast<std::int8_t>(bits);
        case u8: return static_cast<double>(bits);
        case s32: return static_cast<std::int32_t>(bits);
        case tf32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xFFFFE000U);
        default: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
}

std::uint64_t rounded(Type type, double value, bool saturates) {
    switch (type) {
        case f16: return to_f16(value);
        case f64: return std::bit_cast<std::uint64_t>(value);
        case f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        default: {
            const auto whole = static_cast<std::int64_t>(value);
            return static_cast<std::uint32_t>(
                saturates ? std::clamp<std::int64_t>(whole, INT32_MIN, INT32_MAX) : whole);
        }
    }
}

/// As mma.sync: products and integer sums are exact, sums of floats are computed in binary64 and rounded
/// once; those of binary64 are a chain of fma.
void run_mma(const Step& s, Machine& m) {
    const Fragment d = of<'d'>(s.form), a = of<'a'>(s.form), b = of<'b'>(s.form), c = of<'c'>(s.form);
    const Bits x = read_fragment(m, s.operands[1].list, a), y = read_fragment(m, s.operands[2].list, b),
               before = read_fragment(m, s.operands[3].list, c);
    Bits out(before.size());
    for (int row = 0; row < d.rows; ++row)
        for (int column = 0; column < d.columns; ++column) {
            const auto at = static_cast<std::size_t>(row * d.columns + column);
            double sum = number(c.type, before[at]);
            for (int i = 0; i < a.columns; ++i)
                sum = std::fma(number(a.type, x[static_cast<std::size_t>(row * a.columns + i)]),
                               number(b.type, y[static_cast<std::size_t>(i * b.columns + column)]), sum);
            out[at] = rounded(d.type, sum, s.form.get(Field::satfinite, 0) == 1);
        }
    write_fragment(m, s.operands[0].list, d, out);
    // No lane has its part of D before all lanes have loaded theirs of A, B and C.
    m.converge(m.active());
}

// --- the records ---------------------------------------------------------------------------------------

template <char role, int address>
void touches(const Step& s, Effects& e) {
    const Fragment fragment = of<role>(s.form);
    const int line = by_columns(s) ? fragment.rows : fragment.columns;
    e.memory({space(s.form), address == 0, &s.operands[address], line * bits(fragment.type) / 8});
}

Type address_type(const Form& form) { return is_shared(space(form)) ? u32 : u64; }
OperandRule place() { return {"p", Access::in, Rule::address, address_type, nullptr, false, {}, {}}; }
OperandRule stride() {
    return {"stride", Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, true, 0, {}};
}

/// The shapes of a type, with what else a row has.
void add_shapes(std::vector<Row>& rows, Type factor, const std::vector<Choice>& more) {
    using Shape = std::array<int, 3>;
    const std::vector<Shape> shapes = factor == tf32 ? std::vector{Shape{16, 16, 8}}
                                      : factor == f64
                                          ? std::vector{Shape{8, 8, 4}}
                                          : std::vector{Shape{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};
    for (const auto& [m, n, k] : shapes) {
        Row row{{among(Field::m, {m}), among(Field::n, {n}), among(Field::k, {k})}, {7, 8}};
        row.choices.insert(row.choices.end(), more.begin(), more.end());
        rows.push_back(std::move(row));
    }
}

Choice any_space() { return optional(spelled_as(Field::space, {"global", "shared", "shared::cta"})); }

Instruction record(std::string_view name, std::string text, std::vector<Row> rows,
                   std::vector<OperandRule> operands, void (*effects)(const Step&, Effects&),
                   void (*run)(const Step&, Machine&)) {
    static std::deque<std::string> texts;  // records have views
    Instruction op;
    op.name = name;
    op.summary = "of a matrix product of a warp, in fragments of their own";
    op.section = "9.7.14.4";
    op.rows = std::move(rows);
    op.operands = std::move(operands);
    op.ptx = texts.emplace_back(std::move(text));
    op.taken_by = Participants::warp;
    op.effects = effects;
    op.value = [](const Step&, const ValueOf&) { return Value{}; };
    op.run = run;
    return op;
}

template <char role>
void add_load(std::vector<Instruction>& out, std::string_view layout) {
    std::vector<Row> rows;
    if constexpr (role == 'c') {
        for (const Type type : {f16, f32, s32}) add_shapes(rows, f16, {any_space(), types({type})});
        add_shapes(rows, tf32, {any_space(), types({f32})});
        add_shapes(rows, f64, {any_space(), types({f64})});
    } else {
        for (const Type type : {f16, bf16, s8, u8, tf32, f64})
            add_shapes(rows, type, {any_space(), types({type})});
    }
    static constexpr std::string_view name = role == 'a'   ? "wmma.load.a"
                                             : role == 'b' ? "wmma.load.b"
                                                           : "wmma.load.c";
    OperandRule fragment = list<role>(Access::out);
    fragment.name = "r";
    out.push_back(record(
        name,
        fmt::format("{}.sync.aligned.{}.m{{m}}n{{n}}k{{k}}{{.space}}{{.type}} {{%r}}, [{{%p}}]{{,%stride}}",
                    name, layout),
        std::move(rows), {fragment, place(), stride()}, touches<role, 1>, run_load<role>));
}

void add_store(std::vector<Instruction>& out, std::string_view layout) {
    std::vector<Row> rows;
    for (const Type type : {f16, f32, s32}) add_shapes(rows, f16, {any_space(), types({type})});
    add_shapes(rows, tf32, {any_space(), types({f32})});
    add_shapes(rows, f64, {any_space(), types({f64})});
    out.push_back(record(
        "wmma.store.d",
        fmt::format(
            "wmma.store.d.sync.aligned.{}.m{{m}}n{{n}}k{{k}}{{.space}}{{.type}} [{{%p}}], {{%d}}{{,%stride}}",
            layout),
        std::move(rows), {place(), list<'d'>(), stride()}, touches<'d', 0>, run_store));
}

void add_products(std::vector<Instruction>& out, std::string_view layouts) {
    const auto add = [&](std::string_view types_of, std::vector<Row> rows) {
        Instruction op = record(
            "wmma.mma",
            fmt::format("wmma.mma.sync.aligned.{}.m{{m}}n{{n}}k{{k}}{} {{%d}}, {{%a}}, {{%b}}, {{%c}}",
                        layouts, types_of),
            std::move(rows), {list<'d'>(Access::out), list<'a'>(), list<'b'>(), list<'c'>()},
            [](const Step& s, Effects& e) {
                e.multiply(
                    {&s.operands[0].list, &s.operands[1].list, &s.operands[2].list, &s.operands[3].list});
                e.converge();
            },
            run_mma);
        op.work = Work::products;
        out.push_back(std::move(op));
    };
    std::vector<Row> halves, others;
    add_shapes(halves, f16, {types(Field::d, {f16, f32}), types(Field::from, {f16, f32})});
    for (const Type type : {bf16, tf32})
        add_shapes(others, type,
                   {types(Field::d, {f32}), types(Field::a, {type}), types(Field::b, {type}),
                    types(Field::from, {f32})});
    for (const Type type : {s8, u8})
        add_shapes(others, type,
                   {types(Field::d, {s32}), types(Field::a, {type}), types(Field::b, {type}),
                    types(Field::from, {s32}), flag(Field::satfinite)});
    add_shapes(others, f64,
               {types(Field::d, {f64}), types(Field::a, {f64}), types(Field::b, {f64}),
                types(Field::from, {f64}), optional(spelled_as(Field::round, {"rn"}))});
    add("{.d}{.from}", std::move(halves));
    add("{.d}{.a}{.b}{.from}{.round}{.satfinite}", std::move(others));
}

}  // namespace

/// Returns the records of all layouts.
static std::vector<Instruction> records() {
    std::vector<Instruction> out;
    for (const std::string_view layout : {"row", "col"}) {
        add_load<'a'>(out, layout);
        add_load<'b'>(out, layout);
        add_load<'c'>(out, layout);
        add_store(out, layout);
        for (const std::string_view other : {"row", "col"})
            add_products(out, fmt::format("{}.{}", layout, other));
    }
    return out;
}

}  // namespace wmma

std::span<const Instruction> wmma_family() {
    static const std::vector<Instruction> all = wmma::records();
    return all;
}

}  // namespace wgrun::isa
