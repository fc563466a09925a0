#include "isa/foreign.hpp"

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/generic.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

// --- arithmetic of several words (PTX ISA 9.7.2) -------------------------------------------------------

/// Returns a + b + carry and the carry out of it.
template <class T>
std::pair<T, bool> sum(T a, T b, bool carry) {
    const auto once = static_cast<T>(a + b), all = static_cast<T>(once + (carry ? 1 : 0));
    return {all, once < a || all < once};
}

/// Returns the low or the high half of a product.
template <class T>
T half_of_product(const Step& s, T a, T b) {
    __extension__ using Wide = unsigned __int128;
    __extension__ using Signed = __int128;
    const bool high = spelled(Field::half, s.form.get(Field::half)) == "hi";
    const Type type = s.form.type();
    const Wide product = is_signed(type) ? static_cast<Wide>(Signed{static_cast<std::make_signed_t<T>>(a)} *
                                                             Signed{static_cast<std::make_signed_t<T>>(b)})
                                         : Wide{a} * Wide{b};
    return static_cast<T>(high ? product >> sizeof(T) * 8 : product);
}

const Operand& named(const Step& s, std::string_view name) { return s.operand(name); }

/// Calls f(a, b, c, carry in) in every lane, which returns the result and the carry out of it.
template <class F>
void run_carrying(const Step& s, Machine& m, bool reads, bool writes, F f) {
    const auto of = [&]<class T>(T) {
        const Lanes<T> a = read<T>(m, named(s, "a")), b = read<T>(m, named(s, "b"));
        Lanes<T> c{}, d{};
        Lanes<std::uint32_t> in{}, carried{};
        const bool product = s.form.has(Field::half);
        if (product) c = read<T>(m, named(s, "c"));
        if (reads) in = read<std::uint32_t>(m, named(s, "cc_in"));
        for (std::size_t l = 0; l < lanes; ++l) {
            const T left = product ? half_of_product(s, a[l], b[l]) : a[l];
            const auto [value, carry] = f(left, product ? c[l] : b[l], in[l] != 0);
            d[l] = value;
            carried[l] = carry ? 1 : 0;
        }
        write_reg(m, s.operands[0].reg, d);
        if (writes) write_reg(m, named(s, condition_code).reg, carried);
    };
    if (bits(s.form.type()) == 64)
        of(std::uint64_t{});
    else
        of(std::uint32_t{});
}

constexpr auto add_with = []<class T>(T a, T b, bool carry) { return sum(a, b, carry); };
/// a - b - borrow; the condition code is the borrow.
constexpr auto subtract_with = []<class T>(T a, T b, bool borrow) {
    const auto once = static_cast<T>(a - b), all = static_cast<T>(once - (borrow ? 1 : 0));
    return std::pair<T, bool>{all, a < b || once < all};
};

template <bool reads, bool writes>
void run_add(const Step& s, Machine& m) {
    run_carrying(s, m, reads, writes, add_with);
}
template <bool reads, bool writes>
void run_sub(const Step& s, Machine& m) {
    run_carrying(s, m, reads, writes, subtract_with);
}

OperandRule code_in() { return {"cc_in", Access::in, Rule::reg, fixed<pred>, nullptr, true, 0, {}}; }
OperandRule code_out() {
    return {condition_code, Access::out, Rule::reg, fixed<pred>, nullptr, true, {}, {}};
}

Instruction carrying(std::string_view name, std::string_view text, bool reads, bool writes, bool product,
                     void (*run)(const Step&, Machine&)) {
    Instruction op;
    op.name = name;
    op.summary = "arithmetic on numbers of several words: the condition code carries from one to the next";
    op.section = "9.7.2";
    Row row{{types({u32, s32, b32, u64, s64, b64})}, {7, 8}};
    if (product) row.choices.insert(row.choices.begin(), spelled_as(Field::half, {"lo", "hi"}));
    op.rows = {row};
    op.operands = {out("d"), in("a"), in("b")};
    if (product) op.operands.push_back(in("c"));
    if (reads) op.operands.push_back(code_in());
    if (writes) op.operands.push_back(code_out());
    op.ptx = text;
    op.work = Work::arithmetic;
    op.run = run;
    return op;
}

// --- lop3 with a predicate (PTX ISA 9.7.8.6) -----------------------------------------------------------

/// d = table(a, b, c), and p = (d != 0) op q.
template <bool conjunction>
void run_lop3_with(const Step& s, Machine& m) {
    Step table = s;
    table.op = find("lop3");
    table.operands.erase(table.operands.begin() + 1);
    table.operands.pop_back();
    const auto q = read<std::uint32_t>(m, s.operands[6]);
    table.op->run(table, m);
    const auto d = read<std::uint32_t>(m, Operand::of(s.operands[0].reg));
    Lanes<std::uint32_t> p;
    for (std::size_t l = 0; l < lanes; ++l)
        p[l] = conjunction ? (d[l] != 0 && q[l] != 0 ? 1 : 0) : (d[l] != 0 || q[l] != 0 ? 1 : 0);
    write_reg(m, s.operands[1].reg, p);
}

Instruction lop3_with(std::string_view name, std::string_view text, void (*run)(const Step&, Machine&)) {
    Instruction op;
    op.name = name;
    op.summary = "any function of the bits of a, b and c, and whether it has any, and or or a predicate";
    op.section = "9.7.8.6";
    op.rows = {{{types({b32})}, {8, 2}}};
    op.operands = {out("d"),
                   out("p", fixed<pred>),
                   in("a"),
                   in("b"),
                   in("c"),
                   {"table", Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, 255}},
                   in("q", fixed<pred>, Rule::reg)};
    op.ptx = text;
    op.work = Work::logic;
    op.value = [](const Step&, const ValueOf&) { return Value{}; };
    op.run = run;
    return op;
}

// --- variables of the module ---------------------------------------------------------------------------

/// A constant is read where its variable is, in global memory.
void run_ld_const(const Step& s, Machine& m) {
    Step load = s;
    load.op = find("ld");
    load.form.set(Field::space, static_cast<int>(Space::global));
    load.op->run(load, m);
}

Value value_of_load(const Step& s, const ValueOf& of) {
    return Value{.uniform = of(s.operands[1]).uniform, .constant = {}, .offset = {}};
}

std::vector<Row> constant_rows() {
    std::vector<Row> out;
    const Choice all = types({b8, u8, s8, b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64});
    const Choice narrow = types({b8, u8, s8, b16, u16, s16, b32, u32, s32, f32});
    for (const auto& [type, vec] : {std::pair{all, among(Field::vec, {1}, 1)},
                                    {all, among(Field::vec, {2})},
                                    {narrow, among(Field::vec, {4})}})
        out.push_back({{type, vec}, {7, 8}});
    return out;
}

Type loaded(const Form& form) { return register_type(form.type()); }

Instruction of_constants(std::string_view name, std::string_view text, std::string_view summary) {
    Instruction op;
    op.name = name;
    op.summary = summary;
    op.section = "9.7.9.20";
    op.rows = {{{types({u64})}, {7, 8}}};
    op.operands = {out("d"), in("a", typed<Field::type>, Rule::reg)};
    op.ptx = text;
    op.value = [](const Step& s, const ValueOf& of) { return of(s.operands[1]); };
    op.run = [](const Step& s, Machine& m) {
        write_reg(m, s.operands[0].reg, read<std::uint64_t>(m, s.operands[1]));
    };
    return op;
}

Instruction load_of_constants() {
    Instruction op;
    op.name = "ld.const";
    op.summary = "loads one, two or four values of a constant variable";
    op.section = "9.7.9.8";
    op.rows = constant_rows();
    op.operands = {{"d", Access::out, Rule::reg | Rule::list, loaded, vec, false, {}, {}}, wide_address("a")};
    op.ptx = "ld.const{.vec}{.type} {%d}, [{%a}]";
    op.widens = true;
    op.value = value_of_load;
    op.run = run_ld_const;
    return op;
}

Instruction prefetch_of_map(std::string_view name, std::string_view text) {
    Instruction op;
    op.name = name;
    op.summary = "prefetches a tensor map for later bulk tensor copies";
    op.section = "9.7.9.15";
    op.rows = {{{}, {8, 0}}};
    op.operands = {wide_address("map")};
    op.ptx = text;
    op.effects = [](const Step&, Effects& e) { e.prefetch(); };
    op.run = [](const Step&, Machine&) {};
    return op;
}

/// With the option of short pointers, compilers have addresses of 32 bits.
Instruction narrow_local_address() {
    Instruction op;
    op.name = "local.address.narrow";
    op.summary = "the address, in the local space, of a byte of the thread's local memory, in 32 bits";
    op.section = "9.7.9.1";
    op.rows = {{{types({u32, b32, s32})}, {7, 8}}};
    op.operands = {out("d"),
                   {"offset", Access::in, Rule::imm, fixed<u32>, nullptr, false, 0, Range{0, 1 << 19}}};
    op.ptx = "mov{.type} {%d}, wgrun_local+{%offset}";
    op.value = [](const Step&, const ValueOf&) {
        return Value{.uniform = Uniform::grid, .constant = {}, .offset = {}};
    };
    op.run = [](const Step& s, Machine& m) {
        Lanes<std::uint32_t> d;
        d.fill(static_cast<std::uint32_t>(local_base + static_cast<std::uint64_t>(s.operands[1].imm)));
        write_reg(m, s.operands[0].reg, d);
    };
    return op;
}

}  // namespace

std::span<const Instruction> foreign_family() {
    static const std::vector<Instruction> list{
        carrying("add.cc", "add.cc{.type} {%d}, {%a}, {%b}", false, true, false, run_add<false, true>),
        carrying("addc", "addc{.type} {%d}, {%a}, {%b}", true, false, false, run_add<true, false>),
        carrying("addc.cc", "addc.cc{.type} {%d}, {%a}, {%b}", true, true, false, run_add<true, true>),
        carrying("sub.cc", "sub.cc{.type} {%d}, {%a}, {%b}", false, true, false, run_sub<false, true>),
        carrying("subc", "subc{.type} {%d}, {%a}, {%b}", true, false, false, run_sub<true, false>),
        carrying("subc.cc", "subc.cc{.type} {%d}, {%a}, {%b}", true, true, false, run_sub<true, true>),
        carrying("mad.cc", "mad{.half}.cc{.type} {%d}, {%a}, {%b}, {%c}", false, true, true,
                 run_add<false, true>),
        carrying("madc", "madc{.half}{.type} {%d}, {%a}, {%b}, {%c}", true, false, true,
                 run_add<true, false>),
        carrying("madc.cc", "madc{.half}.cc{.type} {%d}, {%a}, {%b}, {%c}", true, true, true,
                 run_add<true, true>),
        lop3_with("lop3.and", "lop3.and{.type} {%d}|{%p}, {%a}, {%b}, {%c}, {%table}, {%q}",
                  run_lop3_with<true>),
        lop3_with("lop3.or", "lop3.or{.type} {%d}|{%p}, {%a}, {%b}, {%c}, {%table}, {%q}",
                  run_lop3_with<false>),
        general_conversion(),
        narrow_local_address(),
        load_of_constants(),
        prefetch_of_map("prefetch.param.tensormap", "prefetch.param.tensormap [{%map}]"),
        prefetch_of_map("prefetch.const.tensormap", "prefetch.const.tensormap [{%map}]"),
        of_constants("cvta.const", "cvta.const{.type} {%d}, {%a}",
                     "converts the address of a constant to a generic one"),
        of_constants("cvta.to.const", "cvta.to.const{.type} {%d}, {%a}",
                     "converts a generic address to one of constants"),
    };
    return list;
}

}  // namespace wgrun::isa
