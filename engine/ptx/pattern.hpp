// The text template of an instruction's record, made into what a statement is compared with.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/isa.hpp"

namespace wgrun::ptx {

/// A part of an opcode: text, or the place of a qualifier.
struct OpcodePart {
    std::string text;     ///< of the opcode itself; else empty
    isa::Field field{};   ///< of a place
    bool dotted = false;  ///< the place takes its dot with it, and may be empty
};

/// An operand of a template.
struct Pattern {
    enum class Kind : std::uint8_t {
        operand,  ///< `index` of Instruction::operands
        field,    ///< a qualifier that stands among the operands
        special,  ///< the name of a special register, after %
        sink,     ///< _
        local,    ///< a place in local memory, whose offset is the operand
        number,   ///< this number
        address,  ///< [...]
        pair,     ///< a|b
    };
    Kind kind = Kind::operand;
    bool optional = false;
    std::size_t index = 0;
    isa::Field field{};
    std::int64_t number = 0;
    std::vector<Pattern> inside{};  ///< of address and pair
};

/// One instruction of a template.
struct Line {
    std::vector<OpcodePart> opcode;
    std::vector<Pattern> operands;
};

/// How a field's values may be spelled at its places.
struct Spelling {
    std::string text;
    int value = 0;
};

struct Template {
    const isa::Instruction* op = nullptr;
    std::vector<Line> lines;
    /// By field: the spellings of the values that the record's rows allow, longer ones first.
    std::vector<std::vector<Spelling>> spellings;
    std::set<std::string, std::less<>> words;  ///< between the dots of its opcodes; of m64n{n}k16 the m64n
};

/// Returns whether such a word stands between the dots of the template's opcodes. Thread-safe.
bool has_word(const Template& text, std::string_view word);

/// Returns the words between the dots: "L2::cache_hint" is one.
std::vector<std::string_view> words_of(std::string_view opcode);

/// Returns the templates whose first instruction begins with this word ("mov"), those of several instructions
/// first. Thread-safe.
const std::vector<const Template*>& templates(std::string_view word);

/// Returns the opcode as records spell it. PTX has several spellings for some instructions; the table that
/// lists them is in spellings.cpp.
std::string usual_spelling(std::string opcode);

}  // namespace wgrun::ptx
