// Who waits, and for what: of those who wait in vain, in an abstract execution, on the simulator, and of a
// guarded run on a GPU. The laws that they break are in program/wait_words.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/rule_message.hpp"

namespace wgrun::rules {

/// "warp 3", "warps 0, 1, 5", "warps 4-7": bit w stands for warp w.
std::string names_of_warps(std::uint32_t warps);

/// who_waits: "warps 0, 1 wait at barrier 1: ..."
std::string kernel_hangs(const std::string& who_waits);

/// "3 of 4 arrivals have come, 16384 bytes are outstanding"
std::string what_has_come(std::int64_t arrivals, std::int64_t expected, std::int64_t bytes);

/// What is behind "waits ", and what it speaks of.
struct Wait {
    std::string text;
    std::vector<Fact> facts{};
};
Wait at_barrier(std::uint32_t id, std::uint32_t arrived, std::uint32_t expected);  ///< threads
Wait at_cluster_barrier(std::size_t arrived, std::size_t expected);                ///< warps
Wait for_registers(int wanted, int held, int free);  ///< a thread; free of the CTA's
/// `arrived` of the `expected` arrivals have come, and `bytes` are outstanding.
Wait for_phase(std::int64_t phase, std::int64_t parity, const std::string& place, std::int64_t arrived,
               std::int64_t expected, std::int64_t bytes);

/// WG-SYNC-06: CTA `waits` waits for memory, and CTA `next` has not begun, since as many SMs have room for
/// `room` CTAs, none of which ends.
std::string no_room(const std::string& waits, const std::string& next, std::uint64_t room, int sms);
inline constexpr std::string_view fewer_ctas =
    "no more CTAs than are resident, their number from the device (its SMs times the CTAs that an SM holds), "
    "or a cooperative launch, which refuses a larger grid";

/// What an mbarrier has counted in the phase that is waited for, and where.
struct Account {
    std::int64_t arrived = 0, expected = 0;  ///< arrivals
    std::int64_t added = 0;                  ///< of them, by cp.async.mbarrier.arrive without .noinc
    std::int64_t outstanding = 0, bytes_expected = 0, bytes_copied = 0;
    std::int64_t phase = 0;  ///< so many are complete
    /// Of arrivals the last one, which may be of the phase before.
    Where made{}, arrived_at{}, expected_at{}, copied_at{};
};
/// What it lacks: where it was counted, and what has to agree.
struct Lack {
    std::vector<Note> notes;
    Fix fix;
};
Lack lack_of(const Account& phase);

// Of loops: WG-SYNC-07.

/// When a thread may leave a loop that does not end.
enum class Leaving : std::uint8_t {
    at_once,  ///< in its first turns alone: what it looks at does not change afterwards
    never,    ///< what would let it leave never holds
    nowhere   ///< there is no way out
};
RuleMessage never_left(Leaving leaving);
/// who: a warp that has gone round loops so many times
RuleMessage too_many_turns(const std::string& who, std::uint64_t turns);

}  // namespace wgrun::rules
