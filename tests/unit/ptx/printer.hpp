// A tree as text, to read what was read once more.
#pragma once

#include <fmt/format.h>

#include "ptx/module.hpp"

namespace wgrun::ptx {

class Printer {
  public:
    explicit Printer(const Module& module) : module_(module) { out_.reserve(module.text().size()); }

    std::string run() {
        for (const Item& item : module_.items) {
            switch (item.kind) {
                case Item::Kind::directive: directive(module_.directives[item.index]); break;
                case Item::Kind::section:
                    add(module_.directives[item.index].text);
                    out_ += '\n';
                    break;
                case Item::Kind::variable:
                    variable(module_.variables[item.index], true);
                    out_ += ";\n";
                    break;
                case Item::Kind::function: function(module_.functions[item.index]); break;
            }
        }
        return std::move(out_);
    }

  private:
    void add(Span span) { out_ += module_.at(span); }
    void spaced(Span span) {
        if (!span) return;
        add(span);
        out_ += ' ';
    }

    void directive(const Directive& directive) {
        add(directive.text);
        const std::string_view name = module_.at(directive.name);
        const bool ends = name == ".pragma" || name == ".alias" || name == ".branchtargets" ||
                          name == ".calltargets" || name == ".callprototype";
        out_ += ends ? ";\n" : "\n";
    }

    void variable(const Variable& variable, bool with_head) {
        if (with_head) {
            spaced(variable.linkage);
            spaced(variable.space);
            const bool attribute = module_.at(variable.pointer).starts_with(".attribute");
            if (attribute) spaced(variable.pointer);
            if (variable.align != 0) out_ += fmt::format(".align {} ", variable.align);
            spaced(variable.vector);
            spaced(variable.type);
            if (!attribute) spaced(variable.pointer);
        }
        add(variable.name);
        if (variable.counted) out_ += fmt::format("<{}>", variable.count);
        for (const std::int64_t extent : variable.extents)
            out_ += extent < 0 ? "[]" : fmt::format("[{}]", extent);
        if (variable.initializer) {
            out_ += " = ";
            add(variable.initializer);
        }
    }

    void list(const std::vector<Variable>& variables) {
        out_ += '(';
        for (std::size_t i = 0; i < variables.size(); ++i) {
            out_ += i == 0 ? "\n    " : ",\n    ";
            variable(variables[i], true);
        }
        out_ += ')';
    }

    void function(const Function& function) {
        spaced(function.linkage);
        out_ += function.entry ? ".entry " : ".func ";
        const auto attribute = [&](const Directive& head) { return module_.at(head.name) == ".attribute"; };
        for (const Directive& head : function.directives)
            if (attribute(head)) spaced(head.text);
        if (!function.results.empty()) {
            list(function.results);
            out_ += ' ';
        }
        add(function.name);
        if (function.listed) list(function.params);
        for (const Directive& head : function.directives) {
            if (attribute(head)) continue;
            out_ += '\n';
            add(head.text);
            if (module_.at(head.name) == ".pragma") out_ += ';';
        }
        if (!function.body) {
            out_ += ";\n";
            return;
        }
        out_ += "\n{\n";
        for (std::uint32_t i = function.first; i < function.last; ++i) statement(module_.statements[i]);
        out_ += "}\n";
    }

    void statement(const Statement& statement) {
        switch (statement.kind) {
            case Statement::Kind::open: out_ += "{\n"; return;
            case Statement::Kind::close: out_ += "}\n"; return;
            case Statement::Kind::label:
                add(statement.name);
                out_ += ":\n";
                return;
            case Statement::Kind::location:
                add(statement.text);
                out_ += '\n';
                return;
            case Statement::Kind::directive: directive(module_.directives[statement.index]); return;
            case Statement::Kind::variable:
                for (std::uint32_t i = 0; i < statement.count; ++i) {
                    variable(module_.variables[statement.index + i], i == 0);
                    out_ += i + 1 < statement.count ? ", " : ";\n";
                }
                return;
            case Statement::Kind::instruction: break;
        }
        if (statement.guard) {
            out_ += statement.guard_negated ? "@!" : "@";
            spaced(statement.guard);
        }
        if (statement.broken)
            out_ += module_.opcode(statement);
        else
            add(statement.name);
        if (statement.operands != nothing) {
            out_ += ' ';
            operands(statement.operands, ", ");
        }
        out_ += ";\n";
    }

    void operands(std::uint32_t first, std::string_view separator) {
        for (std::uint32_t at = first; at != nothing; at = module_.nodes[at].next) {
            if (at != first) out_ += separator;
            operand(module_.nodes[at]);
        }
    }

    // The depth is limited by the parser.
    void operand(const Node& node) {
        if (node.negated) out_ += '!';
        const auto enclosed = [&](char open, char close) {
            out_ += open;
            if (node.child != nothing) operands(node.child, ", ");
            out_ += close;
        };
        switch (node.kind) {
            case Node::Kind::vector: return enclosed('{', '}');
            case Node::Kind::address: return enclosed('[', ']');
            case Node::Kind::list: return enclosed('(', ')');
            case Node::Kind::pair: return operands(node.child, "|");
            case Node::Kind::name:
                add(node.text);
                if (node.sum) out_ += fmt::format("+{}", node.value);
                return;
            default: add(node.text);
        }
    }

    const Module& module_;
    std::string out_;
};

/// Returns the module as text, a statement a line, without comments.
inline std::string print(const Module& module) { return Printer(module).run(); }

}  // namespace wgrun::ptx
