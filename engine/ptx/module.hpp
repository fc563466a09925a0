// A PTX module as a tree: what its text says, in its order, before anything is known of what it means.
//
// The tree refers to the text by spans, and keeps the statements of a function as one flat list in which
// scopes open and close. However deep a text nests, nothing here recurses. Plain values; any number of
// threads may read them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::ptx {

/// Bytes of the text.
struct Span {
    std::uint32_t offset = 0, size = 0;
    explicit operator bool() const { return size != 0; }
};

inline constexpr std::uint32_t nothing = UINT32_MAX;
/// What some editors put before a text in UTF-8. A module does not have it.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// An operand, or a part of one.
struct Node {
    enum class Kind : std::uint8_t {
        name,     ///< a register, variable, parameter, label or function; `value` bytes are added to it
        integer,  ///< a constant, or an expression of constants
        f32,      ///< 0f3F800000
        f64,      ///< 0d3FF0000000000000, 1.5
        sink,     ///< _
        vector,   ///< {a, b}
        address,  ///< [a], [map, {x, y}]
        list,     ///< (a, b): arguments and results of a call
        pair,     ///< a|b
    };
    Kind kind = Kind::name;
    bool negated = false;           ///< written !p
    bool sum = false;               ///< of a name: bytes are added to it, if only none (%rd1+0)
    Span text{};                    ///< a name with its component (%tid.x); else all of it
    std::int64_t value = 0;         ///< integer: its 64 bits; f32, f64: IEEE bits; name: bytes added
    std::uint32_t child = nothing;  ///< of vector, address, list, pair: the first one
    std::uint32_t next = nothing;   ///< the following operand, or sibling
};

/// A declaration of a variable, a parameter or registers.
struct Variable {
    Span linkage{};          ///< ".visible"; empty: none
    Span space{};            ///< ".shared", ".param", ".reg"
    std::int64_t align = 0;  ///< bytes; 0: not given
    Span vector{};           ///< ".v4"
    Span type{};             ///< ".b8"
    Span pointer{};          ///< " .ptr .global .align 16" of a parameter
    Span name{};
    bool counted = false;    ///< %r<47900>
    std::int64_t count = 0;  ///< ... whose registers are %r0 to %r47899
    bool array = false;
    std::vector<std::int64_t> extents{};  ///< elements of each dimension; -1: not given
    Span initializer{};                   ///< "{1, 2}"
};

/// A directive that is kept as it is written, such as ".maxntid 128, 1, 1".
struct Directive {
    Span name{}, text{};                  ///< text: all of it
    std::vector<std::int64_t> numbers{};  ///< that follow the name
};

/// `.loc`: the following instructions come from this place of a source.
struct Location {
    int file = 0, line = 0, column = 0;
    int at_file = 0, at_line = 0, at_column = 0;  ///< of inlined_at: of the call; 0: none
};

struct Statement {
    enum class Kind : std::uint8_t {
        instruction,
        label,
        open,       ///< {
        close,      ///< }
        variable,   ///< also of registers; `index` is that of the first of `count` variables
        location,   ///< .loc; `index` is that of the location
        directive,  ///< .pragma and the like, with their semicolon; `index` is that of the directive
    };
    Kind kind = Kind::instruction;
    bool guard_negated = false;
    bool broken = false;               ///< the opcode has blanks inside
    Span text{};                       ///< all of it, without the semicolon
    Span name{};                       ///< the opcode with its qualifiers, or the label
    Span guard{};                      ///< @p; empty: none
    std::uint32_t operands = nothing;  ///< the first one
    std::uint32_t index = 0, count = 0;
};

struct Function {
    Span linkage{};  ///< ".visible"
    bool entry = false;
    Span name{};
    std::vector<Variable> results{}, params{};
    bool listed = false;                  ///< has a parameter list, if an empty one
    std::vector<Directive> directives{};  ///< .maxntid and the like
    bool body = false;
    std::uint32_t first = 0, last = 0;  ///< its statements, [first, last)
    Span text{};                        ///< its head
};

/// A file that .loc refers to.
struct SourceFile {
    int number = 0;
    std::string name;
};

/// What stands at module scope, in order.
struct Item {
    enum class Kind : std::uint8_t { directive, variable, function, section };
    Kind kind;
    std::uint32_t index = 0;  ///< of directives, variables or functions; a section is a directive
};

class Module {
  public:
    std::string file;  ///< as findings name it
    std::vector<Item> items;
    std::vector<Directive> directives;
    std::vector<Variable> variables;
    std::vector<Function> functions;
    std::vector<Statement> statements;
    std::vector<Node> nodes;
    std::vector<Location> locations;
    std::vector<SourceFile> files;

    explicit Module(std::string file, std::string text);
    const std::string& text() const { return *text_; }
    std::string_view at(Span span) const { return std::string_view(*text_).substr(span.offset, span.size); }
    /// Returns the opcode with its qualifiers, without blanks.
    std::string opcode(const Statement& statement) const;
    int line(std::uint32_t offset) const;    ///< from 1
    int column(std::uint32_t offset) const;  ///< from 1, in bytes
    /// Returns the text of a line.
    std::string_view line_text(int line) const;
    Where where(Span span) const { return Where::at(file, line(span.offset)); }
    /// Returns the name of the file that .loc calls `number`; empty: there is none.
    std::string_view source(int number) const;

  private:
    // The parts of a module refer to the text by spans alone, so that a module can be moved.
    std::shared_ptr<const std::string> text_;
    std::vector<std::uint32_t> lines_;  ///< where each begins
};

/// What parse() returns: as much of a tree as could be read, and what was wrong.
struct Parsed {
    Module module;
    std::vector<Diagnostic> errors;  ///< each with its column, and a note that shows the line
};

/// How many errors are reported of a text, and of a kernel.
inline constexpr std::size_t most_errors = 100;

/// Reads a module. It goes on after an error, at the next statement, and reports at most most_errors of them.
/// `file` is how findings name the text. Throws ArgumentError for a text of 1 GiB and more.
Parsed parse(std::string file, std::string text);

}  // namespace wgrun::ptx
