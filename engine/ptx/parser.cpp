#include "ptx/parser.hpp"

#include "wgrun/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace wgrun::ptx {

namespace {

constexpr std::size_t most_errors = 100;
constexpr std::size_t most_bytes = std::size_t{1} << 30;

bool one_of(std::string_view text, std::initializer_list<std::string_view> list) {
    return std::ranges::find(list, text) != list.end();
}

bool is_space(std::string_view text) {
    return one_of(text, {".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex"});
}

bool is_linkage(std::string_view text) { return one_of(text, {".visible", ".extern", ".weak", ".common"}); }

bool is_type(std::string_view text) {
    return one_of(text,
                  {".b8",     ".b16",   ".b32",    ".b64",        ".b128",   ".u8",   ".u16",   ".u32",
                   ".u64",    ".s8",    ".s16",    ".s32",        ".s64",    ".f16",  ".f16x2", ".f32",
                   ".f64",    ".pred",  ".bf16",   ".bf16x2",     ".tf32",   ".e4m3", ".e5m2",  ".e4m3x2",
                   ".e5m2x2", ".f32x2", ".texref", ".samplerref", ".surfref"});
}

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
    Diagnostic error;
    error.where = Where::at(module_.file, line);
    error.message = fmt::format("{} (column {})", message, column);
    // The line and a caret below it; long lines are cut around the place.
    constexpr int before = 60, most = 110;
    std::string text(module_.line_text(line));
    const int from = std::max(0, column - 1 - before);
    text = text.substr(std::min(static_cast<std::size_t>(from), text.size()), most);
    std::ranges::replace(text, '\t', ' ');
    error.notes.push_back({error.where, fmt::format("\n{}\n{:>{}}", printable(text), '^', column - from)});
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
        const std::uint32_t begin = token_.span.offset;
        try {
            item();
        } catch (const Unreadable&) {
            recover();
            if (is('}')) advance();
            if (token_.span.offset == begin && token_.kind != Token::Kind::end) advance();
        }
    }
    if (errors_.empty() && module_.items.empty()) report({0, 0}, "a text without a single directive of PTX");
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
        function.directives.push_back(directive());
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

// --- declarations --------------------------------------------------------------------------------------

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

// --- statements ----------------------------------------------------------------------------------------

void Parser::body() {
    const std::uint32_t begin = end_ - 1;
    // Scopes are counted rather than entered, so that their depth costs nothing.
    std::vector<std::uint32_t> open{begin};
    while (!open.empty() && !gave_up_) {
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
