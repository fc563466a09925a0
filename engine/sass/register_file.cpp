#include "sass/register_file.hpp"

#include <algorithm>

#include "isa/generic.hpp"

namespace wgrun::sass {
namespace {

using Kind = Source::Kind;

}  // namespace

Known64 File::wide(bool uniform, int index) const {
    const int end = uniform ? uniform_count : register_count;
    if (index >= end) return {0, true};
    const Word low = reg(uniform, index), high = reg(uniform, std::min(index + 1, end));
    return {std::uint64_t{high.bits} << 32 | low.bits, low.known && high.known};
}

void File::set_wide(bool uniform, int index, Known64 value) {
    if (index >= (uniform ? uniform_count : register_count)) return;
    set(uniform, index, Word{static_cast<std::uint32_t>(value.bits), value.known});
    set(uniform, index + 1, Word{static_cast<std::uint32_t>(value.bits >> 32), value.known});
}

Known64 File::constant(const Source& source, int bytes) const {
    // Where nvcc's launches put what they tell a kernel; measured on listings of ptxas for sm_90.
    constexpr std::int64_t sizes = 0x0, stack = 0x28, params = isa::param_base;
    constexpr std::int64_t clusters = 0x140;  // 1: the launch has some
    if (source.bank != 0) return {};
    std::int64_t at = source.number;
    for (const Source::Term& term : source.terms) {
        const Word index = reg(term.uniform, term.index);
        if (!index.known || term.scale != 1) return {};
        at += static_cast<std::int32_t>(index.bits);
    }
    if (bytes == 4 && at >= sizes && at < sizes + 24 && at % 4 == 0) {
        const std::array<std::uint32_t, 6> all{drawn_->block.x, drawn_->block.y, drawn_->block.z,
                                               drawn_->grid.x,  drawn_->grid.y,  drawn_->grid.z};
        return {all[static_cast<std::size_t>(at / 4)], true};
    }
    if (at == stack) return {0xFFF000, true};
    if (at == clusters) return {1, true};
    if (at < params || at + bytes > params + static_cast<std::int64_t>(drawn_->params.size())) return {};
    Known64 out{0, true};
    for (int i = 0; i < bytes; ++i)
        out.bits |= std::uint64_t{drawn_->params[static_cast<std::size_t>(at - params + i)]} << (8 * i);
    return out;
}

Decoded::Decoded(const Instruction& one)
    : name(one.mnemonic.substr(0, one.mnemonic.find('.'))), operands(operands_as_sources(one)) {
    constexpr std::array<std::string_view, 18> uniform_ones{
        "UMOV",   "UIADD3", "UIMAD", "ULEA",  "ULOP3", "USHF",  "USEL", "UPRMT", "USGXT",
        "UISETP", "UPLOP3", "UBMSK", "UBREV", "UFLO",  "UPOPC", "ULDC", "UR2UP", "UP2UR"};
    if (std::ranges::find(uniform_ones, name) != uniform_ones.end()) name.remove_prefix(1);
    while (results < operands.size() && operands[results].kind == Kind::predicate) ++results;
    uniform = results < operands.size() && operands[results].kind == Kind::uniform;
}

Word word_of(const Source& source, const File& file) {
    Word out;
    switch (source.kind) {
        case Kind::reg:
        case Kind::uniform: out = file.reg(source.kind == Kind::uniform, source.index); break;
        case Kind::number: return {static_cast<std::uint32_t>(source.number), true};
        case Kind::constant: {
            const Known64 value = file.constant(source, 4);
            out = {static_cast<std::uint32_t>(value.bits), value.known};
            break;
        }
        default: return {};
    }
    if (source.byte != 0) return {};
    if (source.inverted) out.bits = ~out.bits;
    if (source.minus) out.bits = 0 - out.bits;
    return out;
}

Known64 wide_of(const Source& source, const File& file) {
    if (source.kind == Kind::number) return {static_cast<std::uint64_t>(source.number), true};
    if (source.kind != Kind::reg && source.kind != Kind::uniform && source.kind != Kind::constant) return {};
    Known64 out = source.kind == Kind::constant ? file.constant(source, 8)
                                                : file.wide(source.kind == Kind::uniform, source.index);
    if (source.inverted) out.bits = ~out.bits;
    if (source.minus) out.bits = 0 - out.bits;
    return out;
}

std::optional<bool> truth_of(const Source& source, const File& file) {
    if (source.kind != Kind::predicate) return std::nullopt;
    const std::optional<bool> value = file.predicate(source.index);
    if (!value) return value;
    return *value != source.inverted;
}

}  // namespace wgrun::sass
