#include "ptx/symbols.hpp"

#include <charconv>

namespace wgrun::ptx {

void Symbols::declare(std::string_view name, Symbol symbol) {
    symbol.id = declarations_++;
    Scope& scope = scopes_.back();
    (symbol.counted ? scope.counted : scope.names).insert_or_assign(name, symbol);
}

void Symbols::alias(std::string_view name, std::string_view of) {
    auto& names = scopes_.back().names;
    const Symbol symbol = names.at(of);
    names.insert_or_assign(name, symbol);
}

const Symbol* Symbols::find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
        if (const auto found = scope->names.find(name); found != scope->names.end()) return &found->second;
    return nullptr;
}

/// Returns the declaration in a scope that the register comes from: its own, or %r<n> for %r123, and then its
/// number. The name that is declared may end with digits itself, so each division of the digits is tried.
const Symbol* Symbols::in_scope(const Scope& scope, std::string_view name, std::int64_t& number) {
    if (const auto found = scope.names.find(name); found != scope.names.end()) return &found->second;
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    for (std::size_t split = digits; split < name.size(); ++split) {
        const std::string_view ending = name.substr(split);
        if (ending.size() > 1 && ending[0] == '0') continue;
        const auto found = scope.counted.find(name.substr(0, split));
        if (found == scope.counted.end()) continue;
        const auto [last, error] = std::from_chars(ending.data(), ending.data() + ending.size(), number);
        if (error == std::errc() && number < found->second.count) return &found->second;
    }
    return nullptr;
}

const Symbol* Symbols::declared(std::string_view name, std::int64_t& number) const {
    // An inner %r<4> hides the outer %r0 to %r3 alone.
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
        if (const Symbol* symbol = in_scope(*scope, name, number)) return symbol;
    return nullptr;
}

std::optional<isa::Reg> Symbols::reg(std::string_view name) {
    std::int64_t number = 0;
    const Symbol* symbol = declared(name, number);
    if (symbol == nullptr || symbol->kind != Symbol::Kind::registers) return {};
    const std::uint64_t key = std::uint64_t{symbol->id} << 32U | static_cast<std::uint32_t>(number);
    const auto [place, added] = made_.try_emplace(key);
    if (added) place->second = make_(*symbol, name);
    return place->second;
}

}  // namespace wgrun::ptx
