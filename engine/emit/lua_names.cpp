#include "emit/lua_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace wgrun::emit {
namespace {

/// Returns the text with everything that no name of Lua has as _.
std::string as_identifier(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (digit && out.empty()) out += '_';
        if (digit || letter)
            out += c;
        else if (!out.empty())
            out += '_';
    }
    constexpr std::size_t longest = 40;
    if (out.size() > longest) out.resize(longest);
    return out.empty() ? "_" : out;
}

}  // namespace

LuaNames::LuaNames()
    : taken_{"and",   "break",    "do",      "else",         "elseif",     "end",       "false",
             "for",   "function", "goto",    "if",           "in",         "local",     "nil",
             "not",   "or",       "repeat",  "return",       "then",       "true",      "until",
             "while", "k",        "wg",      "math",         "list",       "registers", "labels",
             "lists", "at",       "kernels", "setmetatable", "wait_until", "unless",    "i"} {}

std::string LuaNames::variable(std::string_view wanted) {
    const std::string base = as_identifier(wanted);
    std::string name = base;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
}

LuaRegisters::LuaRegisters(const Program& program, const std::vector<std::string>& names,
                           const std::vector<std::string>& telling, LuaNames& variables) {
    LuaNames keys;
    // A name that scopes declare anew has a table of its own, and its registers are counted.
    std::map<std::pair<std::string, isa::Type>, int> uses;
    const auto type_of = [&](std::size_t i) { return program.registers()[i].type; };
    const auto own = [&](std::size_t i) { return i < names.size() ? names[i] : std::string(); };
    for (std::size_t i = 0; i < program.registers().size(); ++i) ++uses[{own(i), type_of(i)}];
    // A function of Lua has 200 local variables. A text of functions that are read in place of their calls
    // may declare more names anew: those that differ by their digits alone share a table then.
    constexpr std::ptrdiff_t most_tables = 120;
    const bool crowded =
        std::ranges::count_if(uses, [](const auto& use) { return use.second > 1; }) > most_tables;
    std::map<std::string, std::int64_t> counts;
    for (std::size_t i = 0; i < program.registers().size(); ++i) {
        std::string name = own(i);
        std::size_t digits = name.size();
        while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
        constexpr std::size_t most_digits = 9;
        std::string stem = name.substr(0, digits);
        std::int64_t number = -1;
        const bool alone = uses[{name, type_of(i)}] == 1;
        if (alone && digits < name.size() && name.size() - digits <= most_digits &&
            (name[digits] != '0' || digits + 1 == name.size()))
            std::from_chars(name.data() + digits, name.data() + name.size(), number);
        if (number < 0) stem = name.empty() ? "t" : (crowded && !stem.empty() ? stem : name) + "_";
        const auto [table, added] = tables_.try_emplace({stem, type_of(i)});
        if (added) table->second = variables.variable(stem);
        if (number < 0) number = ++counts[table->second];
        const bool named = i < telling.size() && !telling[i].empty();
        places_.push_back({table->second, number, named ? keys.variable(telling[i]) : ""});
    }
}

std::string LuaRegisters::name(Reg reg) const {
    const Place& place = places_[reg.id];
    return place.key.empty() ? fmt::format("{}[{}]", place.table, place.number)
                             : fmt::format("{}.{}", place.table, place.key);
}

bool LuaRegisters::consecutive(const std::vector<Reg>& regs) const {
    for (std::size_t i = 1; i < regs.size(); ++i) {
        const Place &one = places_[regs[i - 1].id], &next = places_[regs[i].id];
        if (one.table != next.table || one.number + 1 != next.number || !one.key.empty() || !next.key.empty())
            return false;
    }
    return true;
}

std::string LuaRegisters::list(const std::vector<Reg>& regs) const {
    constexpr std::size_t shortest = 5;
    if (regs.size() >= shortest && consecutive(regs)) {
        const Place& first = places_[regs.front().id];
        return fmt::format("list({}, {}, {})", first.table, first.number, places_[regs.back().id].number);
    }
    std::string out = "{ ";
    for (const Reg reg : regs) out += (out.size() > 2 ? ", " : "") + name(reg);
    return out + " }";
}

}  // namespace wgrun::emit
