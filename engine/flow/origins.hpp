// Into which shared buffer the registers of a program point, whatever way it takes.
#pragma once

#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::flow {

/// Addresses and matrix descriptors are followed through everything that keeps their buffer (isa::Value). A
/// register that points into several buffers, or anywhere else, is not told.
class Origins {
  public:
    explicit Origins(const Program& program);
    /// Returns the index of the buffer among those of the program; -1: it is not known.
    int of(const isa::Operand& operand) const;

  private:
    /// What all steps that write a register make of it.
    struct Origin {
        int buffer = unwritten;
        bool is_descriptor = false;
        bool operator==(const Origin&) const = default;
    };
    static constexpr int none = -1, unwritten = -2;

    Origin result(const isa::Step& step) const;
    bool reads_unwritten(const isa::Step& step) const;

    std::vector<Origin> registers_;
};

}  // namespace wgrun::flow
