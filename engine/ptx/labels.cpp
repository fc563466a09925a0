#include "ptx/labels.hpp"

#include <fmt/format.h>

#include "program/limits.hpp"

namespace wgrun::ptx {

/// Calls visit(statement, the scopes that are open).
template <class Visit>
void Labels::for_each_statement(const Module& module, const Function& function, Visit visit) {
    std::uint32_t scopes = 0;
    std::vector<std::uint32_t> open{0};
    for (std::uint32_t i = function.first; i < function.last; ++i) {
        const Statement& statement = module.statements[i];
        if (statement.kind == Statement::Kind::open) open.push_back(++scopes);
        if (statement.kind == Statement::Kind::close && open.size() > 1) open.pop_back();
        visit(statement, open);
    }
}

std::vector<std::string_view> branch_targets(std::string_view directive) {
    constexpr std::string_view begin = ".branchtargets", between = ", \t\r\n";
    std::vector<std::string_view> out;
    if (!directive.starts_with(begin)) return out;
    directive.remove_prefix(begin.size());
    for (;;) {
        directive.remove_prefix(std::min(directive.find_first_not_of(between), directive.size()));
        if (directive.empty()) return out;
        const std::size_t end = std::min(directive.find_first_of(between), directive.size());
        out.push_back(directive.substr(0, end));
        directive.remove_prefix(end);
    }
}

Labels::Labels(const Module& module, const Function& function, const std::function<int(std::string)>& make,
               const std::function<void(Span, std::string)>& report) {
    using Open = std::vector<std::uint32_t>;
    for_each_statement(module, function, [&](const Statement& statement, const Open& open) {
        if (statement.kind == Statement::Kind::open) parents_.push_back(open[open.size() - 2]);
        if (statement.kind != Statement::Kind::label) return;
        const std::string_view name = module.at(statement.name);
        if (!labels_.try_emplace({open.back(), name}).second)
            report(statement.name, fmt::format("the label `{}` is here twice", name));
    });
    // Those that nothing jumps to are for a debugger, and divide no blocks.
    const auto targeted = [&](std::string_view name, const Open& open) {
        Place* place = find(open.back(), name);
        if (place == nullptr || place->label >= 0) return;
        // Names of inner scopes are used again and again.
        const bool outer = place == find(0, name) && name.size() <= max_name;
        place->label = make(outer ? std::string(name) : std::string());
    };
    for_each_statement(module, function, [&](const Statement& statement, const Open& open) {
        if (statement.kind == Statement::Kind::directive)
            for (const std::string_view name : branch_targets(module.at(statement.text)))
                targeted(name, open);
        if (statement.kind != Statement::Kind::instruction || statement.operands == nothing) return;
        if (module.at(statement.name).starts_with("bra"))
            targeted(module.at(module.nodes[statement.operands].text), open);
    });
}

Labels::Place* Labels::find(std::uint32_t scope, std::string_view name) {
    for (;; scope = parents_[scope]) {
        const auto found = labels_.find({scope, name});
        if (found != labels_.end()) return &found->second;
        if (scope == 0) return nullptr;
    }
}

const int* Labels::target(std::string_view name) {
    const Place* place = find(open_.back(), name);
    return place == nullptr ? nullptr : &place->label;
}

const int* Labels::here(std::string_view name) {
    Place& place = labels_.at({open_.back(), name});
    if (place.label < 0 || std::exchange(place.placed, true)) return nullptr;
    return &place.label;
}

}  // namespace wgrun::ptx
