// The text of a Lua script, for inserting calls: where statements begin, how far they are indented, and the
// script's name of the builder.
#pragma once

#include <string>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {

class ScriptText {
  public:
    explicit ScriptText(std::string text);

    const std::string& text() const { return text_; }

    /// The same change for this text. An insertion: in front of `where.line`, a line on which a statement
    /// begins (or the one behind the last), with its calls as whole lines, "    k:wgmma_fence()"; `out` takes
    /// it out of that many blocks around the statement. An option: of kind `line`, the line that gives it, as
    /// it will be; unchanged where the statement does not give that option that value.
    Change resolved(const Change& change, int out = 0) const;

    /// The text with the changes made.
    std::string with(const Remedy& remedy, int out = 0) const;

    /// The text without a line.
    std::string without(int line) const;

  private:
    struct Line {
        std::string text;
        std::size_t depth = 0;  ///< the number of open blocks and brackets where it begins
        bool begins = false;    ///< a statement may begin with it
    };

    const Line& at(int line) const { return lines_[static_cast<std::size_t>(line - 1)]; }
    int last() const { return static_cast<int>(lines_.size()); }
    int statement_of(int line) const;
    int behind(int line, std::size_t depth) const;
    std::string receiver(int from, int to) const;
    Change with_option(const Change& change) const;
    void scan();

    std::string text_;
    std::vector<Line> lines_;
};

/// What `after`, made from `before` by new and changed lines, has otherwise, as a unified diff.
std::string unified_diff(const std::string& file, const std::string& before, const std::string& after);

}  // namespace wgrun::cli
