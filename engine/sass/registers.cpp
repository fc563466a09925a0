#include "sass/registers.hpp"

#include <algorithm>
#include <charconv>

#include "sass/record.hpp"

namespace wgrun::sass {
namespace {

/// The register R that a text begins with, "R12.reuse" or "R4.64"; -1: none, or RZ.
int register_at(std::string_view text) {
    if (!text.starts_with('R')) return -1;
    int value = -1;
    std::from_chars(text.data() + 1, text.data() + text.size(), value);
    return value < register_count ? value : -1;
}

std::string_view without_sign(std::string_view text) {
    while (!text.empty() && std::string_view("-+!~|").find(text[0]) != std::string_view::npos)
        text.remove_prefix(1);
    return text;
}

bool is_predicate(std::string_view text) { return predicate_named(without_sign(text)) != no_predicate; }

Registers some(int first, int count) {
    return {static_cast<std::int16_t>(first), static_cast<std::int16_t>(first < 0 ? 0 : count)};
}

/// The registers of a value of these bits.
int in_registers(int bits) { return std::max(1, bits / 32); }

bool of_doubles(std::string_view name) {
    return name == "DADD" || name == "DFMA" || name == "DMUL" || name == "DMNMX";
}

std::string_view base_name(const Instruction& one) {
    return one.mnemonic.substr(0, std::min(one.mnemonic.find('.'), one.mnemonic.size()));
}

/// The part of the mnemonic behind its first dot.
std::string_view first_part(const Instruction& one) {
    const std::size_t dot = one.mnemonic.find('.');
    if (dot == std::string_view::npos) return {};
    const std::string_view rest = one.mnemonic.substr(dot + 1);
    return rest.substr(0, rest.find('.'));
}

/// The registers of a result: those of a value of 32 bits, if nothing says otherwise.
int result_registers(const Instruction& one) {
    const std::string_view name = base_name(one);
    if (name == "CS2R") return one.has("32") ? 1 : 2;
    if (name == "LDSM") return access_bytes(one) / 4;
    if (name == "SYNCS") return 2;  // the state of a phase
    if (name == "HMMA" || name == "QMMA") return one.has("F32") ? 4 : 2;
    if (name == "IMMA") return one.has("8816") || one.has("8832") ? 2 : 4;
    if (name == "BMMA") return one.has("88128") ? 2 : 4;
    if (name == "DMMA") return one.has("884") ? 4 : 8;
    if (name.starts_with("TEX") || name.starts_with("TLD") || name.starts_with("SULD")) return 4;
    if (name == "F2F" || name == "I2F" || name == "FRND") return first_part(one) == "F64" ? 2 : 1;
    if (name == "F2I") return one.has("S64") || one.has("U64") ? 2 : 1;
    if (name == "I2I") return one.has("S64") || one.has("U64") ? 2 : 1;
    if (one.has("128")) return 4;
    if (one.has("64") || one.has("WIDE") || of_doubles(name)) return 2;
    return 1;
}

/// The place of the first operand that is no predicate.
std::size_t place_of_result(const Instruction& one) {
    std::size_t at = 0;
    while (at < one.operands.size() && is_predicate(one.operands[at])) ++at;
    return at;
}

int width_of_source(const Instruction& one, std::string_view operand, bool last) {
    const std::string_view name = base_name(one);
    if (operand.find(".64") != std::string_view::npos || of_doubles(name) || name == "DSETP") return 2;
    if (name == "HMMA" || name == "IMMA") return last ? result_registers(one) : 2;
    if (one.has("WIDE")) return last ? 2 : 1;
    return 1;
}

}  // namespace

Registers written(const Instruction& one) {
    if (one.record->writes != Writes::first || one.never()) return {};
    const std::size_t at = place_of_result(one);
    if (at == one.operands.size()) return {};
    return some(register_at(one.operands[at]), result_registers(one));
}

int access_bytes(const Instruction& one) {
    if (base_name(one) == "LDSM" || base_name(one) == "STSM") {
        const char last = one.mnemonic.back();
        return 4 * (last == '2' ? 2 : last == '4' ? 4 : 1);
    }
    if (one.has("U8") || one.has("S8")) return 1;
    if (one.has("U16") || one.has("S16")) return 2;
    if (one.has("128")) return 16;
    return one.has("64") || one.has("S64") || one.has("U64") ? 8 : 4;
}

namespace detail {

Reads reads_of(const Instruction& one) {
    Reads out;
    if (one.record->does == Does::product || one.never()) return out;
    const auto add = [&](int first, int count) {
        if (first >= 0 && out.count < out.list.size()) out.list[out.count++] = some(first, count);
    };
    const bool memory = one.record->memory != Memory::none;
    std::size_t from = 0;
    if (one.record->writes == Writes::first) from = place_of_result(one) + 1;
    for (std::size_t i = from; i < one.operands.size(); ++i) {
        const std::string_view operand = without_sign(one.operands[i]);
        const std::size_t open = operand.find_last_of('[');
        if (open != std::string_view::npos) {
            std::string_view inside = operand.substr(open + 1);
            add(register_at(inside), inside.find(".64") != std::string_view::npos ? 2 : 1);
        } else {
            const int width = memory ? in_registers(8 * access_bytes(one))
                                     : width_of_source(one, operand, i + 1 == one.operands.size());
            add(register_at(operand), width);
        }
    }
    return out;
}

}  // namespace detail

Product product_of(const Instruction& one) {
    Product out;
    out.sparse = one.has("SP");
    const std::size_t shape = one.mnemonic.find(".64x");
    if (shape != std::string_view::npos) {
        const char* end = one.mnemonic.data() + one.mnemonic.size();
        const auto n = std::from_chars(one.mnemonic.data() + shape + 4, end, out.n);
        if (n.ptr != end) std::from_chars(n.ptr + 1, end, out.k);
    }
    const std::size_t types = one.mnemonic.find('.', shape + 1);
    const bool half = types != std::string_view::npos && one.mnemonic.substr(types).starts_with(".F16");
    const int accumulators = out.n / (half ? 4 : 2);
    // D, [A's registers,] the descriptors, C[, metadata, selector][, a predicate][, gsb0]
    bool described = false, summed = false;
    for (std::size_t i = 0; i < one.operands.size(); ++i) {
        const std::string_view operand = without_sign(one.operands[i]);
        const int reg = register_at(operand);
        if (operand.starts_with("gsb")) {
            out.ends_group = true;
        } else if (operand.starts_with("gdesc")) {
            described = true;
        } else if (i == 0) {
            out.accumulators = some(reg, accumulators);
        } else if (!described) {
            out.fragment = some(reg, 4);
        } else if (!summed) {
            summed = true;
            out.reads_accumulators = reg >= 0;
        } else if (one.operands[i] == "!UPT") {
            out.reads_accumulators = false;
        } else if (reg >= 0) {
            out.metadata = some(reg, 1);
        }
    }
    return out;
}

}  // namespace wgrun::sass
