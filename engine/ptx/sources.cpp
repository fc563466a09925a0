// Where an instruction of a text comes from, by .loc.
#include <algorithm>
#include <span>

#include "ptx/lower.hpp"

namespace wgrun::ptx {

namespace {

/// The places of the sources that a function names.
std::span<const Location> locations_of(const Module& module, const Function& function) {
    const auto begin = module.statements.begin();
    const auto is_location = [](const Statement& statement) {
        return statement.kind == Statement::Kind::location;
    };
    const auto first = std::find_if(begin + function.first, begin + function.last, is_location);
    if (first == begin + function.last) return {};
    auto last = begin + function.last - 1;
    while (!is_location(*last)) --last;
    return std::span(module.locations).subspan(first->index, last->index - first->index + 1);
}

}  // namespace

std::vector<Where> sources_of(const Module& module, int line) {
    // The last .loc before the line, in its function.
    const Function* function = nullptr;
    for (const Function& other : module.functions)
        if (other.body && module.line(other.text.offset) <= line) function = &other;
    if (function == nullptr) return {};
    const auto begin = module.statements.begin();
    auto at = std::partition_point(begin + function->first, begin + function->last,
                                   [&](const Statement& s) { return module.line(s.text.offset) <= line; });
    const Location* last = nullptr;
    while (last == nullptr && at != begin + function->first)
        if (--at; at->kind == Statement::Kind::location) last = &module.locations[at->index];
    const std::span<const Location> places = locations_of(module, *function);
    std::vector<Where> out;
    constexpr std::size_t deepest = 8;
    while (last != nullptr && last->line > 0 && out.size() < deepest) {
        const std::string_view file = module.source(last->file);
        if (file.empty()) break;
        out.push_back(Where::at(file, last->line));
        if (last->at_line == 0) break;
        // The call may itself be in a function that was inlined: then a .loc for it says where.
        const Location call{last->at_file, last->at_line, last->at_column};
        const auto outer = std::ranges::find_if(places, [&](const Location& other) {
            return other.file == call.file && other.line == call.line && other.column == call.column &&
                   other.at_line != 0;
        });
        if (outer != places.end()) {
            last = &*outer;
            continue;
        }
        if (const std::string_view name = module.source(call.file); !name.empty())
            out.push_back(Where::at(name, call.line));
        break;
    }
    return out;
}

}  // namespace wgrun::ptx
