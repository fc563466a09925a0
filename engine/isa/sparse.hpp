// Metadata of a sparse A, of wgmma and of mma.sp: which elements are stored (PTX ISA 9.7.14.6, 9.7.15.6.1).
#pragma once

#include <cstdint>
#include <vector>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// What is legal in metadata: a code has 4 bits, two different indices of 2 bits, the first element's lowest;
/// tf32: 0b0100 or 0b1110.
class Codes {
  public:
    /// increasing: the indices of a code must be.
    explicit Codes(Type a, bool increasing = false) : one_of_two_(a == Type::tf32), increasing_(increasing) {}
    bool has(unsigned code) const;
    bool all_of(std::uint32_t word) const;  ///< its eight codes
    bool one_of_two() const { return one_of_two_; }
    bool increasing() const { return increasing_; }

  private:
    bool one_of_two_, increasing_;
};

/// The k of the stored elements of a matrix; codes without a meaning are refused.
class Chunks {
  public:
    /// k_of_a becomes [rows][stored].
    Chunks(Type a, std::vector<int>& k_of_a, int rows, int stored, bool increasing = false);
    void put(int row, int chunk, unsigned code);

  private:
    Codes codes_;
    std::vector<int>& k_of_a_;
    int stored_;
};

}  // namespace wgrun::isa
