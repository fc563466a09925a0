// Where an instruction of a text comes from, by .loc.
#include <algorithm>

#include "ptx/lower.hpp"

namespace wgrun::ptx {

std::vector<Where> sources_of(const Module& module, int line) {
    // The last .loc before the line, in its function.
    const Location* last = nullptr;
    for (const Function& function : module.functions) {
        if (!function.body || module.line(function.text.offset) > line) continue;
        last = nullptr;
        for (std::uint32_t i = function.first; i < function.last; ++i) {
            const Statement& statement = module.statements[i];
            if (module.line(statement.text.offset) > line) break;
            if (statement.kind == Statement::Kind::location) last = &module.locations[statement.index];
        }
    }
    std::vector<Where> out;
    constexpr std::size_t deepest = 8;
    while (last != nullptr && last->line > 0 && out.size() < deepest) {
        const std::string_view file = module.source(last->file);
        if (file.empty()) break;
        out.push_back(Where::at(file, last->line));
        if (last->at_line == 0) break;
        // The call may itself be in a function that was inlined: then a .loc for it says where.
        const Location at{last->at_file, last->at_line, last->at_column};
        const auto outer = std::ranges::find_if(module.locations, [&](const Location& other) {
            return other.file == at.file && other.line == at.line && other.column == at.column &&
                   other.at_line != 0;
        });
        if (outer != module.locations.end()) {
            last = &*outer;
            continue;
        }
        if (const std::string_view call = module.source(at.file); !call.empty())
            out.push_back(Where::at(call, at.line));
        break;
    }
    return out;
}

}  // namespace wgrun::ptx
