// Text that is written line by line and remembers which line of the script each came from.
#pragma once

#include "emit/emit.hpp"

namespace wgrun::emit {

/// What dynamic shared memory is called in the texts.
inline constexpr std::string_view shared_name = "wgrun_shared";

/// A parameter's name in the texts: one that is no register, no keyword and nothing predefined.
std::string param_name(const Program& program, int index);

/// An immediate as PTX spells it; `bits` as in Operand::imm.
std::string literal(std::int64_t bits, isa::Type type);

/// A statement of PTX with its semicolon; a block in braces takes none.
std::string ended(std::string statement);

class Writer {
  public:
    /// Adds a line, indented by `depth` steps. A line of the script that was not the last one is named first.
    void line(std::string_view text, Where where = {});
    void indent(int by) { depth_ += by; }
    /// A line of the script is from now on named by .loc (PTX ISA 11.5.3) too.
    void number_lines() { numbered_ = true; }
    /// The .file directives of those.
    void list_files();
    Text take() { return std::move(text_); }

  private:
    void raw(std::string_view text, Where where);
    std::size_t number_of(std::string_view file);

    Text text_;
    Where last_;
    int depth_ = 0;
    bool numbered_ = false;
    std::vector<std::string_view> files_;  ///< of .loc, from 1
};

}  // namespace wgrun::emit
