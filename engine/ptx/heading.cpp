#include "ptx/heading.hpp"

#include <fmt/format.h>

#include <charconv>

#include "wgrun/rules.hpp"

namespace wgrun::ptx {
namespace {

/// Returns the words of ".target sm_90a, debug" behind the first.
std::string_view behind_name(const Module& module, const Directive& directive) {
    std::string_view text = module.at(directive.text);
    text.remove_prefix(std::min(module.at(directive.name).size(), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text.substr(0, text.find_first_of(" \t\r\n,;/"));
}

/// Reads an integer and removes it from the text.
std::optional<int> number(std::string_view& text) {
    int out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc()) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return out;
}

void read_version(std::string_view text, Heading& out) {
    const std::optional<int> major = number(text);
    if (!major || !text.starts_with('.')) return;
    text.remove_prefix(1);
    if (const std::optional<int> minor = number(text)) out.version = {*major, *minor};
}

/// The last letter: of one chip alone (sm_100a), or of its family (sm_100f).
void read_chip(std::string_view name, Heading& out) {
    std::string_view rest = name;
    if (!rest.starts_with("sm_")) return;
    rest.remove_prefix(3);
    const std::optional<int> sm = number(rest);
    if (!sm) return;
    out.arch = {*sm, !rest.empty()};
    constexpr isa::Arch newest{90, true};
    if (*sm > newest.sm) out.later_chip = name;
}

}  // namespace

Heading heading_of(const Module& module) {
    Heading out;
    for (const Directive& directive : module.directives) {
        const std::string_view name = module.at(directive.name);
        if (name == ".version" && !out.version_at) {
            out.version_at = module.where(directive.text);
            read_version(behind_name(module, directive), out);
        } else if (name == ".target" && !out.arch_at) {
            out.arch_at = module.where(directive.text);
            read_chip(behind_name(module, directive), out);
        }
    }
    return out;
}

isa::PtxVersion first_version(isa::Arch arch) {
    if (arch.sm < 90) return {0, 0};
    return arch.specific ? isa::PtxVersion{8, 0} : isa::PtxVersion{7, 8};
}

std::optional<Diagnostic> later_chip(const Module& module) {
    const Heading heading = heading_of(module);
    if (heading.later_chip.empty()) return {};
    Diagnostic out = rules::finding(
        rules::WG_FORM_06, heading.arch_at,
        fmt::format("the text is for {}, of which wgrun has no rules: nothing of it is checked",
                    heading.later_chip),
        ".target sm_90a, or a chip before it, if the text is to run on one");
    out.facts = {{"chip", std::string(heading.later_chip)}};
    return out;
}

}  // namespace wgrun::ptx
