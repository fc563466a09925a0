// The text of a program in which the changes that findings propose can be made, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {

/// Returns the lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

class ProgramText {
  public:
    ProgramText(std::string text, Dialect dialect);
    virtual ~ProgramText() = default;

    const std::string& text() const { return text_; }
    Dialect dialect() const { return dialect_; }

    /// Returns the same change for this text. An insertion: of kind `before`, in front of line `where.line`
    /// or behind the last, with its instructions as whole lines, indented, in the dialect of the text. An
    /// option: of kind `line`, the line that gives it, as it will be; unchanged where the statement does not
    /// give that option that value. `out`: how many blocks around the statement an insertion leaves.
    virtual Change resolved(const Change& change, int out = 0) const = 0;
    /// Returns how many blocks it makes sense to leave.
    virtual int most_out() const = 0;

    /// Returns the text with the changes made.
    std::string with(const Remedy& remedy, int out = 0) const;
    /// Returns the text without a line.
    std::string without(int line) const;

  protected:
    ProgramText(const ProgramText&) = default;
    ProgramText& operator=(const ProgramText&) = default;

    /// Of an option without a name: the number in lines [begin, end), if it stands there once.
    Change with_number(const Change& change, int begin, int end) const;

    std::string_view line(int number) const { return lines_[static_cast<std::size_t>(number - 1)]; }
    int last() const { return static_cast<int>(lines_.size()); }

  private:
    std::string text_;
    std::vector<std::string> lines_;
    Dialect dialect_;
};

/// Returns the blanks at the beginning of a line.
std::string_view indentation(std::string_view line);

}  // namespace wgrun::cli
