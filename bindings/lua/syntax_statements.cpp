#include <algorithm>

#include "bindings/lua/syntax_parser.hpp"

namespace wgrun::lua::syntax {

bool Parser::block_ends() const {
    return now_.kind == Token::Kind::end || is("end") || is("else") || is("elseif") || is("until");
}

std::string_view Parser::block() {
    const std::size_t names = scope_.size();
    const std::string_view text = open_block();
    scope_.resize(names);
    return text;
}

std::string_view Parser::open_block() {
    const Deeper deeper(*this);
    const std::size_t begin = now_.begin;
    while (!block_ends()) {
        if (is("return")) {
            shift();
            if (!block_ends() && !is(";")) expression_list();
            take(";");
            break;
        }
        statement();
    }
    return since(std::min(begin, end_));
}

void Parser::statement() {
    if (take(";")) return;
    if (is("if")) return if_statement();
    if (take("while")) {
        const int condition = expression();
        expect("do");
        const std::string_view body = block();
        expect("end");
        chunk_.tests.push_back({condition, "while", body});
        return;
    }
    if (take("do")) {
        block();
        return expect("end");
    }
    if (take("for")) return for_statement();
    if (take("repeat")) {
        const std::size_t names = scope_.size();
        open_block();
        expect("until");
        chunk_.tests.push_back({expression(), "until", {}});
        scope_.resize(names);
        return;
    }
    if (is("function")) return function_statement();
    if (take("local")) return take("function") ? local_function() : local_statement();
    if (take("::")) {
        identifier();
        return expect("::");
    }
    if (take("break")) return;
    if (is("goto") && ahead_.kind == Token::Kind::name) {
        shift();
        shift();
        return;
    }
    expression_statement();
}

void Parser::if_statement() {
    do {
        shift();  // if, elseif
        const int condition = expression();
        expect("then");
        chunk_.tests.push_back({condition, "if", block()});
    } while (is("elseif"));
    if (take("else")) block();
    expect("end");
}

void Parser::for_statement() {
    const std::size_t names = scope_.size();
    const int line = now_.line;
    std::vector<std::string_view> variables{identifier()};
    const bool counts = is("=");
    int first = none;
    if (take("=")) {
        first = expression_list().front();
    } else {
        while (take(",")) variables.push_back(identifier());
        expect("in");
        expression_list();
    }
    for (const std::string_view variable : variables) {
        const int id = declare(variable, line);
        if (counts)
            declaration(id).values.push_back(first);
        else
            declaration(id).unknown = true;
    }
    expect("do");
    block();
    expect("end");
    scope_.resize(names);
}

void Parser::function_statement() {
    const int line = now_.line;
    shift();
    const int base = name_expression();
    bool method = false, plain = true;
    while (is(".") || is(":")) {
        method = is(":");
        plain = false;
        shift();
        identifier();
    }
    if (plain && at(base).declaration != none) declaration(at(base).declaration).unknown = true;
    function_body(line, method, none);
}

void Parser::local_function() {
    const int line = now_.line;
    const int id = declare(identifier(), line);
    const int function = function_body(line, false, id);
    Expression expression;
    expression.kind = Kind::function;
    expression.line = line;
    expression.function = function;
    declaration(id).values.push_back(add(std::move(expression)));
}

void Parser::local_statement() {
    std::vector<std::pair<std::string_view, int>> names;
    do {
        names.emplace_back(now_.text, now_.line);
        identifier();
        if (take("<")) {
            identifier();
            expect(">");
        }
    } while (take(","));
    std::vector<int> values;
    if (take("=")) values = expression_list();
    std::vector<int> ids;
    for (const auto& [name, line] : names) ids.push_back(declare(name, line));
    for (std::size_t i = 0; i < ids.size(); ++i) assign(ids[i], values, i);
}

void Parser::assign(int id, const std::vector<int>& values, std::size_t i) {
    if (i >= values.size()) {
        declaration(id).unknown = true;  // nil, or a further result of the last call
        return;
    }
    declaration(id).values.push_back(values[i]);
    if (at(values[i]).kind == Kind::function)
        chunk_.functions[static_cast<std::size_t>(at(values[i]).function)].declaration = id;
}

void Parser::expression_statement() {
    std::vector<int> targets{suffixed_expression()};
    if (!is("=") && !is(",")) return;
    while (take(",")) targets.push_back(suffixed_expression());
    expect("=");
    const std::vector<int> values = expression_list();
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const Expression& target = at(targets[i]);
        if (target.kind == Kind::name && target.declaration != none) assign(target.declaration, values, i);
    }
}

}  // namespace wgrun::lua::syntax
