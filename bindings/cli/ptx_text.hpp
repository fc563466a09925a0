#pragma once

#include "bindings/cli/program_text.hpp"

namespace wgrun::cli {

/// A PTX text, for inserting instructions in front of or behind the lines of others.
class PtxText final : public ProgramText {
  public:
    explicit PtxText(std::string text) : ProgramText(std::move(text), Dialect::ptx) {}

    Change resolved(const Change& change, int out = 0) const override;
    int most_out() const override { return 0; }

  private:
    int behind(int line) const;
};

}  // namespace wgrun::cli
