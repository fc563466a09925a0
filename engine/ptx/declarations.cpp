// Declarations of variables, parameters and registers (PTX ISA 5.4).
#include "ptx/parser.hpp"
#include "ptx/words.hpp"

namespace wgrun::ptx {

/// Everything up to the name: .shared .align 8 .v4 .b32, also of a parameter with .ptr.
Variable Parser::variable(Span linkage) {
    Variable out;
    out.linkage = linkage;
    out.space = token_.span;
    advance();
    while (token_.kind == Token::Kind::dotted) {
        const std::string_view word = at(token_.span);
        if (is_type(word)) {
            if (out.type) expected("a name");
            out.type = token_.span;
            advance();
        } else if (word == ".align" && !out.pointer) {
            advance();
            out.align = integer("an alignment in bytes");
            if (out.align <= 0 || (out.align & (out.align - 1)) != 0)
                report({end_, 0}, "an alignment is a power of two");
        } else if (one_of(word, {".v2", ".v4", ".v8"})) {
            out.vector = token_.span;
            advance();
        } else if (word == ".ptr" || word == ".attribute") {
            const std::uint32_t begin = token_.span.offset;
            advance();
            for (int open = 0; token_.kind == Token::Kind::dotted || token_.kind == Token::Kind::integer ||
                               is('(') || (open > 0 && token_.kind != Token::Kind::end);) {
                if (is('(')) ++open;
                if (is(')')) --open;
                if (open == 0 && token_.kind == Token::Kind::dotted && is_type(at(token_.span))) break;
                advance();
            }
            out.pointer = since(begin);
        } else {
            expected(out.type ? "a name" : "a type, such as .b32");
        }
    }
    if (!out.type) expected("a type, such as .b32");
    name_of(out);
    return out;
}

/// The name, with <n>, [n] and = value.
void Parser::name_of(Variable& out) {
    if (token_.kind != Token::Kind::word) expected("a name");
    out.name = token_.span;
    advance();
    if (take('<')) {
        out.counted = true;
        out.count = integer("a number of registers");
        if (out.count < 0) report(out.name, "a number of registers is not negative");
        expect('>', "after the number of registers");
    }
    while (take('[')) {
        out.array = true;
        out.extents.push_back(is(']') ? -1 : expression(0));
        if (out.extents.back() < -1) report(out.name, "an array has no negative number of elements");
        expect(']', "after the number of elements");
    }
    if (take('=')) {
        const std::uint32_t begin = token_.span.offset;
        initializer();
        out.initializer = since(begin);
    }
}

void Parser::declaration(bool at_module, Span linkage) {
    const std::uint32_t begin = linkage ? linkage.offset : token_.span.offset;
    const auto first = static_cast<std::uint32_t>(module_.variables.size());
    Variable next = variable(linkage);
    Variable head = next;  // of the names that follow
    head.counted = head.array = false;
    head.extents.clear();
    head.initializer = {};
    module_.variables.push_back(std::move(next));
    while (take(',')) {
        Variable another = head;
        name_of(another);
        module_.variables.push_back(std::move(another));
    }
    const auto count = static_cast<std::uint32_t>(module_.variables.size()) - first;
    if (at_module) {
        for (std::uint32_t i = 0; i < count; ++i) module_.items.push_back({Item::Kind::variable, first + i});
    } else {
        Statement statement{.kind = Statement::Kind::variable};
        statement.index = first;
        statement.count = count;
        statement.text = since(begin);
        module_.statements.push_back(statement);
    }
    expect(';', "after the declaration");
}

}  // namespace wgrun::ptx
