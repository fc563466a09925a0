// What is known of each register at a point of a path.
#pragma once

#include <cstdint>
#include <vector>

#include "check/interned.hpp"
#include "check/value.hpp"

namespace wgrun::check {

/// By Reg::id.
using RegisterValues = InternedArray<Known>;

/// A set of registers.
class RegisterSet {
  public:
    explicit RegisterSet(std::size_t registers = 0) : words_((registers + 63) / 64) {}
    bool has(std::size_t reg) const { return (words_[reg / 64] >> reg % 64 & 1) != 0; }
    void add(std::size_t reg) { words_[reg / 64] |= std::uint64_t{1} << reg % 64; }
    /// Adds those of `other` that are not in `without`. Returns whether that changes the set.
    bool add(const RegisterSet& other, const RegisterSet& without) {
        std::uint64_t grown = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            const std::uint64_t more = other.words_[i] & ~without.words_[i] & ~words_[i];
            words_[i] |= more;
            grown |= more;
        }
        return grown != 0;
    }

  private:
    std::vector<std::uint64_t> words_;
};

/// Makes `a` the values where two paths meet that `condition` chose between. `place` is the branch or loop.
/// Registers that are not in `live` are never read there: they keep what `a` has.
void join(RegisterValues& a, const RegisterValues& b, const Known& condition, const void* place,
          const RegisterSet& live);

}  // namespace wgrun::check
