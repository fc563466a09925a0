// The grammar of PTX modules (PTX ISA 4, 5, 11), by recursive descent.
#pragma once

#include <string>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/module.hpp"

namespace wgrun::ptx {

class Parser {
  public:
    Parser(std::string file, std::string text);
    Parsed run();

  private:
    /// Thrown by what cannot be read, after it has been reported, and caught where the text goes on.
    struct Unreadable {};

    // parser.cpp: modules, declarations, statements
    void item();
    void directive_at_module();
    void section();
    void function(Span linkage);
    void head(Function& function);
    void body();
    void statement();
    bool begins_function() const;
    void labelled(const Token& name);
    void instruction();
    void declaration(bool at_module, Span linkage);
    Variable variable(Span linkage);
    void name_of(Variable& variable);
    std::vector<Variable> parameters();
    Directive directive();
    void location();
    void source_file(const Directive& directive);

    // operands.cpp
    std::uint32_t operands(char end);
    std::uint32_t operand();
    std::uint32_t named();
    std::uint32_t group(Node::Kind kind, char close);
    std::uint32_t constant();
    std::int64_t expression(int least);
    std::int64_t term();
    void initializer();
    std::uint32_t add(Node node);

    // Tokens.
    bool is(char symbol) const { return token_.kind == Token::Kind::symbol && token_.symbol == symbol; }
    bool is_dotted(std::string_view text) const {
        return token_.kind == Token::Kind::dotted && at(token_.span) == text;
    }
    std::string_view at(Span span) const { return module_.at(span); }
    void advance();
    bool take(char symbol);
    void expect(char symbol, std::string_view where);
    std::int64_t integer(std::string_view what);
    Span since(std::uint32_t offset) const { return {offset, end_ - offset}; }
    [[noreturn]] void expected(const std::string& what);
    void report(Span span, std::string message);
    std::string found() const;
    /// Goes on after the statement that could not be read.
    void recover();
    struct Deeper;

    Module module_;
    Lexer lexer_;
    Token token_;            ///< the next one
    std::uint32_t end_ = 0;  ///< of the last one that was taken
    bool calls_ = false;     ///< the instruction is a call, whose arguments are in parentheses
    int depth_ = 0;          ///< of parentheses and braces inside a statement
    std::vector<Diagnostic> errors_;
    bool gave_up_ = false;
};

}  // namespace wgrun::ptx
