#include "ptx/parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/words.hpp"
#include "wgrun/cancellation.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::ptx {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;

}  // namespace

Parser::Parser(std::string file, std::string text)
    : module_(std::move(file), std::move(text)), lexer_(module_.text()) {
    advance();
}

Parsed parse(std::string file, std::string text) {
    if (text.size() >= most_bytes) throw ArgumentError("a PTX text of 1 GiB or more");
    return Parser(std::move(file), std::move(text)).run();
}

// --- tokens and errors ---------------------------------------------------------------------------------

void Parser::advance() {
    end_ = token_.span.offset + token_.span.size;
    token_ = lexer_.next();
}

bool Parser::take(char symbol) {
    if (!is(symbol)) return false;
    advance();
    return true;
}

void Parser::expect(char symbol, std::string_view where) {
    if (is(symbol)) return advance();
    // A semicolon that is missing at the end of a line is missing there.
    if (symbol == ';' && (token_.first || token_.kind == Token::Kind::end || is('}'))) {
        report({end_, 0}, fmt::format("expected `;` {}", where));
        return;
    }
    expected(fmt::format("`{}` {}", symbol, where));
}

std::int64_t Parser::integer(std::string_view what) {
    if (token_.kind != Token::Kind::integer) expected(std::string(what));
    const std::int64_t value = token_.value;
    advance();
    return value;
}

std::string Parser::found() const {
    constexpr std::size_t longest = 40;
    if (token_.kind == Token::Kind::end) return "the end of the text";
    if (token_.kind == Token::Kind::bad) return token_.what;
    const std::string_view text = at(token_.span);
    return fmt::format("`{}`", printable(text.substr(0, longest)) + (text.size() > longest ? "..." : ""));
}

void Parser::expected(const std::string& what) {
    report(token_.span, fmt::format("expected {}, found {}", what, found()));
    throw Unreadable{};
}

void Parser::report(Span span, std::string message) {
    if (gave_up_) return;
    if (errors_.size() == most_errors) {
        gave_up_ = true;
        message = fmt::format("more than {} errors: the rest is not read", most_errors);
    }
    const int line = module_.line(span.offset), column = module_.column(span.offset);
    Diagnostic error =
        plain_error(fmt::format("{} (column {})", message, column), {}, Where::at(module_.file, line));
    // The line and a caret below it, where it has anything; long lines are cut around the place.
    constexpr int before = 60, most = 110;
    std::string text(module_.line_text(line));
    const int from = std::max(0, column - 1 - before);
    text = text.substr(std::min(static_cast<std::size_t>(from), text.size()), most);
    std::ranges::replace(text, '\t', ' ');
    if (text.find_first_not_of(" \t\r") != std::string::npos)
        error.notes.push_back(
            {error.where, fmt::format("\n{}\n{:>{}}", printable(text), '^', column - from)});
    errors_.push_back(std::move(error));
}

void Parser::recover() {
    // A statement ends with a semicolon, or before a brace, a directive or a label at the beginning of a
    // line.
    for (int open = 0; token_.kind != Token::Kind::end; advance()) {
        if (open == 0 && is(';')) return advance();
        if (is('{')) ++open;
        if (is('}') && open-- == 0) return;
        if (begins_function()) return;
    }
}

/// Returns whether the next token begins a function, or another declaration that stands in modules alone.
bool Parser::begins_function() const {
    return token_.kind == Token::Kind::dotted &&
           (is_linkage(at(token_.span)) || one_of(at(token_.span), {".entry", ".func"}));
}

// --- modules -------------------------------------------------------------------------------------------

Parsed Parser::run() {
    while (token_.kind != Token::Kind::end && !gave_up_) {
        Cancellation::poll();
        const std::uint32_t begin = token_.span.offset;
        try {
            item();
        } catch (const Unreadable&) {
            recover();
            if (is('}')) advance();
            if (token_.span.offset == begin && token_.kind != Token::Kind::end) advance();
        }
    }
    const std::string& text = module_.text();
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        errors_.clear();
        report({0, 0}, "a text in UTF-16; PTX is ASCII, or UTF-8");
    } else if (errors_.empty() && module_.items.empty()) {
        report({0, 0}, "a text without a single directive of PTX");
    }
    // Lines of the same number are in the order of their columns already.
    std::ranges::stable_sort(errors_, {}, [](const Diagnostic& error) { return error.where.line; });
    return {std::move(module_), std::move(errors_)};
}

void Parser::item() {
    if (is(';')) return advance();
    if (token_.kind != Token::Kind::dotted)
        expected("a directive, such as .version, .global or .visible .entry");
    Span linkage;
    if (is_linkage(at(token_.span))) {
        linkage = token_.span;
        advance();
    }
    if (is_dotted(".entry") || is_dotted(".func")) return function(linkage);
    if (token_.kind == Token::Kind::dotted && is_space(at(token_.span))) return declaration(true, linkage);
    if (linkage) expected("`.entry`, `.func` or a state space");
    if (is_dotted(".section")) return section();
    directive_at_module();
}

void Parser::directive_at_module() {
    const std::string_view name = at(token_.span);
    if (!one_of(name, {".version", ".target", ".address_size", ".file", ".pragma", ".alias", ".loc"}))
        expected("a directive of modules");
    Directive read = directive();
    if (name == ".file") source_file(read);
    module_.items.push_back({Item::Kind::directive, static_cast<std::uint32_t>(module_.directives.size())});
    module_.directives.push_back(std::move(read));
}

/// A directive and what follows it: up to a semicolon, where one ends it, or to the end of the line.
Directive Parser::directive() {
    Directive out;
    out.name = token_.span;
    const std::uint32_t begin = token_.span.offset;
    const std::string_view name = at(token_.span);
    const bool ends = one_of(name, {".pragma", ".alias", ".branchtargets", ".calltargets", ".callprototype"});
    advance();
    const auto over = [&] {
        if (token_.kind == Token::Kind::end) return true;
        if (ends) return is(';');
        return token_.first || is(';') || is('{') || is('}');
    };
    while (!over()) {
        if (token_.kind == Token::Kind::bad) expected("what belongs to " + std::string(name));
        if (token_.kind == Token::Kind::integer) out.numbers.push_back(token_.value);
        advance();
    }
    out.text = since(begin);
    if (name == ".version" && at(out.text).find_first_of("0123456789") == std::string_view::npos)
        expected("a version, such as 8.0");
    if (name == ".address_size" && (out.numbers.size() != 1 || out.numbers[0] != 64))
        report(out.text, "addresses have 64 bits on sm_90a");
    if (ends)
        expect(';', "after " + std::string(name));
    else
        (void)take(';');
    return out;
}

void Parser::source_file(const Directive& directive) {
    const std::string_view text = at(directive.text);
    const std::size_t open = text.find('"'), close = text.find('"', open + 1);
    if (directive.numbers.empty() || open == std::string_view::npos || close == std::string_view::npos)
        return report(directive.text, "expected .file NUMBER \"NAME\"");
    module_.files.push_back(
        {static_cast<int>(directive.numbers[0]), std::string(text.substr(open + 1, close - open - 1))});
}

/// .section NAME { ... }: for a debugger. It is kept as text.
void Parser::section() {
    Directive out;
    const std::uint32_t begin = token_.span.offset;
    out.name = token_.span;
    advance();
    while (!is('{')) {
        if (token_.kind == Token::Kind::end) expected("`{` of the section");
        advance();
    }
    for (int open = 0;;) {
        if (token_.kind == Token::Kind::end) expected("`}` at the end of the section");
        if (is('{')) ++open;
        if (is('}') && --open == 0) break;
        advance();
    }
    advance();
    out.text = since(begin);
    module_.items.push_back({Item::Kind::section, static_cast<std::uint32_t>(module_.directives.size())});
    module_.directives.push_back(std::move(out));
}

// --- functions -----------------------------------------------------------------------------------------

void Parser::function(Span linkage) {
    Function function;
    function.linkage = linkage;
    function.entry = is_dotted(".entry");
    const std::uint32_t begin = linkage ? linkage.offset : token_.span.offset;
    advance();
    function.first = function.last = static_cast<std::uint32_t>(module_.statements.size());
    const auto index = static_cast<std::uint32_t>(module_.functions.size());
    try {
        head(function);
    } catch (const Unreadable&) {
        // The body is read all the same.
        while (token_.kind != Token::Kind::end && !is('{') && !is(';')) advance();
    }
    function.text = since(begin);
    module_.items.push_back({Item::Kind::function, index});
    module_.functions.push_back(std::move(function));
    if (take(';')) return;
    if (!is('{')) expected("`{` of the body, or `;`");
    advance();
    body();
    module_.functions[index].body = true;
    module_.functions[index].last = static_cast<std::uint32_t>(module_.statements.size());
}

void Parser::head(Function& function) {
    if (is_dotted(".attribute")) {
        Directive out;
        out.name = token_.span;
        const std::uint32_t begin = token_.span.offset;
        advance();
        if (!is('(')) expected("`(` after .attribute");
        for (int open = 0; token_.kind != Token::Kind::end;) {
            if (is('(')) ++open;
            const bool closes = is(')') && --open == 0;
            advance();
            if (closes) break;
        }
        out.text = since(begin);
        function.directives.push_back(std::move(out));
    }
    if (!function.entry && is('(')) function.results = parameters();
    if (token_.kind != Token::Kind::word) expected("the name of the function");
    function.name = token_.span;
    advance();
    if (is('(')) {
        function.listed = true;
        function.params = parameters();
    }
    while (token_.kind == Token::Kind::dotted) {
        if (is_space(at(token_.span)) || one_of(at(token_.span), {".loc", ".entry", ".func"}))
            expected("`{` of the body");
        if (is_dotted(".pragma")) {
            function.directives.push_back(directive());
            continue;
        }
        // Several of them may stand on one line.
        Directive out;
        out.name = token_.span;
        const std::uint32_t begin = token_.span.offset;
        advance();
        if (token_.kind == Token::Kind::integer) {
            out.numbers.push_back(integer("a number"));
            while (take(',')) out.numbers.push_back(integer("a number"));
        }
        out.text = since(begin);
        function.directives.push_back(std::move(out));
    }
}

std::vector<Variable> Parser::parameters() {
    std::vector<Variable> out;
    advance();
    if (take(')')) return out;
    do {
        if (token_.kind != Token::Kind::dotted || !one_of(at(token_.span), {".param", ".reg"}))
            expected("`.param`");
        out.push_back(variable({}));
    } while (take(','));
    expect(')', "after the parameters");
    return out;
}

}  // namespace wgrun::ptx
