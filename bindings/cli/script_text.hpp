// The text of a Lua script, for inserting calls: where statements begin, how far they are indented, and the
// script's name of the builder.
#pragma once

#include "bindings/cli/program_text.hpp"

namespace wgrun::cli {

class ScriptText final : public ProgramText {
  public:
    explicit ScriptText(std::string text);

    /// An insertion comes in front of a line on which a statement begins (or the one behind the last), with
    /// its calls as whole lines, "    k:wgmma_fence()"; `out` takes it out of that many blocks around the
    /// statement.
    Change resolved(const Change& change, int out = 0) const override;
    int most_out() const override { return 3; }

  private:
    struct Line {
        std::size_t depth = 0;  ///< the number of open blocks and brackets where it begins
        bool begins = false;    ///< a statement may begin with it
    };

    const Line& at(int line) const { return lines_[static_cast<std::size_t>(line - 1)]; }
    int statement_of(int line) const;
    int behind(int line, std::size_t depth) const;
    std::string receiver(int from, int to) const;
    Change with_option(const Change& change) const;
    void scan();

    std::vector<Line> lines_;
};

}  // namespace wgrun::cli
