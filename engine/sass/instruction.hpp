// An instruction of machine code, as nvdisasm prints it, and the control word that stands in its encoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wgrun::sass {

/// How an instruction is issued (bits 105 to 121 of its 128). Facts: Jia, Maggioni, Staiger and Scarpazza
/// 2018, section 2.1; nothing of it is documented by NVIDIA (docs/sass.md).
struct Control {
    std::uint8_t stall = 0;                  ///< cycles until the next instruction of the warp may be issued
    bool yield = false;                      ///< the scheduler prefers another warp afterwards
    std::uint8_t write = none, read = none;  ///< the scoreboards that count its results, its sources
    std::uint8_t waits = 0;                  ///< a bit for each scoreboard that it waits for
    bool known = false;                      ///< the text has the encoding

    static constexpr std::uint8_t none = 7;
    /// Of the upper half of an encoding.
    static constexpr Control of(std::uint64_t upper) {
        const auto bits = [upper](int from, unsigned mask) {
            return static_cast<std::uint8_t>((upper >> from) & mask);
        };
        return {bits(41, 15), bits(45, 1) == 0, bits(46, 7), bits(49, 7), bits(52, 63), true};
    }
};

/// A predicate register, P0 to P6 or UP0 to UP6, by number: the uniform ones follow the others.
using Predicate = std::int8_t;
inline constexpr Predicate no_predicate = -1, always = 7;  // PT
inline constexpr int predicates = 16;
/// Returns no_predicate where the text names none, `always` for PT and UPT.
Predicate predicate_named(std::string_view text);

/// Consecutive registers R, by number. RZ is none.
struct Registers {
    std::int16_t first = 0, count = 0;
    bool contains(int reg) const { return reg >= first && reg < first + count; }
    bool meets(Registers other) const {
        return first < other.first + other.count && other.first < first + count;
    }
    bool operator==(const Registers&) const = default;
};
inline constexpr int register_count = 255;

struct Record;  // sass/record.hpp

/// Its texts belong to the listing that it was read from.
struct Instruction {
    std::uint32_t address = 0;  ///< bytes from the beginning of the function
    std::string_view text;      ///< "@P0 LDG.E R2, desc[UR4][R4.64]"
    std::string_view mnemonic;  ///< "LDG.E"
    std::vector<std::string_view> operands;
    Predicate guard = no_predicate;
    bool guard_negated = false;
    Control control;
    bool spill = false;              ///< nvdisasm marks it as a spill or a refill
    int line = 0;                    ///< of the PTX; 0: unknown
    std::string_view file;           ///< of the source, if the text names it
    int source_line = 0;             ///< there; 0: unknown
    const Record* record = nullptr;  ///< what it is; never null once it was read

    /// Its guard is @!PT.
    bool never() const { return guard == always && guard_negated; }
    bool guarded() const { return guard != no_predicate && guard != always; }
    /// Whether a part of the mnemonic between dots is `part`.
    bool has(std::string_view part) const;
};

/// A place in a function that branches name.
struct Label {
    std::string_view name;
    std::size_t at = 0;  ///< the instruction that follows
};

struct Function {
    std::string name;  ///< of the kernel
    std::vector<Instruction> instructions;
    std::vector<Label> labels;  ///< in the order of the text
};

}  // namespace wgrun::sass
