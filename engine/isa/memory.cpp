// Loads and stores of the generic proxy, scalar and vector.
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/order.hpp"
#include "isa/parameter_read.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

/// Returns the register type: 8-bit values are in registers of 16 bits, because PTX has no smaller ones.
Type loaded(const Form& form) { return register_type(form.type()); }

Addresses addresses(Machine& m, const Operand& address, Space space) {
    return is_shared(space) ? addresses_of<std::uint32_t>(m, address)
                            : addresses_of<std::uint64_t>(m, address);
}

/// Returns the registers of a scalar or vector data operand.
std::span<const Reg> data_registers(const Operand& operand) {
    return operand.kind == Operand::Kind::list ? std::span(operand.list) : std::span(&operand.reg, 1);
}

void load(const Step& s, Machine& m, Space space) {
    const int size = element_bytes(s.form), count = vec(s.form);
    alignas(16) std::array<std::byte, std::size_t{lanes} * widest> data{};
    m.load(space, addresses(m, s.operands[1], space), size * count, data.data(), widest);
    const std::span<const Reg> regs = data_registers(s.operands[0]);
    for (std::size_t i = 0; i < regs.size(); ++i) {
        const auto gather = [&]<class T>(T) {
            Lanes<T> d;
            for (std::size_t l = 0; l < lanes; ++l)
                std::memcpy(&d[l], data.data() + l * widest + i * static_cast<std::size_t>(size), sizeof(T));
            return d;
        };
        if (size == 16)
            write_reg(m, regs[i], gather(Bits128{}));
        else if (size == 8)
            write_reg(m, regs[i], gather(std::uint64_t{}));
        else if (size == 4)
            write_reg(m, regs[i], gather(std::uint32_t{}));
        else if (size == 2)
            write_reg(m, regs[i], gather(std::uint16_t{}));
        else if (s.form.type() == s8) {
            Lanes<std::int16_t> d;
            const Lanes<std::int8_t> narrow = gather(std::int8_t{});
            // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is wanted
            for (std::size_t l = 0; l < lanes; ++l) d[l] = narrow[l];
            write_reg(m, regs[i], d);
        } else
            write_reg(m, regs[i], gather(std::uint8_t{}));
    }
}

void run_ld(const Step& s, Machine& m) { load(s, m, space(s.form)); }

void run_st(const Step& s, Machine& m) {
    const int size = element_bytes(s.form), count = vec(s.form);
    alignas(16) std::array<std::byte, std::size_t{lanes} * widest> data{};
    const Operand& value = s.operands[1];
    for (int i = 0; i < count; ++i) {
        const Operand part =
            value.kind == Operand::Kind::list ? Operand::of(value.list[static_cast<std::size_t>(i)]) : value;
        const auto scatter = [&]<class T>(T) {
            const Lanes<T> v = read<T>(m, part);
            for (std::size_t l = 0; l < lanes; ++l)
                std::memcpy(data.data() + l * widest + static_cast<std::size_t>(i * size), &v[l], sizeof(T));
        };
        if (size == 16)
            scatter(Bits128{});
        else if (size == 8)
            scatter(std::uint64_t{});
        else if (size == 4)
            scatter(std::uint32_t{});
        else if (size == 2)
            scatter(std::uint16_t{});
        else
            scatter(std::uint8_t{});
    }
    m.store(space(s.form), addresses(m, s.operands[0], space(s.form)), size * count, data.data(), widest);
}

void effects_ld(const Step& s, Effects& e) {
    if (order_of(s).acquire) e.await_arrivals();
    e.memory({space(s.form), false, &s.operands[1], element_bytes(s.form) * vec(s.form)});
}
void effects_st(const Step& s, Effects& e) {
    e.memory({space(s.form), true, &s.operands[0], element_bytes(s.form) * vec(s.form)});
}

/// The value read from one address is the same for all threads that read it there.
Value value_ld(const Step& s, const ValueOf& of) {
    Value out;
    out.uniform = of(s.operands[1]).uniform;
    return out;
}

/// Parameters are the same for the whole grid.
Value value_ld_param(const Step& s, const ValueOf& of) {
    Value out;
    out.uniform = s.operands[1].kind == Operand::Kind::param ? Uniform::grid : of(s.operands[1]).uniform;
    return out;
}

Choice scalar() { return types({b8, u8, s8, b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64}); }
Choice scalar_of_four() { return types({b8, u8, s8, b16, u16, s16, b32, u32, s32, f32}); }
struct Size {
    Choice type, vec;
    PtxVersion version;
};
/// Scalars, and vectors of at most 16 bytes.
std::vector<Size> sizes() {
    return {{scalar(), among(Field::vec, {1}, 1), {7, 8}},
            {scalar(), among(Field::vec, {2}), {7, 8}},
            {scalar_of_four(), among(Field::vec, {4}), {7, 8}},
            {only(b128), among(Field::vec, {1}, 1), {8, 3}}};
}
/// Without a space the address is generic.
Choice every_space() {
    return optional(
        spelled_as(Field::space, {"global", "shared", "shared::cta", "shared::cluster", "local"}));
}
Choice shared_spaces() { return spelled_as(Field::space, {"shared", "shared::cta", "shared::cluster"}); }
Choice global_space() {
    return [] {
        Choice out = spelled_as(Field::space, {"global"});
        out.asked = true;
        return out;
    }();
}

/// Adds a row for each size, with these further qualifiers. `least`: the PTX version that has 128 bits with
/// them.
void add_sizes(std::vector<Row>& rows, const Choice& space, const std::vector<Choice>& more,
               PtxVersion least = {8, 3}) {
    for (const auto& [type, vec, version] : sizes()) {
        rows.push_back({{space, type, vec}, type.allows(static_cast<int>(b128)) ? least : version});
        rows.back().choices.insert(rows.back().choices.end(), more.begin(), more.end());
    }
}

Choice evictions() {
    return spelled_as(Field::evict, {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                                     "L1::evict_last", "L1::no_allocate"});
}

/// Adds strong accesses: volatile ones, and `order` or relaxed in a scope. Those to global memory may have an
/// eviction priority and `more`.
void add_strong(std::vector<Row>& rows, std::string_view order, const std::vector<Choice>& more) {
    const Choice is_volatile = spelled_as(Field::sem, {"volatile"}), sem = in_all_scopes({"relaxed", order});
    const auto strong = [](Choice choice) {
        choice.asked = true;
        return choice;
    };
    constexpr PtxVersion with_all_scopes{8, 4};
    add_sizes(rows, optional(shared_spaces()), {sem}, with_all_scopes);
    add_sizes(rows, optional(shared_spaces()), {strong(is_volatile)});
    std::vector<Choice> of_global{sem, optional(evictions()), cache_hint()};
    of_global.insert(of_global.end(), more.begin(), more.end());
    add_sizes(rows, global_space(), of_global, with_all_scopes);
    of_global.assign({strong(is_volatile)});
    of_global.insert(of_global.end(), more.begin(), more.end());
    add_sizes(rows, global_space(), of_global);
    for (const auto& [type, version] : {std::pair{scalar(), PtxVersion{8, 2}}, {only(b128), {8, 4}}})
        rows.push_back({{global_space(), type, among(Field::vec, {1}, 1),
                         strong(spelled_as(Field::sem, {"mmio.relaxed.sys"}))},
                        version});
}

/// Global memory has caches: rows have a cache operator or an eviction priority, but not both, and qualifiers
/// for L2.
std::vector<Row> load_rows() {
    std::vector<Row> out;
    add_sizes(out, every_space(), {});
    const Choice prefetch = optional(spelled_as(Field::prefetch, {"L2::64B", "L2::128B", "L2::256B"}));
    const Choice nc = flag(Field::nc);
    add_sizes(out, global_space(),
              {optional(spelled_as(Field::cop, {"ca", "cg", "cs"})), nc, cache_hint(), prefetch});
    add_sizes(out, global_space(), {spelled_as(Field::cop, {"lu", "cv"}), cache_hint(), prefetch});
    add_sizes(out, global_space(), {evictions(), nc, cache_hint(), prefetch});
    add_strong(out, "acquire", {prefetch});
    return out;
}

std::vector<Row> parameter_rows() {
    std::vector<Row> out;
    for (const auto& [type, vec, version] : sizes()) out.push_back({{type, vec}, version});
    return out;
}

std::vector<Row> store_rows() {
    std::vector<Row> out;
    add_sizes(out, every_space(), {});
    add_sizes(out, global_space(),
              {optional(spelled_as(Field::cop, {"wb", "cg", "cs", "wt"})), cache_hint()});
    add_sizes(out, global_space(), {evictions(), cache_hint()});
    add_strong(out, "release", {});
    return out;
}

/// Returns the type of an address: a register of the space's width, or a shared buffer; with a byte offset.
Type address_type(const Form& form) { return is_shared(space(form)) ? u32 : u64; }

}  // namespace

std::optional<ParameterRead> parameter_read(const Step& step) {
    if (step.op->name != "ld.param" && step.op->name != "ld.param.at") return {};
    const Operand& from = step.operands[1];
    if (from.kind != Operand::Kind::param) return {};
    return ParameterRead{from.index, from.offset, element_bytes(step.form) * vec(step.form)};
}

std::span<const Instruction> memory_family() {
    static const std::vector<Instruction> list{
        {.name = "ld",
         .summary = "loads one, two or four values",
         .section = "9.7.9.8",
         .rows = load_rows(),
         .operands = {{"d", Access::out, Rule::reg | Rule::list, loaded, vec, false, {}, {}},
                      {"a", Access::in, Rule::address, address_type, nullptr, false, {}, {}},
                      cache_policy()},
         .ptx = "ld{.sem}{.space}{.cop}{.nc}{.evict}{.cache}{.prefetch}{.vec}{.type} {%d}, [{%a}]{,%policy}",
         .widens = true,
         .effects = effects_ld,
         .value = value_ld,
         .run = run_ld},
        // Nobody writes there: it has no effects.
        {.name = "ld.param.at",
         .summary = "loads one, two or four values of parameters, from an address in the parameter space",
         .section = "9.7.9.8",
         .rows = parameter_rows(),
         .operands = {{"d", Access::out, Rule::reg | Rule::list, loaded, vec, false, {}, {}},
                      {"a", Access::in, Rule::address | Rule::param, fixed<u64>, nullptr, false, {}, {}}},
         .ptx = "ld.param{.vec}{.type} {%d}, [{%a}]",
         .widens = true,
         .value = value_ld_param,
         .run = [](const Step& s, Machine& m) { load(s, m, Space::param); }},
        {.name = "st",
         .summary = "stores one, two or four values",
         .section = "9.7.9.11",
         .rows = store_rows(),
         .operands = {{"a", Access::in, Rule::address, address_type, nullptr, false, {}, {}},
                      {"b", Access::in, Rule::reg | Rule::imm | Rule::list, loaded, vec, false, {}, {}},
                      cache_policy()},
         .ptx = "st{.sem}{.space}{.cop}{.evict}{.cache}{.vec}{.type} [{%a}], {%b}{,%policy}",
         .widens = true,
         .effects = effects_st,
         .run = run_st},
    };
    return list;
}

}  // namespace wgrun::isa
