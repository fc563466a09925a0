// What the PTX ISA says of a program (9.7.15.7.1 to 9.7.15.7.3), decided by following every path: the judge
// between the static checker and ptxas. It shares nothing with either.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "tests/ptxas/program.hpp"

namespace wgmma_program {

enum class Fault : std::uint8_t {
    no_fence,     ///< no wgmma.fence before the first wgmma
    written,      ///< a register of a wgmma was written by a thread, no fence since
    read,         ///< an accumulator or fragment was read by a thread, no fence since
    other_shape,  ///< an accumulator of a wgmma of another shape, or a fragment that was an accumulator; no
                  ///< fence
    in_flight,    ///< an accumulator is accessed before its group is waited for
    fragment_in_flight,  ///< a register of the A fragment is accessed before its group is waited for
    as_other_in_flight,  ///< accumulator of a wgmma in flight used as fragment, or the other way round
    uncommitted,         ///< a wgmma that no group holds is accessed, or is left over
    left_over,           ///< a group that nothing waits for before the kernel ends
};
inline const char* name_of(Fault fault) {
    static constexpr const char* names[] = {
        "no fence",           "written, no fence",   "read, no fence", "other shape, no fence", "in flight",
        "fragment in flight", "other use in flight", "uncommitted",    "group left over"};
    return names[static_cast<int>(fault)];
}

/// What is legal, and yet ptxas may have something to say about it; the likeliest cause first.
enum class Oddity : std::uint8_t {
    empty_group,   ///< a commit_group with no wgmma since the last one
    two_shapes,    ///< wgmma of two shapes on the same accumulators, a fence between them
    control_flow,  ///< a loop or a branch
    overlap,       ///< a thread accesses registers while wgmma on others are on their way
    idle_wait,     ///< a wait_group while no group is pending
    overwrites,    ///< a wgmma with scale-d 0
};
inline const char* name_of(Oddity oddity) {
    static constexpr const char* names[] = {"empty group", "two shapes", "control flow",
                                            "overlap",     "idle wait",  "scale-d 0"};
    return names[static_cast<int>(oddity)];
}

/// Follows all paths: loops of unknown count run 0 to 3 times, branches go both ways. What decides is an
/// argument of the kernel, so that a loop or branch inside another loop goes the same way each time.
class Law {
  public:
    /// The first fault of each path.
    std::set<Fault> faults(const Block& program) {
        found_.clear();
        oddities_.clear();
        run(program, 0, State{}, [&](State state) {
            for (const Use& use : state.uses)
                if (use.group < 0) {
                    found_.insert(Fault::uncommitted);
                    return;
                }
            if (!state.uses.empty()) found_.insert(Fault::left_over);
        });
        return found_;
    }
    /// Of the last program, on any path.
    const std::set<Oddity>& oddities() const { return oddities_; }

  private:
    /// A wgmma on its way.
    struct Use {
        std::uint64_t d, a;  ///< bits: registers
        int group;           ///< serial number, -1: not committed
    };
    struct State {
        bool fenced = false;
        int groups = 0;
        std::uint64_t read = 0, written = 0;  ///< by threads since the last fence
        std::uint64_t whole = 0, half = 0;    ///< accumulators of a wgmma since the last fence, by shape
        std::uint64_t ever_whole = 0, ever_half = 0;  ///< likewise, since the start
        std::vector<Use> uses;
        std::map<const Statement*, int> decisions;  ///< iterations, or 1 for the body of a branch
    };
    static constexpr int most_iterations = 3;
    using Next = std::function<void(State)>;

    static std::uint64_t bits(int first, int count) { return ((std::uint64_t{1} << count) - 1) << first; }
    static std::uint64_t accumulator(int i, bool half = false) {
        return bits(i * accumulator_registers, half ? accumulator_registers / 2 : accumulator_registers);
    }
    static std::uint64_t fragment(int i) {
        return i < 0
                   ? 0
                   : bits(accumulators * accumulator_registers + i * fragment_registers, fragment_registers);
    }

    void run(const Block& block, std::size_t at, State state, const Next& next) {
        using enum Statement::Kind;
        for (; at < block.size(); ++at) {
            const Statement& s = block[at];
            if (s.kind == loop || s.kind == branch) {
                oddities_.insert(Oddity::control_flow);
                const Next rest = [&, at](State after) { run(block, at + 1, std::move(after), next); };
                const auto decided = state.decisions.find(&s);
                int least = 0, most = s.kind == loop ? most_iterations : 1;
                if (s.kind == loop && s.count >= 0) least = most = s.count;
                if (decided != state.decisions.end()) least = most = decided->second;
                for (int way = least; way <= most; ++way) {
                    State decided_state = state;
                    decided_state.decisions[&s] = way;
                    if (s.kind == loop)
                        iterate(s, way, std::move(decided_state), rest);
                    else
                        run(way == 1 ? s.body : s.other, 0, std::move(decided_state), rest);
                }
                return;
            }
            if (!step(s, state)) return;
        }
        next(std::move(state));
    }

    void iterate(const Statement& loop, int times, State state, const Next& next) {
        if (times == 0) return next(std::move(state));
        run(loop.body, 0, std::move(state),
            [&, times](State after) { iterate(loop, times - 1, std::move(after), next); });
    }

    bool fault(Fault fault) {
        found_.insert(fault);
        return false;
    }

    bool step(const Statement& s, State& state) {
        using enum Statement::Kind;
        const std::uint64_t one = std::uint64_t{1} << (s.accumulator * accumulator_registers + s.index);
        const std::uint64_t of_fragment =
            s.fragment < 0 ? 0 : (fragment(s.fragment) & -fragment(s.fragment)) << s.index;
        switch (s.kind) {
            case fence:
                state.fenced = true;
                state.read = state.written = state.whole = state.half = 0;
                return true;
            case mma: return multiply(s, state);
            case commit:
                if (std::none_of(state.uses.begin(), state.uses.end(),
                                 [](const Use& use) { return use.group < 0; }))
                    oddities_.insert(Oddity::empty_group);
                for (Use& use : state.uses)
                    if (use.group < 0) use.group = state.groups;
                ++state.groups;
                return true;
            case wait:
                if (std::none_of(state.uses.begin(), state.uses.end(),
                                 [](const Use& use) { return use.group >= 0; }))
                    oddities_.insert(Oddity::idle_wait);
                std::erase_if(state.uses, [&](const Use& use) {
                    return use.group >= 0 && use.group < state.groups - s.count;
                });
                return true;
            case read: return access(state, one, false);
            case write: return access(state, one, true);
            case read_fragment: return access(state, of_fragment, false);
            case write_fragment: return access(state, of_fragment, true);
            default: {  // pack
                const std::uint64_t pair = bits(s.accumulator * accumulator_registers + 2 * s.index, 2);
                return access(state, pair, false) && access(state, of_fragment, true);
            }
        }
    }

    bool access(State& state, std::uint64_t registers, bool writes) {
        for (const Use& use : state.uses) {
            if (((use.d | use.a) & registers) == 0) continue;
            if (use.group < 0) return fault(Fault::uncommitted);
            return fault(use.d & registers ? Fault::in_flight : Fault::fragment_in_flight);
        }
        if (!state.uses.empty()) oddities_.insert(Oddity::overlap);
        (writes ? state.written : state.read) |= registers;
        return true;
    }

    bool multiply(const Statement& s, State& state) {
        const std::uint64_t d = accumulator(s.accumulator, s.half), a = fragment(s.fragment);
        if (s.overwrites) oddities_.insert(Oddity::overwrites);
        if (!state.fenced) return fault(Fault::no_fence);
        for (const Use& use : state.uses)
            if ((use.d & a) || (use.a & d)) return fault(Fault::as_other_in_flight);
        if (state.written & (d | a)) return fault(Fault::written);
        if (state.read & (d | a)) return fault(Fault::read);
        if (d & (s.half ? state.whole : state.half)) return fault(Fault::other_shape);
        if (d & (s.half ? state.ever_whole : state.ever_half)) oddities_.insert(Oddity::two_shapes);
        (s.half ? state.half : state.whole) |= d;
        (s.half ? state.ever_half : state.ever_whole) |= d;
        state.uses.push_back({d, a, -1});
        return true;
    }

    std::set<Fault> found_;
    std::set<Oddity> oddities_;
};

}  // namespace wgmma_program
