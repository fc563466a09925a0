#include "sass/operand.hpp"

#include <charconv>
#include <optional>

#include "sass/record.hpp"

namespace wgrun::sass {
namespace {

std::optional<std::int64_t> number_of(std::string_view text) {
    const bool negative = text.starts_with("-");
    if (negative) text.remove_prefix(1);
    if (!text.starts_with("0x")) return std::nullopt;
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return static_cast<std::int64_t>(negative ? 0 - value : value);
}

/// "R4.reuse", "UR4", "RZ", "R2.64", "R5.B1": the register, unless more of it matters.
bool read_register(std::string_view text, Source& out) {
    const bool uniform = text.starts_with("UR");
    if (!uniform && !text.starts_with("R")) return false;
    text.remove_prefix(uniform ? 2 : 1);
    out.kind = uniform ? Source::Kind::uniform : Source::Kind::reg;
    const std::size_t end = text.find('.');
    const std::string_view name = text.substr(0, end);
    if (name == "Z") {
        out.index = uniform ? uniform_count : register_count;
    } else {
        const auto read = std::from_chars(name.data(), name.data() + name.size(), out.index);
        if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) return false;
        if (out.index < 0 || out.index > (uniform ? uniform_count : register_count)) return false;
    }
    while (text.find('.') != std::string_view::npos) {
        text.remove_prefix(text.find('.') + 1);
        const std::string_view part = text.substr(0, text.find('.'));
        if (part == "64")
            out.wide = true;
        else if (part.size() == 2 && part[0] == 'B' && part[1] >= '0' && part[1] <= '3')
            out.byte = part[1] - '0';
        else if (part != "reuse")
            return false;
    }
    return true;
}

/// The terms within the last brackets, "R2.64+UR4+0x10": false, if something else is there. "R2.U32+UR4": 32
/// bits behind a uniform register of 64.
bool read_terms(std::string_view text, Source& out) {
    const bool behind = text.find(".U32") != std::string_view::npos;
    while (!text.empty()) {
        // A minus sign belongs to the number behind it.
        const std::size_t end = text.find('+');
        std::string_view part = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (const auto value = number_of(part)) {
            out.number += *value;
            continue;
        }
        Source::Term term;
        for (const int scale : {4, 8, 16}) {
            const std::string_view suffix = scale == 4 ? ".X4" : scale == 8 ? ".X8" : ".X16";
            if (!part.ends_with(suffix)) continue;
            term.scale = scale;
            part.remove_suffix(suffix.size());
        }
        term.narrow = part.ends_with(".U32");
        if (term.narrow) part.remove_suffix(4);
        Source reg;
        if (!read_register(part, reg)) return false;
        term.uniform = reg.kind == Source::Kind::uniform;
        term.wide = reg.wide || (behind && term.uniform);
        term.index = reg.index;
        out.terms.push_back(term);
    }
    return true;
}

}  // namespace

Source source_of(std::string_view text) {
    Source out;
    if (const auto value = number_of(text)) {
        out.kind = Source::Kind::number;
        out.number = *value;
        return out;
    }
    if (text.starts_with("-")) out.minus = true, text.remove_prefix(1);
    if (text.starts_with("~") || text.starts_with("!")) out.inverted = true, text.remove_prefix(1);
    if (const Predicate named = predicate_named(text); named != no_predicate) {
        out.kind = Source::Kind::predicate;
        out.index = named;
        return out;
    }
    const std::size_t open = text.rfind('['), close = text.rfind(']');
    if (open != std::string_view::npos && close != std::string_view::npos && close > open) {
        const bool constant = text.starts_with("c[0x");
        if (!constant && !text.starts_with("[") && !text.starts_with("desc[") && !text.starts_with("gdesc["))
            return {};
        if (constant) {
            const auto bank = number_of(text.substr(2, text.find(']') - 2));
            if (!bank) return {};
            out.bank = static_cast<int>(*bank);
        }
        if (!read_terms(text.substr(open + 1, close - open - 1), out)) return {};
        out.kind = constant ? Source::Kind::constant : Source::Kind::memory;
        return out;
    }
    if (!read_register(text, out)) return {};
    return out;
}

std::vector<Source> operands_as_sources(const Instruction& instruction) {
    std::vector<Source> out;
    // A generic address has 64 bits, also where nvdisasm does not say so: "LD.E R4, [R4]".
    const bool wide = instruction.record->memory == Memory::generic && instruction.has("E");
    for (const std::string_view operand : instruction.operands) {
        Source& source = out.emplace_back(source_of(operand));
        for (Source::Term& term : source.terms) term.wide = term.wide || (wide && !term.narrow);
    }
    return out;
}

}  // namespace wgrun::sass
