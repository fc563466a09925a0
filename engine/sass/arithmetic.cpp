#include "sass/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wgrun::sass {
namespace {

using Kind = Source::Kind;

std::string_view parts_of(const Instruction& one) {
    const std::size_t dot = one.mnemonic.find('.');
    return dot == std::string_view::npos ? std::string_view() : one.mnemonic.substr(dot);
}

std::int32_t as_signed(std::uint32_t bits) { return static_cast<std::int32_t>(bits); }

/// The sources of an instruction in order; each may be missing, and what is computed of it is not known then.
class Computation {
  public:
    Computation(const Instruction& one, const Decoded& decoded, File& file)
        : one_(one), decoded_(decoded), operands_(decoded.operands), file_(file), first_(decoded.results) {
        while (first_ + 1 + carries_ < operands_.size() &&
               operands_[first_ + 1 + carries_].kind == Kind::predicate)
            ++carries_;
    }

    bool run();

  private:
    bool has(std::string_view part) const { return one_.has(part); }
    bool is(std::string_view name) const { return decoded_.name == name; }
    /// Source i behind the result.
    const Source* source(std::size_t i) const {
        const std::size_t at = first_ + 1 + carries_ + i;
        return at < operands_.size() ? &operands_[at] : nullptr;
    }
    std::size_t count() const {
        const std::size_t before = first_ + 1 + carries_;
        return operands_.size() > before ? operands_.size() - before : 0;
    }
    Word word(std::size_t i) const {
        const Source* from = source(i);
        return from == nullptr ? Word{} : word_of(*from, file_);
    }
    Known64 wide(std::size_t i) const {
        const Source* from = source(i);
        return from == nullptr ? Known64{} : wide_of(*from, file_);
    }
    std::optional<bool> truth(std::size_t i) const {
        const Source* from = source(i);
        return from == nullptr ? std::nullopt : truth_of(*from, file_);
    }
    bool predicate(std::size_t i) const {
        const Source* from = source(i);
        return from != nullptr && from->kind == Kind::predicate;
    }

    void result(Word value) { file_.set(decoded_.uniform, operands_[first_].index, value); }
    void result(bool known, std::uint32_t bits) { result(Word{bits, known}); }
    void result_wide(Known64 value) { file_.set_wide(decoded_.uniform, operands_[first_].index, value); }
    void carry(std::size_t which, std::optional<bool> value) {
        if (which < carries_) file_.set(static_cast<Predicate>(operands_[first_ + 1 + which].index), value);
    }

    /// Of LOP3, whose predicate stands before its result.
    void nonzero(std::optional<bool> value) {
        if (first_ > 0) file_.set(static_cast<Predicate>(operands_[0].index), value);
    }

    void add();
    void add_wide();
    void multiply();
    void shift();
    void scale();
    void permute();
    void compare();
    void logic();
    void logic_of_predicates();
    void extremum(Word a, Word b, std::optional<bool> least);
    void to_integer();
    void to_float();

    const Instruction& one_;
    const Decoded& decoded_;
    const std::vector<Source>& operands_;
    File& file_;
    std::size_t first_;        ///< the operand that is the result
    std::size_t carries_ = 0;  ///< predicates behind it, which are results too
};

/// Sums of three with carries: -x is ~x + 1, and what that carries counts.
void Computation::add() {
    std::uint64_t sum = 0;
    bool known = true;
    const bool extended = has("X");
    for (std::size_t i = 0; i < 3 && i < count() && !predicate(i); ++i) {
        const Source& from = *source(i);
        Source plain = from;
        plain.minus = plain.inverted = false;
        Word value = word_of(plain, file_);
        known = known && value.known;
        if (from.kind == Kind::number) {
            sum += static_cast<std::uint32_t>(from.number);
        } else if (from.minus && !extended) {
            sum += std::uint64_t{~value.bits} + 1;
        } else {
            sum += from.minus || from.inverted ? ~value.bits : value.bits;
        }
    }
    if (extended)
        for (std::size_t i = 0; i < count(); ++i) {
            if (!predicate(i)) continue;
            const std::optional<bool> in = truth(i);
            known = known && in;
            sum += in.value_or(false) ? 1 : 0;
        }
    const std::uint64_t carries = sum >> 32;
    result(known, static_cast<std::uint32_t>(sum));
    carry(0, known ? std::optional(carries >= 1) : std::nullopt);
    carry(1, known ? std::optional(carries >= 2) : std::nullopt);
}

void Computation::add_wide() {
    Known64 sum{0, true};
    for (std::size_t i = 0; i < 3 && i < count(); ++i) {
        const Known64 value = wide(i);
        sum.bits += value.bits;
        sum.known = sum.known && value.known;
    }
    result_wide(sum);
}

void Computation::multiply() {
    const bool is_unsigned = has("U32"), high = has("HI"), full = has("WIDE");
    const Word a = word(0), b = word(1);
    bool known = a.known && b.known;
    const std::uint64_t product =
        is_unsigned ? std::uint64_t{a.bits} * b.bits
                    : static_cast<std::uint64_t>(std::int64_t{as_signed(a.bits)} * as_signed(b.bits));
    if (!high && !full) {
        const Word c = word(2);
        std::uint64_t sum = static_cast<std::uint32_t>(product);
        known = known && c.known;
        sum += c.bits;
        if (has("X")) {
            const std::optional<bool> in = truth(3);
            known = known && in;
            sum += in.value_or(false) ? 1 : 0;
        }
        result(known, static_cast<std::uint32_t>(sum));
        carry(0, known && !has("X") && is_unsigned ? std::optional((sum >> 32) != 0) : std::nullopt);
        return;
    }
    const Known64 c = wide(2);
    known = known && c.known;
    std::uint64_t sum = product + c.bits;
    bool over = sum < product;
    if (has("X")) {
        const std::optional<bool> in = truth(3);
        known = known && in;
        if (in.value_or(false)) over = ++sum == 0 || over;
    }
    carry(0, known && is_unsigned ? std::optional(over) : std::nullopt);
    if (high)
        result(known, static_cast<std::uint32_t>(sum >> 32));
    else
        result_wide({sum, known});
}

/// SHF.L, SHF.R: of the pair of its first and its third source.
void Computation::shift() {
    const Word low = word(0), by = word(1), high = word(2);
    const bool right = has("R"), whole = has("U64") || has("S64"), is_signed = has("S32") || has("S64");
    const std::uint32_t most = whole ? 63 : 32;
    std::uint32_t steps = has("W") ? by.bits & (whole ? 63 : 31) : std::min(by.bits, whole ? 64U : most);
    std::uint64_t value = std::uint64_t{high.bits} << 32 | low.bits;
    if (right) {
        if (is_signed)
            value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> std::min(steps, 63U));
        else
            value = steps > 63 ? 0 : value >> steps;
    } else {
        value = steps > 63 ? 0 : value << steps;
    }
    const bool known =
        by.known && (low.known || (right && has("HI"))) && (high.known || (!right && !has("HI")));
    result(known, static_cast<std::uint32_t>(has("HI") ? value >> 32 : value));
}

/// LEA: its first source, shifted, and a sum. HI: of the pair of the first and the third one the upper half.
void Computation::scale() {
    const Source* negated = source(0);
    Word a = word(0);
    const Word b = word(1);
    const bool high = has("HI"), sign = has("SX32");
    const std::size_t at = high && !sign ? 3 : 2;
    const Source* shift = source(at);
    if (negated == nullptr || shift == nullptr || shift->kind != Kind::number)
        return result(false, 0), carry(0, std::nullopt);
    const auto steps = static_cast<unsigned>(shift->number) & 31;
    bool known = a.known && b.known;
    std::uint64_t addend = std::uint64_t{a.bits} << steps;
    if (high) {
        const Word c = sign ? Word{as_signed(a.bits) < 0 ? UINT32_MAX : 0, a.known} : word(2);
        known = known && c.known;
        addend = ((std::uint64_t{c.bits} << 32 | a.bits) << steps) >> 32;
    }
    addend &= UINT32_MAX;
    std::uint64_t sum = addend + b.bits;
    if (has("X")) {
        const std::optional<bool> in = truth(at + 1);
        known = known && in;
        sum += in.value_or(false) ? 1 : 0;
    }
    result(known, static_cast<std::uint32_t>(sum));
    carry(0, known ? std::optional((sum >> 32) != 0) : std::nullopt);
}

void Computation::permute() {
    const Word a = word(0), selector = word(1), b = word(2);
    if (parts_of(one_).size() > 0) return result(false, 0);
    const std::uint64_t bytes = std::uint64_t{b.bits} << 32 | a.bits;
    std::uint32_t out = 0;
    bool needs_a = false, needs_b = false;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned nibble = selector.bits >> (4 * i) & 15;
        (nibble % 8 < 4 ? needs_a : needs_b) = true;
        auto byte = static_cast<std::uint32_t>(bytes >> (8 * (nibble & 7)) & 0xFF);
        if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
        out |= byte << (8 * i);
    }
    result(selector.known && (a.known || !needs_a) && (b.known || !needs_b), out);
}

bool holds(const Instruction& one, bool less, bool equal) {
    if (one.has("LT")) return less;
    if (one.has("LE")) return less || equal;
    if (one.has("GT")) return !less && !equal;
    if (one.has("GE")) return !less;
    if (one.has("EQ")) return equal;
    return !equal;
}

/// ISETP P, Q, a, b, c: P is the comparison and c, Q its contrary and c. EX: of upper halves, the lower ones
/// are compared already.
void Computation::compare() {
    const Word a = word_of(operands_[2], file_), b = word_of(operands_[3], file_);
    const std::optional<bool> other = operands_.size() > 4 ? truth_of(operands_[4], file_) : true;
    std::optional<bool> is;
    if (has("T"))
        is = true;
    else if (has("F"))
        is = false;
    else if (a.known && b.known) {
        const bool less = has("U32") ? a.bits < b.bits : as_signed(a.bits) < as_signed(b.bits);
        const bool equal = a.bits == b.bits;
        if (!has("EX")) {
            is = holds(one_, less, equal);
        } else {
            const std::optional<bool> lower =
                operands_.size() > 5 ? truth_of(operands_[5], file_) : std::nullopt;
            is = equal ? lower : std::optional(holds(one_, less, false));
        }
    }
    const auto with = [&](std::optional<bool> value) -> std::optional<bool> {
        if (has("OR")) {
            if ((value && *value) || (other && *other)) return true;
            return value && other ? std::optional(false) : std::nullopt;
        }
        if (has("XOR")) return value && other ? std::optional(*value != *other) : std::nullopt;
        if ((value && !*value) || (other && !*other)) return false;
        return value && other ? std::optional(true) : std::nullopt;
    };
    file_.set(static_cast<Predicate>(operands_[0].index), with(is));
    file_.set(static_cast<Predicate>(operands_[1].index), with(is ? std::optional(!*is) : std::nullopt));
}

void Computation::logic() {
    const Source* table = source(3);
    if (table == nullptr || table->kind != Kind::number) return result(false, 0), nonzero(std::nullopt);
    const auto rows = static_cast<unsigned>(table->number);
    const std::array<Word, 3> in{word(0), word(1), word(2)};
    // A bit is known where the table gives one value for all that is not known.
    std::uint32_t can_be_1 = 0, can_be_0 = 0;
    for (unsigned row = 0; row < 8; ++row) {
        std::uint32_t possible = UINT32_MAX;
        for (unsigned i = 0; i < 3; ++i) {
            if (!in[i].known) continue;
            possible &= ((row >> (2 - i)) & 1) != 0 ? in[i].bits : ~in[i].bits;
        }
        (((rows >> row) & 1) != 0 ? can_be_1 : can_be_0) |= possible;
    }
    const bool known = (can_be_1 & can_be_0) == 0;
    result(known, can_be_1);
    std::optional<bool> any;
    if (known)
        any = can_be_1 != 0;
    else if ((can_be_1 & ~can_be_0) != 0)
        any = true;
    const std::optional<bool> with = predicate(4) ? truth(4) : std::nullopt;
    if (has("PAND"))
        nonzero(any && with ? std::optional(*any && *with) : std::nullopt);
    else if (any && *any)
        nonzero(true);
    else
        nonzero(any && with ? std::optional(*with) : std::nullopt);
}

void Computation::logic_of_predicates() {
    std::array<std::optional<bool>, 3> in;
    for (std::size_t i = 0; i < 3; ++i) in[i] = truth_of(operands_[2 + i], file_);
    for (std::size_t which = 0; which < 2; ++which) {
        if (operands_.size() <= 5 + which || operands_[5 + which].kind != Kind::number) {
            file_.set(static_cast<Predicate>(operands_[which].index), std::nullopt);
            continue;
        }
        const auto table = static_cast<unsigned>(operands_[5 + which].number);
        bool can_hold = false, can_fail = false;
        for (unsigned row = 0; row < 8; ++row) {
            bool possible = true;
            for (unsigned i = 0; i < 3; ++i)
                possible = possible && (!in[i] || *in[i] == (((row >> (2 - i)) & 1) != 0));
            if (possible) (((table >> row) & 1) != 0 ? can_hold : can_fail) = true;
        }
        file_.set(static_cast<Predicate>(operands_[which].index),
                  can_hold != can_fail ? std::optional(can_hold) : std::nullopt);
    }
}

void Computation::extremum(Word a, Word b, std::optional<bool> least) {
    const bool less = has("U32") ? a.bits < b.bits : as_signed(a.bits) < as_signed(b.bits);
    result(a.known && b.known && least, less == least.value_or(false) ? a.bits : b.bits);
}

/// F2I of a binary32 value.
void Computation::to_integer() {
    const Word a = word(0);
    const double value = std::bit_cast<float>(a.bits);
    if (!has("TRUNC") || has("F64") || has("F16") || has("S64")) {
        result(false, 0);
        return has("S64") ? result_wide({}) : void();
    }
    if (has("U64")) {
        const double limited = std::isnan(value) ? 0 : std::clamp(value, 0.0, 18446744073709549568.0);
        return result_wide({static_cast<std::uint64_t>(limited), a.known});
    }
    const double lowest = has("U32") ? 0.0 : -2147483648.0,
                 highest = has("U32") ? 4294967295.0 : 2147483647.0;
    const double limited = std::trunc(std::isnan(value) ? 0 : std::clamp(value, lowest, highest));
    result(a.known, static_cast<std::uint32_t>(static_cast<std::int64_t>(limited)));
}

/// I2F of an integer, to binary32; RP: upwards.
void Computation::to_float() {
    const bool whole = has("U64") || has("S64");
    if (has("F64") || has("F16") || has("RM") || has("RZ") || has("U16") || has("S16") || has("U8") ||
        has("S8") || has("S64"))
        return result(false, 0);
    const Word low = word(0);
    const Known64 a = whole ? wide(0) : Known64{low.bits, low.known};
    const bool is_unsigned = has("U32") || has("U64");
    float value = 0;
    if (is_unsigned) {
        value = static_cast<float>(a.bits);
        if (has("RP") && static_cast<double>(value) < static_cast<double>(a.bits))
            value = std::nextafter(value, INFINITY);
    } else {
        const double exact = as_signed(low.bits);
        value = static_cast<float>(exact);
        if (has("RP") && static_cast<double>(value) < exact) value = std::nextafter(value, INFINITY);
    }
    result(a.known, std::bit_cast<std::uint32_t>(value));
}

bool Computation::run() {
    if (is("PLOP3") && operands_.size() > 5) return logic_of_predicates(), true;
    if (is("ISETP") && operands_.size() > 3) return compare(), true;
    if (first_ >= operands_.size()) return false;
    if (is("MOV") || is("MOV32I")) return result(word(0)), true;
    if (is("IADD3")) return has("64") ? add_wide() : add(), true;
    if (is("VIADD") && has("16x2")) {
        const Word a = word(0), b = word(1);
        const std::uint32_t low = (a.bits + b.bits) & 0xFFFF, high = (a.bits >> 16) + (b.bits >> 16);
        return result(a.known && b.known, high << 16 | low), true;
    }
    if (is("IADD") || is("VIADD")) return add(), true;
    if (is("IMAD")) return multiply(), true;
    if (is("SHF")) return shift(), true;
    if (is("LEA")) return scale(), true;
    if (is("LOP3")) return logic(), true;
    if (is("PRMT")) return permute(), true;
    if (is("SEL") || is("FSEL")) {
        const std::optional<bool> which = truth(2);
        const Word a = word(0), b = word(1);
        if (which) return result(*which ? a : b), true;
        return result(a.known && b.known && a.bits == b.bits, a.bits), true;
    }
    // Of halves of 16 bits only sums are followed.
    if (one_.mnemonic.find("16") != std::string_view::npos) return false;
    if (is("IMNMX") || is("VIMNMX")) return extremum(word(0), word(1), truth(2)), true;
    if (is("VIADDMNMX")) {
        const Word a = word(0), b = word(1);
        return extremum({a.bits + b.bits, a.known && b.known}, word(2), truth(3)), true;
    }
    if (is("IABS")) {
        const Word a = word(0);
        return result(a.known, as_signed(a.bits) < 0 ? 0 - a.bits : a.bits), true;
    }
    if (is("SGXT")) {
        const Word a = word(0), bits = word(1);
        const std::uint32_t width = has("W") ? bits.bits & 31 : std::min(bits.bits, 32U);
        std::uint32_t value = width >= 32 ? a.bits : a.bits & ((1U << width) - 1);
        if (!has("U32") && width > 0 && width < 32 && (value >> (width - 1)) != 0)
            value |= UINT32_MAX << width;
        return result(a.known && bits.known, value), true;
    }
    if (is("BMSK")) {
        const Word from = word(0), width = word(1);
        const std::uint64_t ones = width.bits >= 32 ? UINT32_MAX : (std::uint64_t{1} << width.bits) - 1;
        return result(from.known && width.known && !has("W"),
                      from.bits >= 32 ? 0 : static_cast<std::uint32_t>(ones << from.bits)),
               true;
    }
    if (is("POPC"))
        return result(word(0).known, static_cast<std::uint32_t>(std::popcount(word(0).bits))), true;
    if (is("BREV")) {
        std::uint32_t in = word(0).bits, out = 0;
        for (int i = 0; i < 32; ++i, in >>= 1) out = out << 1 | (in & 1);
        return result(word(0).known, out), true;
    }
    if (is("FLO") && has("U32")) {
        const std::uint32_t a = word(0).bits;
        const int place = 31 - std::countl_zero(a);
        return result(word(0).known,
                      a == 0 ? UINT32_MAX : static_cast<std::uint32_t>(has("SH") ? 31 - place : place)),
               true;
    }
    if (is("I2F") || is("I2FP")) return to_float(), true;
    if (is("F2I")) return to_integer(), true;
    if (is("MUFU") && has("RCP") && !has("RCP64H")) {
        const Word a = word(0);
        return result(a.known, std::bit_cast<std::uint32_t>(1.0F / std::bit_cast<float>(a.bits))), true;
    }
    if (is("CS2R") && operands_.size() == 2 && one_.operands[1] == "SRZ")
        return has("32") ? result(true, 0) : result_wide({0, true}), true;
    return false;
}

}  // namespace

bool compute(const Instruction& one, const Decoded& decoded, File& file) {
    return Computation(one, decoded, file).run();
}

}  // namespace wgrun::sass
