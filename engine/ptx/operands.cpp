// Operands, and constant expressions (PTX ISA 4.5, 6.4).
#include <fmt/format.h>

#include "ptx/parser.hpp"
#include "wgrun/target.hpp"

namespace wgrun::ptx {

namespace {
constexpr int most_nested = 64;                    ///< parentheses, brackets and braces inside each other
constexpr std::string_view warp_size = "WARP_SZ";  ///< a constant (PTX ISA 4.5.3)
}  // namespace

/// Counts how deep the operand nests: the parser recurses here alone.
struct Parser::Deeper {
    explicit Deeper(Parser& parser) : parser(parser) {
        if (++parser.depth_ > most_nested) {
            parser.report(parser.token_.span,
                          fmt::format("more than {} brackets inside each other", most_nested));
            --parser.depth_;
            throw Unreadable{};
        }
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
};

std::uint32_t Parser::add(Node node) {
    module_.nodes.push_back(node);
    return static_cast<std::uint32_t>(module_.nodes.size() - 1);
}

/// Operands up to the symbol `end`, which stays. Returns the first one, or `nothing`.
std::uint32_t Parser::operands(char end) {
    if (is(end)) return nothing;
    const std::uint32_t first = operand();
    for (std::uint32_t last = first; take(',');) {
        const std::uint32_t next = operand();
        module_.nodes[last].next = next;
        last = next;
    }
    return first;
}

std::uint32_t Parser::operand() {
    const std::uint32_t begin = token_.span.offset;
    std::uint32_t out = nothing;
    if (token_.kind == Token::Kind::word) {
        out = named();
    } else if (is('!')) {
        const std::uint32_t mark = token_.span.offset;
        advance();
        if (token_.kind == Token::Kind::word) {
            out = named();
            module_.nodes[out].negated = true;
        } else {
            lexer_.seek(mark);
            advance();
            out = constant();
        }
    } else if (is('{')) {
        out = group(Node::Kind::vector, '}');
    } else if (is('[')) {
        out = group(Node::Kind::address, ']');
    } else if (is('(') && calls_) {
        out = group(Node::Kind::list, ')');
    } else {
        out = constant();
    }
    const Node::Kind kind = module_.nodes[out].kind;
    if (!is('|') || (kind != Node::Kind::name && kind != Node::Kind::sink)) return out;
    advance();
    const std::uint32_t second = operand();
    module_.nodes[out].next = second;
    Node pair{.kind = Node::Kind::pair};
    pair.child = out;
    pair.text = since(begin);
    return add(pair);
}

/// A name, with a component and bytes added to it; or _.
std::uint32_t Parser::named() {
    const std::uint32_t begin = token_.span.offset;
    Node node;
    node.kind = at(token_.span) == "_" ? Node::Kind::sink : Node::Kind::name;
    advance();
    while (token_.kind == Token::Kind::dotted && token_.span.offset == end_) advance();
    node.text = since(begin);
    if (at(node.text) == warp_size) {
        node.kind = Node::Kind::integer;
        node.value = sm_90a.lanes;
        return add(node);
    }
    while (is('+') || is('-')) {
        const bool minus = is('-');
        node.sum = true;
        advance();
        constexpr int tighter_than_sums = 10;
        const auto value = static_cast<std::uint64_t>(expression(tighter_than_sums));
        node.value =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(node.value) + (minus ? 0 - value : value));
    }
    return add(node);
}

std::uint32_t Parser::group(Node::Kind kind, char close) {
    const Deeper deeper(*this);
    const std::uint32_t begin = token_.span.offset;
    advance();
    Node node{.kind = kind};
    node.child = operands(close);
    if (!is(close)) expected(fmt::format("`,` or `{}`", close));
    advance();
    node.text = since(begin);
    return add(node);
}

std::uint32_t Parser::constant() {
    const std::uint32_t begin = token_.span.offset;
    const bool minus = is('-');
    Node node{.kind = Node::Kind::integer};
    if (token_.kind == Token::Kind::f32 || token_.kind == Token::Kind::f64) {
        node.kind = token_.kind == Token::Kind::f32 ? Node::Kind::f32 : Node::Kind::f64;
        node.value = token_.value;
        advance();
        node.text = since(begin);
        return add(node);
    }
    if (minus) {
        const Token sign = token_;
        advance();
        if (token_.kind == Token::Kind::f64) {  // -1.5
            node.kind = Node::Kind::f64;
            node.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(token_.value) ^
                                                   (std::uint64_t{1} << 63U));
            advance();
            node.text = since(begin);
            return add(node);
        }
        lexer_.seek(sign.span.offset);
        advance();
    }
    node.value = expression(0);
    node.text = since(begin);
    return add(node);
}

namespace {

/// Returns how tightly an operator of two operands binds; -1: it is none.
int precedence(char symbol) {
    switch (symbol) {
        case '?': return 0;
        case either: return 1;
        case both: return 2;
        case '|': return 3;
        case '^': return 4;
        case '&': return 5;
        case same:
        case differs: return 6;
        case '<':
        case '>':
        case at_most:
        case at_least: return 7;
        case shift_left:
        case shift_right: return 8;
        case '+':
        case '-': return 9;
        case '*':
        case '/':
        case '%': return 10;
        default: return -1;
    }
}

/// Arithmetic on 64 bits that wraps around; a division by zero gives nothing.
bool apply(char symbol, std::int64_t x, std::int64_t y, std::int64_t& out) {
    const auto a = static_cast<std::uint64_t>(x), b = static_cast<std::uint64_t>(y);
    std::uint64_t bits = 0;
    switch (symbol) {
        case either: bits = a != 0 || b != 0; break;
        case both: bits = a != 0 && b != 0; break;
        case '|': bits = a | b; break;
        case '^': bits = a ^ b; break;
        case '&': bits = a & b; break;
        case same: bits = a == b; break;
        case differs: bits = a != b; break;
        case '<': bits = x < y; break;
        case '>': bits = x > y; break;
        case at_most: bits = x <= y; break;
        case at_least: bits = x >= y; break;
        case shift_left: bits = b < 64 ? a << b : 0; break;
        case shift_right: bits = b < 64 ? static_cast<std::uint64_t>(x >> b) : 0; break;
        case '+': bits = a + b; break;
        case '-': bits = a - b; break;
        case '*': bits = a * b; break;
        default:
            if (y == 0 || (x == INT64_MIN && y == -1)) return false;
            bits = static_cast<std::uint64_t>(symbol == '/' ? x / y : x % y);
    }
    out = static_cast<std::int64_t>(bits);
    return true;
}

}  // namespace

/// An expression of operators that bind at least as tightly as `least`.
std::int64_t Parser::expression(int least) {
    const Deeper deeper(*this);
    std::int64_t left = term();
    while (token_.kind == Token::Kind::symbol) {
        const char symbol = token_.symbol;
        const int binds = precedence(symbol);
        if (binds < least) return left;
        const Span place = token_.span;
        advance();
        if (symbol == '?') {
            const std::int64_t yes = expression(0);
            expect(':', "of ?");
            const std::int64_t no = expression(0);
            left = left != 0 ? yes : no;
            continue;
        }
        const std::int64_t right = expression(binds + 1);
        if (!apply(symbol, left, right, left)) report(place, "a division that has no result");
    }
    return left;
}

std::int64_t Parser::term() {
    if (token_.kind == Token::Kind::integer) {
        const std::int64_t value = token_.value;
        advance();
        return value;
    }
    const Deeper deeper(*this);
    if (token_.kind == Token::Kind::word && at(token_.span) == warp_size) {
        advance();
        return sm_90a.lanes;
    }
    if (take('-')) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(term()));
    if (take('+')) return term();
    if (take('~')) return ~term();
    if (take('!')) return term() == 0 ? 1 : 0;
    if (take('(')) {
        if (token_.kind == Token::Kind::dotted) {  // (.s64) or (.u64)
            advance();
            expect(')', "of the conversion");
            return term();
        }
        const std::int64_t value = expression(0);
        expect(')', "of the expression");
        return value;
    }
    expected("an operand");
}

/// What follows the = of a variable: a value, or values in braces. It is kept as text.
void Parser::initializer() {
    int open = 0;
    for (;;) {
        if (token_.kind == Token::Kind::end) expected("the end of the initial value");
        if (token_.kind == Token::Kind::bad) expected("an initial value");
        if (open == 0 && (is(',') || is(';'))) return;
        if (is('{') || is('(')) ++open;
        if (is('}') || is(')')) --open;
        if (open < 0) expected("`;`");
        advance();
    }
}

}  // namespace wgrun::ptx
