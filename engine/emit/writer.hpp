// Text that is written line by line, with the line of the script that each line came from.
#pragma once

#include "emit/emit.hpp"

namespace wgrun::emit {

/// The name of dynamic shared memory in the texts.
inline constexpr std::string_view shared_name = "wgrun_shared";

/// A parameter's name in the texts, which is not a register, a keyword or a predefined name.
std::string param_name(const Program& program, int index);

/// An immediate as PTX spells it; `bits` as in Operand::imm.
std::string literal(std::int64_t bits, isa::Type type);

/// A statement of PTX with its semicolon; a block in braces takes none.
std::string ended(std::string statement);

/// Is what stands under such a label inside a construct?
inline bool begins_inner(Label::Kind kind) {
    return kind == Label::Kind::loop || kind == Label::Kind::next || kind == Label::Kind::otherwise;
}
/// Is a construct, or a part of one, over before such a label?
inline bool ends_inner(Label::Kind kind) {
    return kind == Label::Kind::next || kind == Label::Kind::after || kind == Label::Kind::otherwise ||
           kind == Label::Kind::joined;
}
/// Does the block end with an if, whose then side is the next block?
bool begins_if(const Program& program, const BasicBlock& block);

class Writer {
  public:
    /// Adds a line, indented by `depth` steps. A comment names the line of the script first, if it has
    /// changed.
    void line(std::string_view text, Where where = {});
    void indent(int by) { depth_ += by; }
    /// How texts name lines of the script.
    enum class Naming : std::uint8_t {
        comments,
        loc,         ///< also by .loc (PTX ISA 11.5.3)
        directives,  ///< also by #line, before each line of the text
    };
    void name_lines(Naming naming) { naming_ = naming; }
    /// The .file directives of those.
    void list_files();
    Text take() { return std::move(text_); }

  private:
    void raw(std::string_view text, Where where);
    std::size_t number_of(std::string_view file);
    void direct(Where where);

    Text text_;
    Where last_;
    int depth_ = 0;
    Naming naming_ = Naming::comments;
    std::vector<std::string_view> files_;  ///< of .loc, from 1
};

}  // namespace wgrun::emit
