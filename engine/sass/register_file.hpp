// The registers of a thread of machine code, and what operands of instructions are there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sass/instruction.hpp"
#include "sass/operand.hpp"
#include "sass/thread.hpp"

namespace wgrun::sass {

/// Registers and predicates of a thread, and the constants of its launch.
class File {
  public:
    explicit File(const Drawn& drawn) : drawn_(&drawn) {
        regs_[register_count] = {0, true};
        uniform_[uniform_count] = {0, true};
    }
    Word reg(bool uniform, int index) const {
        return uniform ? uniform_[static_cast<std::size_t>(index)] : regs_[static_cast<std::size_t>(index)];
    }
    void set(bool uniform, int index, Word value) {
        if (index < (uniform ? uniform_count : register_count))
            (uniform ? uniform_[static_cast<std::size_t>(index)] : regs_[static_cast<std::size_t>(index)]) =
                value;
    }
    std::optional<bool> predicate(int index) const {
        return index % 8 == always ? true : predicates_[static_cast<std::size_t>(index)];
    }
    void set(Predicate index, std::optional<bool> value) {
        if (index != no_predicate && index % 8 != always)
            predicates_[static_cast<std::size_t>(index)] = value;
    }
    /// Of the pair of registers from `index` on.
    Known64 wide(bool uniform, int index) const;
    void set_wide(bool uniform, int index, Known64 value);
    /// Of c[bank][offset]: parameters, the sizes of the launch, and where the stack begins.
    Known64 constant(const Source& source, int bytes) const;

  private:
    const Drawn* drawn_;
    std::array<Word, register_count + 1> regs_{};
    std::array<Word, uniform_count + 1> uniform_{};
    std::array<std::optional<bool>, predicates> predicates_{};
};

/// An instruction, read once.
struct Decoded {
    explicit Decoded(const Instruction& one);
    std::string_view name;  ///< without the U of uniform ones, up to the first dot
    std::vector<Source> operands;
    bool uniform = false;     ///< its result
    std::size_t results = 0;  ///< how many operands are predicates before the first register
};

/// Values of operands, read as numbers of 32 or 64 bits.
Word word_of(const Source& source, const File& file);
Known64 wide_of(const Source& source, const File& file);
std::optional<bool> truth_of(const Source& source, const File& file);

}  // namespace wgrun::sass
