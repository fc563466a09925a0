// What stands in the body of a function (PTX ISA 4.3).
#include <fmt/format.h>

#include "ptx/parser.hpp"
#include "ptx/words.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::ptx {

void Parser::body() {
    const std::uint32_t begin = end_ - 1;
    // Scopes are counted rather than entered, so that their depth costs nothing.
    std::vector<std::uint32_t> open{begin};
    while (!open.empty() && !gave_up_) {
        Cancellation::poll();
        if (token_.kind == Token::Kind::end) {
            report({open.back(), 1}, "this `{` is never closed");
            return;
        }
        Statement scope;
        scope.text = token_.span;
        if (take('{')) {
            open.push_back(scope.text.offset);
            scope.kind = Statement::Kind::open;
            module_.statements.push_back(scope);
        } else if (take('}')) {
            open.pop_back();
            scope.kind = Statement::Kind::close;
            if (!open.empty()) module_.statements.push_back(scope);
        } else {
            if (begins_function()) {
                report({open.back(), 1}, "this `{` is not closed before the next function");
                return;
            }
            const std::size_t before = module_.statements.size();
            try {
                statement();
            } catch (const Unreadable&) {
                module_.statements.resize(before);
                recover();
            }
        }
    }
}

void Parser::statement() {
    if (is(';')) return advance();
    if (token_.kind == Token::Kind::dotted) {
        const std::string_view word = at(token_.span);
        if (is_space(word)) return declaration(false, {});
        if (word == ".loc") return location();
        if (!one_of(word, {".pragma", ".file"})) expected("an instruction, a label or a declaration");
        Statement out{.kind = Statement::Kind::directive};
        Directive read = directive();
        if (word == ".file") source_file(read);
        out.text = read.text;
        out.index = static_cast<std::uint32_t>(module_.directives.size());
        module_.directives.push_back(std::move(read));
        module_.statements.push_back(out);
        return;
    }
    instruction();
}

/// The label `name`, whose colon is next.
void Parser::labelled(const Token& name) {
    Statement out{.kind = Statement::Kind::label};
    out.name = out.text = name.span;
    module_.statements.push_back(out);
    advance();
    if (token_.kind == Token::Kind::dotted &&
        one_of(at(token_.span), {".branchtargets", ".calltargets", ".callprototype"})) {
        Statement targets{.kind = Statement::Kind::directive};
        Directive read = directive();
        targets.text = read.text;
        targets.index = static_cast<std::uint32_t>(module_.directives.size());
        module_.directives.push_back(std::move(read));
        module_.statements.push_back(targets);
    }
}

void Parser::instruction() {
    const std::uint32_t begin = token_.span.offset;
    Statement out;
    if (take('@')) {
        out.guard_negated = take('!');
        if (token_.kind != Token::Kind::word) expected("a predicate after @");
        out.guard = token_.span;
        advance();
    }
    if (token_.kind != Token::Kind::word) expected("an instruction, a label or a declaration");
    const Token opcode = token_;
    // A word and a colon are a label; anything else that follows belongs to the opcode.
    Token word = opcode;
    lexer_.extend(word);
    end_ = word.span.offset + word.span.size;
    token_ = lexer_.next();
    if (is(':') && !out.guard) return labelled(word);
    while (token_.kind == Token::Kind::dotted) {
        out.broken = true;
        advance();
    }
    out.name = since(word.span.offset);
    const auto first_letter = static_cast<unsigned char>(at(out.name)[0] | 0x20);
    if (first_letter < 'a' || first_letter > 'z') {
        report(out.name, fmt::format("expected an instruction, found `{}`", at(out.name)));
        throw Unreadable{};
    }
    calls_ = at(out.name).starts_with("call");
    const auto nodes = module_.nodes.size();
    if (!is(';') && !is('}') && token_.kind != Token::Kind::end) out.operands = operands(';');
    if (!is(';') && !token_.first && !is('}') && token_.kind != Token::Kind::end) {
        module_.nodes.resize(nodes);
        expected(fmt::format("`,` or `;` after an operand of {}", at(word.span)));
    }
    out.text = since(begin);
    expect(';', fmt::format("at the end of {}", at(word.span)));
    module_.statements.push_back(out);
}

/// .loc FILE LINE COLUMN, function_name LABEL + OFFSET, inlined_at FILE LINE COLUMN
void Parser::location() {
    const std::uint32_t begin = token_.span.offset;
    advance();
    const auto number = [&] { return static_cast<int>(integer("a number of .loc")); };
    Location out;
    out.file = number();
    out.line = number();
    if (token_.kind == Token::Kind::integer && !token_.first) out.column = number();
    while (!token_.first && take(',')) {
        if (token_.kind != Token::Kind::word) expected("function_name or inlined_at");
        const std::string_view word = at(token_.span);
        advance();
        if (word == "inlined_at") {
            out.at_file = number();
            out.at_line = number();
            out.at_column = number();
        } else if (word == "function_name") {
            if (token_.kind != Token::Kind::word) expected("a label");
            advance();
            if (take('+')) (void)integer("an offset");
        } else {
            expected("function_name or inlined_at");
        }
    }
    Statement statement{.kind = Statement::Kind::location};
    statement.text = since(begin);
    statement.index = static_cast<std::uint32_t>(module_.locations.size());
    module_.locations.push_back(out);
    module_.statements.push_back(statement);
    (void)take(';');
}

}  // namespace wgrun::ptx
