#include "bindings/lua/syntax.hpp"

#include "bindings/lua/syntax_parser.hpp"

namespace wgrun::lua::syntax {

void Parser::run() {
    chunk_.functions.emplace_back();
    functions_.push_back(0);
    block();
    if (now_.kind != Token::Kind::end) throw Unreadable();
    tests_of_operators();
}

void Parser::tests_of_operators() {
    for (int id = 0; id < static_cast<int>(chunk_.expressions.size()); ++id) {
        const Expression& expression = chunk_.at(id);
        const bool binary = expression.operation == "and" || expression.operation == "or";
        if (expression.kind == Kind::unary && expression.operation == "not")
            chunk_.tests.push_back({expression.left, "not", {}});
        if (expression.kind == Kind::binary && binary)
            chunk_.tests.push_back({expression.left, expression.operation, chunk_.at(expression.right).text});
    }
}

void parse(std::string text, Chunk& chunk) {
    chunk = {};
    chunk.text = std::move(text);
    try {
        Parser(chunk).run();
        chunk.good = true;
    } catch (const Unreadable&) {
        std::string kept = std::move(chunk.text);
        chunk = {};
        chunk.text = std::move(kept);
    }
}

}  // namespace wgrun::lua::syntax
