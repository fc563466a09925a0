// Metadata of a sparse A, of wgmma and of mma.sp: which elements are stored (PTX ISA 9.7.14.6, 9.7.15.6.1).
#pragma once

#include <vector>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// The k of the stored elements of a matrix; codes without a meaning are refused.
class Chunks {
  public:
    /// k_of_a becomes [rows][stored]. increasing: the indices of a code must be.
    Chunks(Type a, std::vector<int>& k_of_a, int rows, int stored, bool increasing = false);
    /// A code has 4 bits: two indices of 2 bits, the first element's lowest; tf32: 0b0100 or 0b1110.
    void put(int row, int chunk, unsigned code);

  private:
    bool one_of_two_, increasing_;
    std::vector<int>& k_of_a_;
    int stored_;
};

}  // namespace wgrun::isa
