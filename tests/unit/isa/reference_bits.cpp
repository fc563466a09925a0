// The instructions of isa/bits.cpp, bit by bit as in the PTX ISA's listings; numbers of 24 bits, pairs of 16,
// and testp.
#include <algorithm>
#include <array>
#include <vector>

#include "tests/unit/isa/reference.hpp"

namespace bench {
namespace {

bool bit(Raw a, Raw i) { return i < 64 && (a >> i & 1U) != 0; }

Raw found(Type type, Raw a) {
    const unsigned width = static_cast<unsigned>(isa::bits(type));
    const bool sign = isa::is_signed(type) && bit(a, width - 1);
    for (unsigned i = width; i-- > 0;)
        if (bit(a, i) != sign) return i;
    return 0xFFFFFFFF;
}

Raw extract(Type type, Raw a, Raw position, Raw length) {
    const Raw msb = static_cast<Raw>(isa::bits(type)) - 1, cut = msb == 31 ? 0xFF : 0xFFFFFFFF;
    const Raw pos = position & cut, len = length & cut;
    const bool sign = isa::is_signed(type) && len != 0 && bit(a, std::min(pos + len - 1, msb));
    Raw out = 0;
    for (Raw i = 0; i <= msb; ++i) out |= Raw{i < len && pos + i <= msb ? bit(a, pos + i) : sign} << i;
    return out;
}

Raw insert(Type type, Raw a, Raw b, Raw position, Raw length) {
    const Raw msb = static_cast<Raw>(isa::bits(type)) - 1, cut = msb == 31 ? 0xFF : 0xFFFFFFFF;
    const Raw pos = position & cut, len = length & cut;
    for (Raw i = 0; i < len && pos + i <= msb; ++i)
        b = (b & ~(Raw{1} << (pos + i))) | Raw{bit(a, i)} << (pos + i);
    return b;
}

Raw mask(Raw position, Raw length, bool wrap) {
    if (wrap) position &= 31, length &= 31;
    Raw out = 0;
    for (Raw i = 0; i < 32; ++i) out |= Raw{i >= position && i < position + length} << i;
    return out;
}

Raw permuted(std::string_view name, Raw a, Raw b, Raw c) {
    std::array<Raw, 8> bytes;
    for (unsigned i = 0; i < 8; ++i) bytes[i] = (i < 4 ? a >> 8 * i : b >> 8 * (i - 4)) & 0xFF;
    const Raw n = c & 3;
    Raw out = 0;
    for (Raw i = 0; i < 4; ++i) {
        Raw byte = 0;
        if (name == "prmt") {
            const Raw digit = c >> 4 * i & 15;
            byte = bytes[digit & 7];
            if (digit & 8) byte = byte & 0x80 ? 0xFF : 0;
        }
        if (name == "prmt.f4e") byte = bytes[(n + i) % 8];
        if (name == "prmt.b4e") byte = bytes[(n + 8 - i) % 8];
        if (name == "prmt.rc8") byte = bytes[n];
        if (name == "prmt.ecl") byte = bytes[std::max(n, i)];
        if (name == "prmt.ecr") byte = bytes[std::min(n, i)];
        if (name == "prmt.rc16") byte = bytes[(n & 1) * 2 + (i & 1)];
        out |= byte << 8 * i;
    }
    return out;
}

std::int64_t number(Type type, Raw raw, unsigned bits) {
    raw &= (Raw{1} << bits) - 1;
    return static_cast<std::int64_t>(raw) -
           (isa::is_signed(type) && bit(raw, bits - 1) ? std::int64_t{1} << bits : 0);
}

Raw dot(std::string_view name, const Form& form, Raw a, Raw b, Raw c) {
    const Type x = form.type(Field::a), y = form.type(Field::b);
    auto sum = static_cast<std::int64_t>(c);
    if (name == "dp4a")
        for (unsigned i = 0; i < 4; ++i) sum += number(x, a >> 8 * i, 8) * number(y, b >> 8 * i, 8);
    else
        for (unsigned i = 0; i < 2; ++i)
            sum +=
                number(x, a >> 16 * i, 16) *
                number(y, b >> 8 * (i + (isa::spelled(Field::half, form.get(Field::half)) == "hi" ? 2 : 0)),
                       8);
    return static_cast<std::uint32_t>(sum);
}

/// The low or the high 32 of the 48 bits of a product, plus c.
Raw product_of_24(const Form& form, Raw a, Raw b, Raw c) {
    const Type type = form.type();
    const bool high = isa::spelled(Field::half, form.get(Field::half)) == "hi";
    const std::int64_t product = number(type, a, 24) * number(type, b, 24);
    const Raw word = static_cast<Raw>(high ? product >> 16 : product) & 0xFFFFFFFF;
    if (form.get(Field::sat, 0) == 0) return (word + c) & 0xFFFFFFFF;
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(number(type, word, 32) + number(type, c, 32), INT32_MIN, INT32_MAX));
}

/// add, min and max of two integers; .relu: at least 0.
std::int64_t combined(std::string_view name, const Form& form, std::int64_t a, std::int64_t b) {
    const std::int64_t out = name == "add" ? a + b : (a < b) == (name == "min") ? a : b;
    return form.get(Field::relu, 0) == 1 && out < 0 ? 0 : out;
}

/// By the fields of a float: the exponent has `bits` bits.
bool tested(std::string_view property, Raw a, unsigned width, unsigned bits) {
    const unsigned below = width - 1 - bits;
    const Raw exponent = a >> below & ((Raw{1} << bits) - 1), fraction = a & ((Raw{1} << below) - 1);
    const bool last = exponent == (Raw{1} << bits) - 1, nan = last && fraction != 0;
    const bool subnormal = exponent == 0 && fraction != 0;
    if (property == "finite") return !last;
    if (property == "infinite") return last && fraction == 0;
    if (property == "number") return !nan;
    if (property == "notanumber") return nan;
    return property == "subnormal" ? subnormal : !last && !subnormal;
}

}  // namespace

std::optional<Raw> reference_of_bits(std::string_view name, const Form& form, std::span<const Raw> in) {
    const Type type = form.has(Field::type) ? form.type() : Type::b32;
    const unsigned width = static_cast<unsigned>(isa::bits(type));
    const Raw all = width == 64 ? ~Raw{0} : (Raw{1} << width) - 1;
    const auto at = [&](std::size_t i) { return i < in.size() ? in[i] : 0; };
    const Raw a = at(0) & all, b = at(1) & all, c = at(2) & all;
    Raw ones = 0;
    for (unsigned i = 0; i < width; ++i) ones += bit(a, i);
    if (name == "popc") return ones;
    if (name == "clz") return a == 0 ? width : width - 1 - found(width == 64 ? Type::u64 : Type::u32, a);
    if (name == "bfind") return found(type, a);
    if (name == "bfind.shiftamt")
        return found(type, a) == 0xFFFFFFFF ? 0xFFFFFFFF : width - 1 - found(type, a);
    if (name == "brev") {
        Raw out = 0;
        for (unsigned i = 0; i < width; ++i) out |= Raw{bit(a, i)} << (width - 1 - i);
        return out;
    }
    if (name == "bfe") return extract(type, a, at(1), at(2));
    if (name == "bfi") return insert(type, a, b, at(2), at(3));
    if (name == "bmsk.clamp") return mask(a, b, false);
    if (name == "bmsk.wrap") return mask(a, b, true);
    if (name == "cnot") return a == 0;
    if (name == "fns") {
        // The places of set bits on the side that n points to, nearest first.
        const auto n = static_cast<std::int32_t>(at(2));
        if (n == INT32_MIN && b < 32) return 0;  // as an H200 has it
        std::vector<Raw> places;
        for (Raw i = 0; i < 32; ++i)
            if (bit(a, static_cast<unsigned>(i)) && (n > 0 ? i >= b : n < 0 ? i <= b : i == b))
                places.push_back(i);
        if (n < 0) std::reverse(places.begin(), places.end());
        const std::int64_t rank = n == 0 ? 0 : std::abs(std::int64_t{n}) - 1;
        return b < 32 && rank < static_cast<std::int64_t>(places.size())
                   ? places[static_cast<std::size_t>(rank)]
                   : 0xFFFFFFFF;
    }
    if (name == "szext.clamp" || name == "szext.wrap") {
        const auto n = static_cast<unsigned>(name == "szext.clamp" ? std::min<Raw>(b, 32) : b % 32);
        return n == 0 ? 0 : static_cast<Raw>(number(type, a, n)) & all;
    }
    if (name == "lop3") {
        Raw out = 0;
        for (unsigned i = 0; i < 32; ++i)
            out |= Raw{bit(at(3), bit(a, i) * 4U + bit(b, i) * 2U + bit(c, i))} << i;
        return out;
    }
    if (name.starts_with("shf.")) {
        const Raw n = name.ends_with("clamp") ? std::min<Raw>(c, 32) : c & 31, both = b << 32 | a;
        return (name[4] == 'l' ? (both << n) >> 32 : both >> n) & 0xFFFFFFFF;
    }
    if (name.starts_with("prmt")) return permuted(name, a, b, c);
    if (name == "dp4a" || name == "dp2a") return dot(name, form, a, b, c);
    if (name == "sad") {
        const bool less =
            isa::is_signed(type) ? (a ^ Raw{1} << (width - 1)) < (b ^ Raw{1} << (width - 1)) : a < b;
        return (c + (less ? b - a : a - b)) & all;
    }
    if (name == "mul24" || name == "mad24") return product_of_24(form, a, b, name == "mad24" ? c : 0);
    if (name == "testp")
        return tested(
            form.has(Field::property) ? isa::spelled(Field::property, form.get(Field::property)) : "finite",
            a, width, width == 64 ? 11 : 8);
    if (type == Type::u16x2 || type == Type::s16x2) {
        const auto half = [&](unsigned shift) {
            const std::int64_t out =
                combined(name, form, number(type, a >> shift, 16), number(type, b >> shift, 16));
            return (static_cast<Raw>(out) & 0xFFFF) << shift;
        };
        return half(16) | half(0);
    }
    if (type == Type::s32 && form.get(Field::relu, 0) == 1 && (name == "min" || name == "max"))
        return static_cast<std::uint32_t>(combined(name, form, number(type, a, 32), number(type, b, 32)));
    return {};
}

}  // namespace bench
