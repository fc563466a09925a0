// A program whose steps all stand on one line, as those of a library stand on the line of the script that
// calls it: the same rules are broken there.
#pragma once

#include <set>
#include <string>

#include "program/rewriting.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::test {

class OnOneLine final : Rewriting {
  public:
    explicit OnOneLine(const Program& program) : Rewriting(program) {}
    Program run() {
        copy_blocks();
        return take();
    }

  private:
    void copy(const Step& step) override {
        add(step);
        text().here().steps.back().where = from().where();
    }
};

inline Program on_one_line(const Program& program) { return OnOneLine(program).run(); }

inline std::set<std::string> rules_of(std::span<const Diagnostic> findings) {
    std::set<std::string> out;
    for (const Diagnostic& finding : findings) out.insert(finding.rule);
    return out;
}

}  // namespace wgrun::test
