// An operand of an instruction of machine code, read once, so that it can be executed often.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sass/instruction.hpp"

namespace wgrun::sass {

struct Source {
    enum class Kind : std::uint8_t {
        other,      ///< nothing that is followed
        reg,        ///< R4; RZ: index register_count
        uniform,    ///< UR4; URZ: index uniform_count
        predicate,  ///< P0, PT, UP0
        number,     ///< 0x10, -0x1
        constant,   ///< c[0x0][0x210], c[0x0][R3+0x210]
        memory      ///< [R2.64+UR4+0x10], desc[UR4][R2.64], gdesc[UR8]
    };
    /// A register within brackets.
    struct Term {
        bool uniform = false, wide = false;  ///< wide: 64 bits
        bool narrow = false;                 ///< R4.U32: 32 bits
        int index = 0, scale = 1;
    };
    Kind kind = Kind::other;
    int index = 0;
    bool minus = false;     ///< -R4
    bool inverted = false;  ///< ~R4, !P0
    bool wide = false;      ///< R4.64
    int byte = 0;           ///< R4.B2
    std::int64_t number = 0;
    int bank = 0;             ///< of a constant
    std::vector<Term> terms;  ///< of an address
};
inline constexpr int uniform_count = 63;

Source source_of(std::string_view text);
std::vector<Source> operands_as_sources(const Instruction& instruction);

}  // namespace wgrun::sass
