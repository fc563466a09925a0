#include "ptx/reached.hpp"

#include <unordered_map>
#include <unordered_set>

namespace wgrun::ptx {
namespace {

class Search {
  public:
    explicit Search(const Module& module) : module_(module) {
        for (const Function& function : module.functions) {
            known_.insert(module.at(function.name));
            if (!function.entry && function.body) functions_[module.at(function.name)] = &function;
        }
        for (const Item& item : module.items) {
            if (item.kind == Item::Kind::directive) alias(module.directives[item.index]);
            if (item.kind != Item::Kind::variable) continue;
            const Variable& variable = module.variables[item.index];
            known_.insert(module.at(variable.name));
            if (variable.initializer) texts_[module.at(variable.name)] = module.at(variable.initializer);
        }
    }

    std::set<std::string_view> from(const Function& function) {
        read(function);
        while (!open_.empty()) {
            const std::string_view name = open_.back();
            open_.pop_back();
            if (const auto it = functions_.find(name); it != functions_.end()) read(*it->second);
            if (const auto it = texts_.find(name); it != texts_.end()) read(it->second);
        }
        return std::move(found_);
    }

  private:
    /// Registers and labels, which are most of what a function names, are not looked for.
    void add(std::string_view name) {
        if (known_.contains(name) && found_.insert(name).second) open_.push_back(name);
    }

    /// .alias of, function (PTX ISA 11.6.6): who names the one means the other.
    void alias(const Directive& directive) {
        if (module_.at(directive.name) != ".alias") return;
        std::string_view text = module_.at(directive.text);
        text.remove_prefix(module_.at(directive.name).size());
        const std::size_t first = text.find_first_not_of(" \t\r\n"), comma = text.find(',');
        if (comma == std::string_view::npos || first >= comma) return;
        std::string_view name = text.substr(first, comma - first);
        name = name.substr(0, name.find_last_not_of(" \t\r\n") + 1);
        known_.insert(name);
        texts_[name] = text.substr(comma);
    }

    void read(const Function& function) {
        for (std::uint32_t i = function.first; i < function.last; ++i)
            if (const Statement& it = module_.statements[i]; it.kind == Statement::Kind::instruction)
                read(it.operands);
    }

    void read(std::uint32_t first) {
        nodes_.assign(1, first);
        while (!nodes_.empty()) {
            const std::uint32_t index = nodes_.back();
            nodes_.pop_back();
            if (index == nothing) continue;
            const Node& node = module_.nodes[index];
            if (node.kind == Node::Kind::name) add(module_.at(node.text));
            nodes_.push_back(node.child);
            nodes_.push_back(node.next);
        }
    }

    /// The words of an initial value.
    void read(std::string_view text) {
        constexpr std::string_view letters =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";
        for (std::size_t at = text.find_first_of(letters); at != std::string_view::npos;) {
            const std::size_t end = text.find_first_not_of(letters, at);
            add(text.substr(at, end - at));
            at = text.find_first_of(letters, end);
        }
    }

    const Module& module_;
    std::unordered_set<std::string_view> known_;  ///< the names of the module
    std::unordered_map<std::string_view, const Function*> functions_;
    std::unordered_map<std::string_view, std::string_view> texts_;  ///< that a name stands for
    std::set<std::string_view> found_;
    std::vector<std::string_view> open_;
    std::vector<std::uint32_t> nodes_;  ///< of a statement, that are still to be read
};

}  // namespace

std::set<std::string_view> names_reached(const Module& module, const Function& function) {
    return Search(module).from(function);
}

}  // namespace wgrun::ptx
