#include "ptx/variables.hpp"

#include <bit>
#include <cstring>

#include "ptx/head.hpp"
#include "ptx/lexer.hpp"

namespace wgrun::ptx {
namespace {

/// Returns the bits of a constant as an element of `type` has them; nothing: it is no constant.
std::optional<std::uint64_t> bits_of(const Token& token, bool minus, isa::Type type) {
    const auto value = static_cast<std::uint64_t>(token.value);
    switch (token.kind) {
        case Token::Kind::integer:
            if (isa::is_float(type)) {
                const double real = static_cast<double>(token.value) * (minus ? -1 : 1);
                return type == isa::Type::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(real))
                                              : std::bit_cast<std::uint64_t>(real);
            }
            return minus ? 0 - value : value;
        case Token::Kind::f32: return value ^ (minus ? std::uint64_t{1} << 31U : 0);
        case Token::Kind::f64: {
            const std::uint64_t bits = value ^ (minus ? std::uint64_t{1} << 63U : 0);
            if (type != isa::Type::f32) return bits;
            return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
        }
        default: return std::nullopt;
    }
}

}  // namespace

std::optional<std::vector<std::byte>> initial_bytes(const Module& module, const Variable& variable) {
    constexpr std::int64_t most = std::int64_t{256} << 20;
    const isa::Type type = declared_type(module, variable);
    const std::int64_t size = isa::bits(type) / 8;
    if (size < 1) return std::nullopt;
    std::int64_t count = variable.vector ? module.at(variable.vector)[2] - '0' : 1;
    for (const std::int64_t extent : variable.extents) {
        if (extent < 0 || extent > most / std::max<std::int64_t>(count * size, 1)) return std::nullopt;
        count *= extent;
    }
    std::vector<std::byte> out(static_cast<std::size_t>(count * size));
    if (!variable.initializer) return out;
    // The elements stand one after the other; braces show rows, which are given whole.
    const std::string text(module.at(variable.initializer));
    Lexer lexer(text);
    std::size_t at = 0;
    bool minus = false;
    for (Token token = lexer.next(); token.kind != Token::Kind::end; token = lexer.next()) {
        if (token.kind == Token::Kind::symbol) {
            if (token.symbol == '-')
                minus = !minus;
            else if (token.symbol != '{' && token.symbol != '}' && token.symbol != ',')
                return std::nullopt;
            continue;
        }
        const std::optional<std::uint64_t> bits = bits_of(token, minus, type);
        if (!bits || at + static_cast<std::size_t>(size) > out.size()) return std::nullopt;
        std::memcpy(out.data() + at, &*bits, static_cast<std::size_t>(size));
        at += static_cast<std::size_t>(size);
        minus = false;
    }
    return out;
}

}  // namespace wgrun::ptx
