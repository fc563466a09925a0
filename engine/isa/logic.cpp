// Bits, shifts, comparisons and selection.
#include <cmath>

#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

void run_bits(const Step& s, Machine& m, std::uint64_t (*f)(std::uint64_t, std::uint64_t)) {
    const auto as = [&]<class T>(T) { map2<T, T>(s, m, [f](T a, T b) { return static_cast<T>(f(a, b)); }); };
    switch (s.form.type()) {
        case b16: return as(std::uint16_t{});
        case b64: return as(std::uint64_t{});
        default: return as(std::uint32_t{});  // b32 and pred
    }
}

void run_not(const Step& s, Machine& m) {
    switch (s.form.type()) {
        case pred: return map1<std::uint32_t, std::uint32_t>(s, m, [](std::uint32_t a) { return a ^ 1U; });
        case b16:
            return map1<std::uint16_t, std::uint16_t>(
                s, m, [](std::uint16_t a) { return static_cast<std::uint16_t>(~a); });
        case b32: return map1<std::uint32_t, std::uint32_t>(s, m, [](std::uint32_t a) { return ~a; });
        default: return map1<std::uint64_t, std::uint64_t>(s, m, [](std::uint64_t a) { return ~a; });
    }
}

// Shift amounts of the operand's width and more are clamped to it (PTX ISA 9.7.8.7).
template <class T>
T shift_left(T a, std::uint32_t n) {
    return n >= sizeof(T) * 8 ? T{0} : static_cast<T>(a << n);
}
template <class T>
T shift_right(T a, std::uint32_t n) {
    constexpr std::uint32_t width = sizeof(T) * 8;
    if (n >= width) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
}

template <class T, class F>
void map_shift(const Step& s, Machine& m, F f) {
    const Lanes<T> a = read<T>(m, s.operands[1]);
    const Lanes<std::uint32_t> n = read<std::uint32_t>(m, s.operands[2]);
    Lanes<T> d;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = f(a[l], n[l]);
    write_reg<T>(m, s.operands[0].reg, d);
}

void run_shl(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) { map_shift<T>(s, m, shift_left<T>); });
}
void run_shr(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) { map_shift<T>(s, m, shift_right<T>); });
}

template <class T>
bool holds(std::string_view cmp, T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        const bool unordered = std::isnan(a) || std::isnan(b);
        if (cmp == "num") return !unordered;
        if (cmp == "nan") return unordered;
        if (unordered) return cmp.size() == 3 && cmp.back() == 'u';  // equ, neu, ltu, ...
        cmp = cmp.substr(0, 2);
    }
    if (cmp == "eq") return a == b;
    if (cmp == "ne") return a != b;
    if (cmp == "lt" || cmp == "lo") return a < b;
    if (cmp == "le" || cmp == "ls") return a <= b;
    if (cmp == "gt" || cmp == "hi") return a > b;
    return a >= b;  // ge, hs
}

void run_setp(const Step& s, Machine& m) {
    const std::string cmp = spelled(Field::cmp, s.form.get(Field::cmp));
    with_number(s.form.type(), [&]<class T>(T) {
        map2<std::uint32_t, T>(s, m,
                               [&](T a, T b) -> std::uint32_t { return holds(std::string_view(cmp), a, b); });
    });
}

void run_selp(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> p = read<std::uint32_t>(m, s.operands[3]);
    with_number(s.form.type(), [&]<class T>(T) {
        const Lanes<T> a = read<T>(m, s.operands[1]), b = read<T>(m, s.operands[2]);
        Lanes<T> d;
        for (std::size_t l = 0; l < lanes; ++l) d[l] = p[l] ? a[l] : b[l];
        write_reg<T>(m, s.operands[0].reg, d);
    });
}

/// Narrows `out` to groups of threads between whose borders tid.x >> shift cannot cross `border`.
Uniform split_at(std::int64_t border, int shift) {
    const std::int64_t thread = border << shift;
    if (thread <= 0 || thread >= 1024) return Uniform::cta;
    return thread % 128 == 0 ? Uniform::warpgroup : thread % 32 == 0 ? Uniform::warp : Uniform::thread;
}

/// Uniform over groups of 2^shift threads.
Uniform of_groups(int shift) {
    return shift >= 10  ? Uniform::cta
           : shift >= 7 ? Uniform::warpgroup
           : shift >= 5 ? Uniform::warp
                        : Uniform::thread;
}

Value value_setp(const Step& s, const ValueOf& of) {
    const Value a = of(s.operands[1]), b = of(s.operands[2]);
    Value out = joined(s, of);
    if (a.thread_shift >= 0 && b.thread_shift < 0 && b.uniform >= Uniform::cta) {
        out.uniform = of_groups(a.thread_shift);
        if (a.constant &&
            b.constant) {  // (tid.x >> shift) + a  <  b  splits the threads at one or two borders
            const std::int64_t border = *b.constant - *a.constant;
            const std::string cmp = spelled(Field::cmp, s.form.get(Field::cmp));
            const Uniform below = split_at(border, a.thread_shift),
                          above = split_at(border + 1, a.thread_shift);
            const bool first = cmp == "lt" || cmp == "ge" || cmp == "lo" || cmp == "hs";
            const bool last = cmp == "le" || cmp == "gt" || cmp == "ls" || cmp == "hi";
            out.uniform = std::max(out.uniform, first ? below : last ? above : std::min(below, above));
        }
    }
    return out;
}

Value value_shr(const Step& s, const ValueOf& of) {
    const Value a = of(s.operands[1]), n = of(s.operands[2]);
    Value out = joined(s, of);
    if (!n.constant || *n.constant < 0 || *n.constant > 31) return out;
    if (a.thread_shift >= 0 && a.constant) {
        out.thread_shift = a.thread_shift + static_cast<int>(*n.constant);
        const std::int64_t low = *a.constant & ((std::int64_t{1} << *n.constant) - 1);
        if (low == 0)
            out.constant = *a.constant >> *n.constant;
        else
            out.thread_shift = -1;
        out.uniform =
            std::max(out.uniform, out.thread_shift < 0 ? Uniform::thread : of_groups(out.thread_shift));
    } else if (a.constant) {
        out.constant = *a.constant >> *n.constant;
    }
    return out;
}

Value value_shl(const Step& s, const ValueOf& of) {
    const Value a = of(s.operands[1]), n = of(s.operands[2]);
    Value out = joined(s, of);
    if (a.constant && a.thread_shift < 0 && n.constant && *n.constant >= 0 && *n.constant < 63)
        out.constant = *a.constant << *n.constant;
    return out;
}

Value value_and(const Step& s, const ValueOf& of) {
    const Value a = of(s.operands[1]), b = of(s.operands[2]);
    Value out = joined(s, of);
    if (a.constant && b.constant && a.thread_shift < 0 && b.thread_shift < 0)
        out.constant = *a.constant & *b.constant;
    return out;
}

const Row bit_types{{types({pred, b16, b32, b64})}, {7, 8}};
const Row signed_or_unsigned{
    {spelled_as(Field::cmp, {"eq", "ne", "lt", "le", "gt", "ge"}), types({u16, s16, u32, s32, u64, s64})},
    {7, 8}};
const Row unsigned_names{{spelled_as(Field::cmp, {"lo", "ls", "hi", "hs"}), types({u16, u32, u64})}, {7, 8}};
const Row equality{{spelled_as(Field::cmp, {"eq", "ne"}), types({b16, b32, b64})}, {7, 8}};
const Row ordered{{spelled_as(Field::cmp, {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                           "gtu", "geu", "num", "nan"}),
                   types({f32, f64})},
                  {7, 8}};

const std::vector<Instruction> records{
    {.name = "and",
     .summary = "d = a & b",
     .section = "9.7.8.1",
     .rows = {bit_types},
     .operands = {out("d"), in("a"), in("b")},
     .ptx = "and{.type} {%d}, {%a}, {%b}",
     .value = value_and,
     .run = [](const Step& s,
               Machine& m) { run_bits(s, m, [](std::uint64_t a, std::uint64_t b) { return a & b; }); }},
    {.name = "or",
     .summary = "d = a | b",
     .section = "9.7.8.2",
     .rows = {bit_types},
     .operands = {out("d"), in("a"), in("b")},
     .ptx = "or{.type} {%d}, {%a}, {%b}",
     .run = [](const Step& s,
               Machine& m) { run_bits(s, m, [](std::uint64_t a, std::uint64_t b) { return a | b; }); }},
    {.name = "xor",
     .summary = "d = a ^ b",
     .section = "9.7.8.3",
     .rows = {bit_types},
     .operands = {out("d"), in("a"), in("b")},
     .ptx = "xor{.type} {%d}, {%a}, {%b}",
     .run = [](const Step& s,
               Machine& m) { run_bits(s, m, [](std::uint64_t a, std::uint64_t b) { return a ^ b; }); }},
    {.name = "not",
     .summary = "d = ~a",
     .section = "9.7.8.4",
     .rows = {bit_types},
     .operands = {out("d"), in("a")},
     .ptx = "not{.type} {%d}, {%a}",
     .run = run_not},
    {.name = "shl",
     .summary = "d = a << b; amounts of the width and more give 0",
     .section = "9.7.8.7",
     .rows = {{{types({b16, b32, b64})}, {7, 8}}},
     .operands = {out("d"), in("a"), in("b", fixed<u32>)},
     .ptx = "shl{.type} {%d}, {%a}, {%b}",
     .value = value_shl,
     .run = run_shl},
    {.name = "shr",
     .summary = "d = a >> b; arithmetic for signed types",
     .section = "9.7.8.8",
     .rows = {{{types({b16, u16, s16, b32, u32, s32, b64, u64, s64})}, {7, 8}}},
     .operands = {out("d"), in("a"), in("b", fixed<u32>)},
     .ptx = "shr{.type} {%d}, {%a}, {%b}",
     .value = value_shr,
     .run = run_shr},
    {.name = "setp",
     .summary = "p = a cmp b",
     .section = "9.7.6.2",
     .rows = {signed_or_unsigned, unsigned_names, equality, ordered},
     .operands = {out("p", fixed<pred>), in("a"), in("b")},
     .ptx = "setp{.cmp}{.type} {%p}, {%a}, {%b}",
     .value = value_setp,
     .run = run_setp},
    {.name = "selp",
     .summary = "d = p ? a : b",
     .section = "9.7.6.3",
     .rows = {{{types({b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64})}, {7, 8}}},
     .operands = {out("d"), in("a"), in("b"), in("p", fixed<pred>, OperandRule::reg)},
     .ptx = "selp{.type} {%d}, {%a}, {%b}, {%p}",
     .run = run_selp},
};

}  // namespace

std::span<const Instruction> logic_family() { return records; }

}  // namespace wgrun::isa
