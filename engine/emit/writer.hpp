// Writes text line by line, with the line of the script that each line came from.
#pragma once

#include "emit/emit.hpp"

namespace wgrun::emit {

/// The name of dynamic shared memory in the texts.
inline constexpr std::string_view shared_name = "wgrun_shared";
/// The name of a thread's local memory, which the record `local.address` names too.
inline constexpr std::string_view local_name = "wgrun_local";

/// Returns a parameter's name in the texts, which differs from registers, keywords and predefined names.
std::string param_name(const Program& program, int index);

/// Returns an immediate as PTX spells it; `bits` as in Operand::imm.
std::string literal(std::int64_t bits, isa::Type type);

/// Returns a PTX statement with its semicolon; a block in braces takes none.
std::string ended(const std::string& statement);

/// Returns whether the text after such a label is inside a construct.
inline bool begins_inner(Label::Kind kind) {
    return kind == Label::Kind::loop || kind == Label::Kind::next || kind == Label::Kind::otherwise;
}
/// Returns whether such a label ends a construct or a part of one.
inline bool ends_inner(Label::Kind kind) {
    return kind == Label::Kind::next || kind == Label::Kind::after || kind == Label::Kind::otherwise ||
           kind == Label::Kind::joined;
}
/// Returns whether the block ends with an if whose then side is the next block.
bool begins_if(const Program& program, const BasicBlock& block);

class Writer {
  public:
    /// Adds a line, indented by the current depth. A comment names the line of the script first, if it has
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
    /// Adds the .file directives for the files of .loc.
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
    std::vector<std::string_view> files_;  ///< of .loc, numbered from 1
};

}  // namespace wgrun::emit
