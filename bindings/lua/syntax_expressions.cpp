#include <algorithm>
#include <array>

#include "bindings/lua/syntax_parser.hpp"

namespace wgrun::lua::syntax {
namespace {

struct Priority {
    std::string_view operation;
    int left, right;
};
constexpr std::array priorities{Priority{"or", 1, 1},   Priority{"and", 2, 2}, Priority{"<", 3, 3},
                                Priority{">", 3, 3},    Priority{"<=", 3, 3},  Priority{">=", 3, 3},
                                Priority{"~=", 3, 3},   Priority{"==", 3, 3},  Priority{"|", 4, 4},
                                Priority{"~", 5, 5},    Priority{"&", 6, 6},   Priority{"<<", 7, 7},
                                Priority{">>", 7, 7},   Priority{"..", 9, 8},  Priority{"+", 10, 10},
                                Priority{"-", 10, 10},  Priority{"*", 11, 11}, Priority{"/", 11, 11},
                                Priority{"//", 11, 11}, Priority{"%", 11, 11}, Priority{"^", 14, 13}};
constexpr int unary_priority = 12;

}  // namespace

std::vector<int> Parser::expression_list() {
    std::vector<int> list{expression()};
    while (take(",")) list.push_back(expression());
    return list;
}

int Parser::expression(int limit) {
    const Deeper deeper(*this);
    const std::size_t begin = now_.begin;
    int left = none;
    if (is("not") || is("-") || is("#") || is("~")) {
        Expression out;
        out.kind = Kind::unary;
        out.operation = now_.text;
        out.line = now_.line;
        shift();
        out.left = expression(unary_priority);
        out.text = since(begin);
        left = add(std::move(out));
    } else {
        left = simple_expression();
    }
    for (;;) {
        const auto* found = std::find_if(priorities.begin(), priorities.end(),
                                         [&](const Priority& priority) { return is(priority.operation); });
        if (found == priorities.end() || found->left <= limit) return left;
        Expression out;
        out.kind = Kind::binary;
        out.operation = found->operation;
        out.line = now_.line;
        shift();
        out.left = left;
        out.right = expression(found->right);
        out.text = since(begin);
        left = add(std::move(out));
    }
}

int Parser::leaf(Kind kind) {
    Expression out;
    out.kind = kind;
    out.line = now_.line;
    const std::size_t begin = now_.begin;
    shift();
    out.text = since(begin);
    return add(std::move(out));
}

int Parser::simple_expression() {
    if (now_.kind == Token::Kind::number) return leaf(Kind::number);
    if (now_.kind == Token::Kind::string) return leaf(Kind::string);
    if (is("nil")) return leaf(Kind::nil);
    if (is("true") || is("false")) return leaf(Kind::boolean);
    if (is("...")) return leaf(Kind::other);
    if (is("{")) return table();
    if (is("function")) {
        const std::size_t begin = now_.begin;
        const int line = now_.line;
        shift();
        Expression out;
        out.kind = Kind::function;
        out.line = line;
        out.function = function_body(line, false, none);
        out.text = since(begin);
        const int function = out.function, id = add(std::move(out));
        chunk_.functions[static_cast<std::size_t>(function)].expression = id;
        return id;
    }
    return suffixed_expression();
}

int Parser::table() {
    Expression out;
    out.line = now_.line;
    const std::size_t begin = now_.begin;
    expect("{");
    while (!is("}")) {
        if (take("[")) {
            expression();
            expect("]");
            expect("=");
        } else if (now_.kind == Token::Kind::name && ahead_.text == "=" &&
                   ahead_.kind == Token::Kind::symbol) {
            shift();
            shift();
        }
        expression();
        if (!take(",") && !take(";")) break;
    }
    expect("}");
    out.text = since(begin);
    return add(std::move(out));
}

int Parser::name_expression() {
    Expression out;
    out.kind = Kind::name;
    out.line = now_.line;
    const std::size_t begin = now_.begin;
    out.name = identifier();
    out.text = since(begin);
    out.declaration = resolve(out.name);
    return add(std::move(out));
}

int Parser::suffixed_expression() {
    const std::size_t begin = now_.begin;
    int base = none;
    if (is("(")) {
        Expression out;
        out.kind = Kind::paren;
        out.line = now_.line;
        shift();
        out.left = expression();
        expect(")");
        out.text = since(begin);
        base = add(std::move(out));
    } else {
        if (now_.kind != Token::Kind::name) throw Unreadable();
        base = name_expression();
    }
    for (;;) {
        Expression out;
        out.line = now_.line;
        out.left = base;
        if (take(".")) {
            out.kind = Kind::index;
            out.name = identifier();
        } else if (take("[")) {
            out.kind = Kind::index;
            out.right = expression();
            expect("]");
        } else if (is(":") && ahead_.kind == Token::Kind::name) {
            shift();
            out.kind = Kind::method;
            out.name = identifier();
            out.arguments = call_arguments();
        } else if (is("(") || is("{") || now_.kind == Token::Kind::string) {
            out.kind = Kind::call;
            out.arguments = call_arguments();
        } else {
            use(base);
            return base;
        }
        out.text = since(begin);
        const bool call = out.kind == Kind::call;
        const int id = add(std::move(out));
        if (call && at(base).kind == Kind::name && at(base).declaration != none)
            declaration(at(base).declaration).calls.push_back(id);
        else
            use(base);
        base = id;
    }
}

void Parser::use(int expression) {
    if (at(expression).kind == Kind::name && at(expression).declaration != none)
        declaration(at(expression).declaration).escapes = true;
}

std::vector<int> Parser::call_arguments() {
    if (is("{")) return {table()};
    if (now_.kind == Token::Kind::string) return {leaf(Kind::string)};
    expect("(");
    std::vector<int> list;
    if (!is(")")) list = expression_list();
    expect(")");
    return list;
}

int Parser::function_body(int line, bool method, int declaration_of_it) {
    const int id = static_cast<int>(chunk_.functions.size());
    chunk_.functions.emplace_back();
    const std::size_t names = scope_.size();
    std::vector<int> parameters;
    const auto parameter = [&](std::string_view name, int at_line) {
        const int declared = declare(name, at_line);
        declaration(declared).function = id;
        declaration(declared).parameter = static_cast<int>(parameters.size());
        parameters.push_back(declared);
    };
    if (method) parameter("self", line);
    expect("(");
    while (!is(")")) {
        if (take("...")) break;
        const int at_line = now_.line;
        parameter(identifier(), at_line);
        if (!take(",")) break;
    }
    expect(")");
    functions_.push_back(id);
    block();
    functions_.pop_back();
    scope_.resize(names);
    Function& function = chunk_.functions[static_cast<std::size_t>(id)];
    function.first_line = line;
    function.last_line = now_.line;
    function.parameters = std::move(parameters);
    function.declaration = declaration_of_it;
    expect("end");
    return id;
}

}  // namespace wgrun::lua::syntax
