// Small random programs of wgmma: a few accumulators and A fragments, wgmma on them, fences, commits and
// waits, accesses by threads, loops and branches. Most of them keep most of the rules.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace wgmma_program {

/// Registers are numbered through: accumulator i has the registers [8 i, 8 i + 8), fragment j four behind all
/// of them.
constexpr int accumulators = 3, fragments = 2;
constexpr int accumulator_registers = 8, fragment_registers = 4;

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
    enum class Kind : std::uint8_t {
        fence,
        mma,  ///< on `accumulator`, A from `fragment` if that is not -1
        commit,
        wait,            ///< until `count` groups are pending
        read,            ///< of register `index` of the accumulator: a store to global memory
        write,           ///< to it: add 1
        read_fragment,   ///< of register `index` of the fragment
        write_fragment,  ///< to it: mov
        pack,            ///< two registers of the accumulator into one of the fragment
        loop,            ///< body, `count` times, or if that is -1 as often as an argument of the kernel says
        branch,          ///< body or other, as an argument of the kernel says
    };
    Kind kind;
    int accumulator = 0, fragment = -1, index = 0, count = 0;
    bool half = false;        ///< the wgmma has the first half of the registers only, and another shape
    bool overwrites = false;  ///< the wgmma has scale-d 0
    bool guarded = false;     ///< the access is made by some threads only
    Block body{}, other{};
};

/// The program of a seed. It ends by storing all registers, so that nothing in it is dead code but what is
/// overwritten.
class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15U + 1) {}

    Block program() {
        care_ = one_in(2) ? 0.98 : 0.85;
        Block out;
        block(out, 0);
        if (one_in(10)) out.push_back({.kind = Statement::Kind::commit});
        if (careful()) out.push_back(wait(0));
        for (int i = 0; i < accumulators; ++i)
            for (int r = 0; r < accumulator_registers; ++r)
                out.push_back({.kind = Kind::read, .accumulator = i, .index = r});
        for (int j = 0; j < fragments; ++j)
            for (int r = 0; r < fragment_registers; ++r)
                out.push_back({.kind = Kind::read_fragment, .fragment = j, .index = r});
        return out;
    }

  private:
    using Kind = Statement::Kind;

    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    bool one_in(int n) { return below(n) == 0; }
    bool careful() { return static_cast<double>(random_() % 10000) < care_ * 10000; }
    static Statement wait(int pending) { return {.kind = Kind::wait, .count = pending}; }

    void stage(Block& out) {
        if (careful()) out.push_back({.kind = Kind::fence});
        const int accumulator = below(accumulators);
        const bool half = one_in(12);
        for (int i = 1 + below(2); i > 0; --i)
            out.push_back({.kind = Kind::mma,
                           .accumulator = one_in(6) ? below(accumulators) : accumulator,
                           .fragment = one_in(3) ? below(fragments) : -1,
                           .half = half != one_in(30),
                           .overwrites = one_in(8)});
        if (careful()) out.push_back({.kind = Kind::commit});
        if (!one_in(3)) out.push_back(wait(one_in(3) ? 1 : 0));
    }

    void access(Block& out) {
        static constexpr Kind kinds[] = {Kind::read, Kind::write, Kind::read_fragment, Kind::write_fragment,
                                         Kind::pack};
        const Kind kind = kinds[below(5)];
        const bool of_fragment = kind == Kind::read_fragment || kind == Kind::write_fragment;
        if (careful() && one_in(2)) out.push_back(wait(0));
        out.push_back(
            {.kind = kind,
             .accumulator = below(accumulators),
             .fragment = below(fragments),
             .index = below(of_fragment || kind == Kind::pack ? fragment_registers : accumulator_registers),
             .guarded = one_in(5)});
    }

    void block(Block& out, int depth) {
        for (int i = 1 + below(depth == 0 ? 4 : 3); i > 0; --i) {
            const int choice = below(10);
            if (choice < 5) {
                stage(out);
            } else if (choice < 7 || depth == 2) {
                access(out);
            } else if (choice == 7) {
                out.push_back(one_in(2) ? wait(below(3)) : Statement{.kind = Kind::fence});
            } else {
                Statement inner{.kind = choice == 8 ? Kind::loop : Kind::branch, .count = one_in(4) ? 2 : -1};
                block(inner.body, depth + 1);
                if (inner.kind == Kind::branch && one_in(2)) block(inner.other, depth + 1);
                out.push_back(std::move(inner));
            }
        }
    }

    std::mt19937_64 random_;
    double care_ = 1;
};

/// As text, for messages.
inline std::string to_string(const Block& block, const std::string& indent = "  ") {
    using enum Statement::Kind;
    std::string out;
    for (const Statement& s : block) {
        out += indent;
        switch (s.kind) {
            case fence: out += "fence"; break;
            case mma:
                out += fmt::format("mma acc{}{}", s.accumulator, s.half ? " (half)" : "");
                if (s.fragment >= 0) out += fmt::format(" frag{}", s.fragment);
                if (s.overwrites) out += " scale_d=0";
                break;
            case commit: out += "commit"; break;
            case wait: out += fmt::format("wait {}", s.count); break;
            case read: out += fmt::format("read acc{}[{}]", s.accumulator, s.index); break;
            case write: out += fmt::format("write acc{}[{}]", s.accumulator, s.index); break;
            case read_fragment: out += fmt::format("read frag{}[{}]", s.fragment, s.index); break;
            case write_fragment: out += fmt::format("write frag{}[{}]", s.fragment, s.index); break;
            case pack:
                out += fmt::format("frag{}[{}] = pack acc{}", s.fragment, s.index, s.accumulator);
                break;
            case loop: out += s.count < 0 ? "loop n" : fmt::format("loop {}", s.count); break;
            case branch: out += "if"; break;
        }
        out += s.guarded ? " @p\n" : "\n";
        out += to_string(s.body, indent + "  ");
        if (!s.other.empty()) out += fmt::format("{}else\n{}", indent, to_string(s.other, indent + "  "));
    }
    return out;
}

}  // namespace wgmma_program
