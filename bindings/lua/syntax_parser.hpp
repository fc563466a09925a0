// The parser of syntax.hpp: recursive descent, as in Lua's own.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "bindings/lua/syntax.hpp"
#include "bindings/lua/syntax_lexer.hpp"

namespace wgrun::lua::syntax {

/// Throws Unreadable.
class Parser {
  public:
    explicit Parser(Chunk& chunk) : chunk_(chunk), lexer_(chunk.text) {
        shift();
        shift();
    }

    void run();

  private:
    using Kind = Expression::Kind;

    // --- tokens ---
    void shift() {
        end_ = now_.begin + now_.text.size();
        now_ = ahead_;
        ahead_ = lexer_.next();
    }
    bool is(std::string_view text) const {
        return now_.text == text && (now_.kind == Token::Kind::symbol || now_.kind == Token::Kind::name);
    }
    bool take(std::string_view text) {
        if (!is(text)) return false;
        shift();
        return true;
    }
    void expect(std::string_view text) {
        if (!take(text)) throw Unreadable();
    }
    std::string_view identifier() {
        if (now_.kind != Token::Kind::name) throw Unreadable();
        const std::string_view name = now_.text;
        shift();
        return name;
    }
    std::string_view since(std::size_t begin) const { return lexer_.text().substr(begin, end_ - begin); }

    // --- names ---
    int declare(std::string_view name, int line) {
        chunk_.declarations.push_back({name, line});
        const int id = static_cast<int>(chunk_.declarations.size()) - 1;
        scope_.push_back(id);
        return id;
    }
    Declaration& declaration(int id) { return chunk_.declarations[static_cast<std::size_t>(id)]; }
    int resolve(std::string_view name) const {
        for (std::size_t i = scope_.size(); i-- > 0;)
            if (chunk_.declarations[static_cast<std::size_t>(scope_[i])].name == name) return scope_[i];
        return none;
    }

    int add(Expression expression) {
        chunk_.expressions.push_back(std::move(expression));
        return static_cast<int>(chunk_.expressions.size()) - 1;
    }
    Expression& at(int id) { return chunk_.expressions[static_cast<std::size_t>(id)]; }

    // --- syntax_statements.cpp ---
    bool block_ends() const;
    /// A block with a scope of its own; gives its text.
    std::string_view block();
    /// A block whose names stay visible, for the condition after `until`.
    std::string_view open_block();
    void statement();
    void if_statement();
    void for_statement();
    void function_statement();
    void local_function();
    void local_statement();
    /// Assigns value i of a list to a declaration.
    void assign(int id, const std::vector<int>& values, std::size_t i);
    void expression_statement();

    // --- syntax_expressions.cpp ---
    std::vector<int> expression_list();
    int expression(int limit = 0);
    int leaf(Kind kind);
    int simple_expression();
    int table();
    int name_expression();
    int suffixed_expression();
    /// Records that a name is used for anything but a call.
    void use(int expression);
    std::vector<int> call_arguments();
    /// Parameters and body; `function` is taken.
    int function_body(int line, bool method, int declaration_of_it);

    // --- syntax.cpp ---
    /// `not`, `and` and `or` test for truth, too.
    void tests_of_operators();

    static constexpr int most_depth = 200;  ///< as Lua's own limit (LUAI_MAXCCALLS)
    struct Deeper {
        explicit Deeper(Parser& parser) : depth(parser.depth_) {
            if (++depth > most_depth) throw Unreadable();
        }
        ~Deeper() { --depth; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        int& depth;
    };

    Chunk& chunk_;
    Lexer lexer_;
    Token now_, ahead_;
    std::size_t end_ = 0;  ///< after the last token taken
    std::vector<int> scope_, functions_;
    int depth_ = 0;
};

}  // namespace wgrun::lua::syntax
