// Proves types of expressions, from the builders that functions were called with.
#include "bindings/lua/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "wgrun/isa.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::lua {
namespace {

using syntax::Chunk;
using syntax::Declaration;
using syntax::Expression;
using syntax::none;
using Kind = Expression::Kind;

/// The type of an expression in every run of its line. bottom: nothing is known yet; unknown: it may be
/// anything.
enum class Type { bottom, unknown, plain, builder, predicate, reg, regs, pipeline, cursor, fragment, place };

bool is_register(Type type) { return type == Type::predicate || type == Type::reg || type == Type::regs; }

Type join(Type a, Type b) {
    if (a == Type::bottom || a == b) return b;
    if (b == Type::bottom) return a;
    const bool scalar = a != Type::regs && b != Type::regs;
    return is_register(a) && is_register(b) && scalar ? Type::reg : Type::unknown;
}

/// The type of a method's result, and of the arguments that it passes to a function that is its last
/// argument.
struct Method {
    Type of;
    std::string_view name;
    Type result;
    std::array<Type, 2> callback{Type::unknown, Type::unknown};
};
constexpr std::array known_methods{
    Method{Type::builder, "reg", Type::reg},
    Method{Type::builder, "regs", Type::regs},
    Method{Type::builder, "param", Type::reg},
    Method{Type::builder, "special", Type::reg},
    Method{Type::builder, "tensor_map", Type::reg},
    Method{Type::builder, "element", Type::reg},
    Method{Type::builder, "address", Type::reg},
    Method{Type::builder, "descriptor", Type::reg},
    Method{Type::builder, "pipeline", Type::pipeline},
    Method{Type::builder, "fragment", Type::fragment},
    Method{Type::builder, "loop", Type::unknown, {Type::reg, Type::unknown}},
    Method{Type::reg, "lt", Type::predicate},
    Method{Type::reg, "le", Type::predicate},
    Method{Type::reg, "gt", Type::predicate},
    Method{Type::reg, "ge", Type::predicate},
    Method{Type::reg, "eq", Type::predicate},
    Method{Type::reg, "ne", Type::predicate},
    Method{Type::reg, "set", Type::reg},
    Method{Type::regs, "slice", Type::regs},
    Method{Type::pipeline, "cursor", Type::cursor},
    Method{Type::pipeline, "full_barrier", Type::reg},
    Method{Type::pipeline, "empty_barrier", Type::reg},
    Method{Type::pipeline, "expect", Type::reg},
    Method{Type::fragment, "map", Type::fragment, {Type::reg, Type::place}},
    Method{Type::fragment, "row_reduce", Type::regs, {Type::unknown, Type::reg}},
    Method{Type::fragment, "row_max", Type::regs},
    Method{Type::fragment, "row_sum", Type::regs},
    Method{Type::fragment, "operand", Type::regs}};

const Method* method_of(Type base, std::string_view name) {
    if (base == Type::predicate) base = Type::reg;
    const auto* found = std::ranges::find_if(
        known_methods, [&](const Method& method) { return method.of == base && method.name == name; });
    return found == known_methods.end() ? nullptr : found;
}

/// The type of the result of an instruction's method.
Type result_of_instruction(std::string_view name) {
    const isa::Spelling spelling = isa::parse_method(name);
    if (spelling.op == nullptr) return Type::unknown;
    for (const isa::OperandRule& rule : spelling.op->operands) {
        if (rule.access != isa::Access::out || rule.by_name) continue;
        if ((rule.kinds & isa::OperandRule::list) != 0) return Type::regs;
        return rule.type != nullptr && rule.type(spelling.form) == isa::Type::pred ? Type::predicate
                                                                                   : Type::reg;
    }
    return Type::unknown;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Does `text` hold the identifier `name`?
bool mentions(std::string_view text, std::string_view name) {
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
    }
    return false;
}

class Proof {
  public:
    Proof(const Chunk& chunk, const std::vector<BuilderParameter>& builders)
        : chunk_(chunk),
          builders_(builders),
          types_(chunk.declarations.size(), Type::bottom),
          callback_of_(chunk.functions.size(), none) {
        for (int id = 0; id < static_cast<int>(chunk.expressions.size()); ++id) {
            const Expression& call = chunk.at(id);
            if (call.kind != Kind::method) continue;
            for (int argument : call.arguments)
                if (chunk.at(argument).kind == Kind::function)
                    callback_of_[static_cast<std::size_t>(chunk.at(argument).function)] = id;
        }
        // Types only rise in the lattice, so the iteration ends.
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < types_.size(); ++i) {
                const Type type = join(types_[i], declared(chunk.declarations[i]));
                changed = changed || type != types_[i];
                types_[i] = type;
            }
        }
    }

    Type type_of(int id) const {
        const Expression& e = chunk_.at(id);
        switch (e.kind) {
            case Kind::boolean:
            case Kind::number:
            case Kind::string: return Type::plain;
            case Kind::name:
                return e.declaration == none ? Type::unknown
                                             : types_[static_cast<std::size_t>(e.declaration)];
            case Kind::paren: return type_of(e.left);
            case Kind::index: return element_type(e);
            case Kind::method: {
                const Type base = type_of(e.left);
                if (base == Type::bottom) return base;
                if (const Method* method = method_of(base, e.name)) return method->result;
                return base == Type::builder ? result_of_instruction(e.name) : Type::unknown;
            }
            case Kind::unary: {
                const Type type = type_of(e.left);
                if (e.operation == "-" || e.operation == "~")
                    return is_register(type) || type == Type::plain || type == Type::bottom ? type
                                                                                            : Type::unknown;
                return Type::unknown;
            }
            case Kind::binary: return binary_type(e);
            default: return Type::unknown;
        }
    }

  private:
    Type element_type(const Expression& e) const {
        const Type base = type_of(e.left);
        if (base == Type::bottom) return base;
        const bool number = e.right != none;
        if (base == Type::regs && number) return Type::reg;
        if (base == Type::cursor && !number && (e.name == "stage" || e.name == "phase")) return Type::reg;
        if (base == Type::place && !number && (e.name == "row" || e.name == "column")) return Type::reg;
        return Type::unknown;
    }

    Type binary_type(const Expression& e) const {
        const Type a = type_of(e.left), b = type_of(e.right);
        const std::string_view operation = e.operation;
        if (operation == "and" || operation == "or") {
            if (a == Type::bottom) return a;
            if (!is_register(a)) return Type::unknown;
            return operation == "and" ? b : a;
        }
        constexpr std::string_view others = "== ~= <= >= < > .. ^";
        if (others.find(operation) != std::string_view::npos && operation != "~") return Type::unknown;
        const bool bits = operation == "&" || operation == "|" || operation == "~";
        if (bits && (a == Type::predicate || b == Type::predicate)) return Type::predicate;
        if (is_register(a) || is_register(b)) return Type::reg;
        if (a == Type::bottom || b == Type::bottom) return Type::bottom;
        return a == Type::plain && b == Type::plain ? Type::plain : Type::unknown;
    }

    Type declared(const Declaration& d) const {
        if (d.unknown) return Type::unknown;
        Type type = d.parameter == none ? Type::bottom : parameter_type(d);
        for (int value : d.values) type = join(type, type_of(value));
        return type;
    }

    Type parameter_type(const Declaration& d) const {
        if (std::ranges::find(builders_, BuilderParameter{d.function, d.parameter}) != builders_.end())
            return Type::builder;
        const auto& function = chunk_.functions[static_cast<std::size_t>(d.function)];
        if (const int call = callback_of_[static_cast<std::size_t>(d.function)]; call != none) {
            const Type base = type_of(chunk_.at(call).left);
            if (base == Type::bottom) return base;
            const Method* method = method_of(base, chunk_.at(call).name);
            return method != nullptr && d.parameter < 2
                       ? method->callback[static_cast<std::size_t>(d.parameter)]
                       : Type::unknown;
        }
        // A local function that is only ever called: the types of its arguments.
        if (function.declaration == none) return Type::unknown;
        const Declaration& name = chunk_.declarations[static_cast<std::size_t>(function.declaration)];
        if (name.escapes || name.unknown || name.values.size() != 1 || name.calls.empty())
            return Type::unknown;
        Type type = Type::bottom;
        for (int call : name.calls) {
            const auto& arguments = chunk_.at(call).arguments;
            const auto place = static_cast<std::size_t>(d.parameter);
            type = join(type, place < arguments.size() ? type_of(arguments[place]) : Type::unknown);
        }
        return type;
    }

    const Chunk& chunk_;
    const std::vector<BuilderParameter>& builders_;
    std::vector<Type> types_;       ///< of each declaration
    std::vector<int> callback_of_;  ///< of each function: the method call that it is an argument of
};

Diagnostic finding_at(std::string_view file, int line, std::string message, std::string fix) {
    return rules::finding(rules::WG_LUA_01, Where::at(file, line), std::move(message), std::move(fix));
}

/// The text of a short expression on one line.
std::string shown(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (std::isspace(static_cast<unsigned char>(c)) == 0)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    if (out.size() > 60) out = out.substr(0, 57) + "...";
    return out;
}

std::string fix_of(std::string_view keyword, const std::string& text) {
    if (keyword == "while" || keyword == "until")
        return fmt::format("k:while_(function() return {} end, function() ... end)", text);
    if (keyword == "not") return fmt::format("~{} negates a predicate", text);
    if (keyword == "and")
        return fmt::format("{} & other for predicates; k:selp(x, y, {}) selects a value", text, text);
    if (keyword == "or") return fmt::format("{} | other for predicates", text);
    return fmt::format("k:if_({}, function() ... end, function() ... end)", text);
}

void judge(const Chunk& chunk, const Proof& proof, std::string_view file, const syntax::Test& asked, int id,
           std::vector<Diagnostic>& findings) {
    const Expression* e = &chunk.at(id);
    while (e->kind == Kind::paren) e = &chunk.at(id = e->left);
    if (e->kind == Kind::binary && (e->operation == "and" || e->operation == "or")) {
        // Its left operand has a test of its own.
        if (asked.keyword != "and" && asked.keyword != "or")
            judge(chunk, proof, file, asked, e->right, findings);
        return;
    }
    const Type type = proof.type_of(id);
    if (!is_register(type)) return;
    const bool loop = asked.keyword == "while" || asked.keyword == "until";
    const bool variable = e->kind == Kind::name || e->kind == Kind::index;
    if (variable && !loop) {
        // `if guard then ... guard ... end` may test whether there is a guard: redundant here, but intended.
        const bool block = asked.keyword == "if";
        if (type != Type::predicate && !block) return;
        const std::string_view name = e->kind == Kind::name ? e->name : e->text;
        if (mentions(asked.guarded, name)) return;
        if (asked.keyword == "or" && !asked.guarded.empty() && type != Type::predicate) return;
    }
    const std::string text = shown(e->text);
    findings.push_back(finding_at(file, e->line,
                                  fmt::format("`{}` is a register: Lua's `{}` takes it for true while the "
                                              "kernel is traced, whatever it will hold",
                                              text, asked.keyword),
                                  fix_of(asked.keyword, text)));
}

}  // namespace

std::vector<Diagnostic> constant_conditions(const Chunk& chunk, std::string_view file,
                                            const std::vector<BuilderParameter>& builders) {
    std::vector<Diagnostic> findings;
    if (!chunk.good) return findings;
    const Proof proof(chunk, builders);
    for (const syntax::Test& asked : chunk.tests)
        judge(chunk, proof, file, asked, asked.expression, findings);
    for (const Expression& e : chunk.expressions) {
        if (e.kind != Kind::binary || (e.operation != "==" && e.operation != "~=")) continue;
        const Type a = proof.type_of(e.left), b = proof.type_of(e.right);
        if (!(is_register(a) && b == Type::plain) && !(is_register(b) && a == Type::plain)) continue;
        const bool equal = e.operation == "==";
        const Expression& of = chunk.at(is_register(a) ? e.left : e.right);
        const bool operation = of.kind == Kind::binary || of.kind == Kind::unary;
        const std::string of_register =
            fmt::format("{}{}{}", operation ? "(" : "", shown(of.text), operation ? ")" : "");
        const std::string of_number = shown(chunk.at(is_register(a) ? e.right : e.left).text);
        findings.push_back(finding_at(
            file, e.line,
            fmt::format(
                "`{}` compares a register with a value of Lua: that is {} while the kernel is traced, "
                "whatever the register will hold",
                shown(e.text), equal ? "false" : "true"),
            fmt::format("{}:{}({}) gives a predicate, for k:if_, k:selp and guards", of_register,
                        equal ? "eq" : "ne", of_number)));
    }
    std::ranges::stable_sort(findings, {}, [](const Diagnostic& finding) { return finding.where.line; });
    return findings;
}

}  // namespace wgrun::lua
