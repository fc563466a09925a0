#include "bindings/lua/syntax.hpp"

#include <algorithm>
#include <array>

#include "bindings/lua/syntax_lexer.hpp"

namespace wgrun::lua::syntax {
namespace {

using Kind = Expression::Kind;

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
constexpr int most_depth = 200;  // as Lua's own limit (LUAI_MAXCCALLS)

class Parser {
  public:
    explicit Parser(Chunk& chunk) : chunk_(chunk), lexer_(chunk.text) {
        shift();
        shift();
    }

    void run() {
        chunk_.functions.emplace_back();
        functions_.push_back(0);
        block();
        if (now_.kind != Token::Kind::end) throw Unreadable();
        tests_of_operators();
    }

  private:
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

    // --- statements ---
    struct Deeper {
        explicit Deeper(Parser& parser) : depth(parser.depth_) {
            if (++depth > most_depth) throw Unreadable();
        }
        ~Deeper() { --depth; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        int& depth;
    };

    bool block_ends() const {
        return now_.kind == Token::Kind::end || is("end") || is("else") || is("elseif") || is("until");
    }

    /// A block with a scope of its own; gives its text.
    std::string_view block() {
        const std::size_t names = scope_.size();
        const std::string_view text = open_block();
        scope_.resize(names);
        return text;
    }

    /// A block whose names stay visible, for the condition after `until`.
    std::string_view open_block() {
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

    void statement() {
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

    void if_statement() {
        do {
            shift();  // if, elseif
            const int condition = expression();
            expect("then");
            chunk_.tests.push_back({condition, "if", block()});
        } while (is("elseif"));
        if (take("else")) block();
        expect("end");
    }

    void for_statement() {
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

    void function_statement() {
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

    void local_function() {
        const int line = now_.line;
        const int id = declare(identifier(), line);
        const int function = function_body(line, false, id);
        Expression expression;
        expression.kind = Kind::function;
        expression.line = line;
        expression.function = function;
        declaration(id).values.push_back(add(std::move(expression)));
    }

    void local_statement() {
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

    /// Assigns value i of a list to a declaration.
    void assign(int id, const std::vector<int>& values, std::size_t i) {
        if (i >= values.size()) {
            declaration(id).unknown = true;  // nil, or a further result of the last call
            return;
        }
        declaration(id).values.push_back(values[i]);
        if (at(values[i]).kind == Kind::function)
            chunk_.functions[static_cast<std::size_t>(at(values[i]).function)].declaration = id;
    }

    void expression_statement() {
        std::vector<int> targets{suffixed_expression()};
        if (!is("=") && !is(",")) return;
        while (take(",")) targets.push_back(suffixed_expression());
        expect("=");
        const std::vector<int> values = expression_list();
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const Expression& target = at(targets[i]);
            if (target.kind == Kind::name && target.declaration != none)
                assign(target.declaration, values, i);
        }
    }

    // --- expressions ---
    std::vector<int> expression_list() {
        std::vector<int> list{expression()};
        while (take(",")) list.push_back(expression());
        return list;
    }

    int expression(int limit = 0) {
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
            const auto* found =
                std::find_if(priorities.begin(), priorities.end(),
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

    int leaf(Kind kind) {
        Expression out;
        out.kind = kind;
        out.line = now_.line;
        const std::size_t begin = now_.begin;
        shift();
        out.text = since(begin);
        return add(std::move(out));
    }

    int simple_expression() {
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

    int table() {
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

    int name_expression() {
        Expression out;
        out.kind = Kind::name;
        out.line = now_.line;
        const std::size_t begin = now_.begin;
        out.name = identifier();
        out.text = since(begin);
        out.declaration = resolve(out.name);
        return add(std::move(out));
    }

    int suffixed_expression() {
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

    /// Records that a name is used for anything but a call.
    void use(int expression) {
        if (at(expression).kind == Kind::name && at(expression).declaration != none)
            declaration(at(expression).declaration).escapes = true;
    }

    std::vector<int> call_arguments() {
        if (is("{")) return {table()};
        if (now_.kind == Token::Kind::string) return {leaf(Kind::string)};
        expect("(");
        std::vector<int> list;
        if (!is(")")) list = expression_list();
        expect(")");
        return list;
    }

    /// Parameters and body; `function` is taken.
    int function_body(int line, bool method, int declaration_of_it) {
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

    /// `not`, `and` and `or` test for truth, too.
    void tests_of_operators() {
        for (int id = 0; id < static_cast<int>(chunk_.expressions.size()); ++id) {
            const Expression& expression = chunk_.at(id);
            const bool binary = expression.operation == "and" || expression.operation == "or";
            if (expression.kind == Kind::unary && expression.operation == "not")
                chunk_.tests.push_back({expression.left, "not", {}});
            if (expression.kind == Kind::binary && binary)
                chunk_.tests.push_back(
                    {expression.left, expression.operation, chunk_.at(expression.right).text});
        }
    }

    Chunk& chunk_;
    Lexer lexer_;
    Token now_, ahead_;
    std::size_t end_ = 0;  ///< after the last token taken
    std::vector<int> scope_, functions_;
    int depth_ = 0;
};

}  // namespace

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
