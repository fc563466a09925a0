// Races between clusters that hand values over. What orders their accesses changes from access to access, so
// each one is compared with those before it when it happens, as FastTrack does (Flanagan and Freund, 2009):
// a write with the writes and reads since the last, a read with the last write of each byte. Such clusters
// take turns on one host thread.
//
// Clusters that hand nothing over are compared when they have ended (LaunchShadow).
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/conflict.hpp"
#include "sim/devices.hpp"
#include "sim/fence_log.hpp"

namespace wgrun::sim {

class LaunchHistory {
  public:
    /// Weak, reducing copies, or strong accesses of so many bytes. Strong ones of one size do not race with
    /// each other, nor do reducing copies, whose scope is the GPU (PTX ISA 9.7.9.25.4.2).
    using Kind = int;
    static constexpr Kind weak = 0, reducing = -1;

    explicit LaunchHistory(Devices devices) : devices_(devices) {}

    /// An access that happens now.
    struct Now {
        Knower knower;  ///< who accesses, or issues the copy that does
        Epoch by;
        Kind kind;
        bool async;           ///< through the async proxy
        bool fixed;           ///< it writes what is the same in all executions
        bool system = false;  ///< a strong access in the scope of the system
    };
    /// A write of which something is left.
    struct Write {
        std::uint32_t cluster;
        Epoch by;
        bool operator==(const Write&) const = default;
    };
    /// The ends of a copy: those that the CTAs that receive it are told. Whoever knows one of them knows that
    /// it has read.
    using Ends = std::vector<Epoch>;

    void read(const Now& now, std::uint64_t address, std::uint64_t bytes);
    /// same: the value is there already. It does no harm to other writes if it cannot be another one.
    void write(const Now& now, std::uint64_t address, std::uint64_t bytes, bool same);
    /// Returns the last writes of the bytes, each once.
    std::vector<Write> last_writes(std::uint64_t address, std::uint64_t bytes);
    /// What the cluster read at this epoch is read by a copy with these ends.
    void reads_until(std::uint32_t cluster, Epoch read, const Ends& ends);

    FenceLog proxy_fences;  ///< fence.proxy.async of global memory
    FenceLog map_releases;  ///< what makes tensor maps seen by those who acquire them

    /// Removes and returns the conflicts of this cluster with those before it in the grid, each pair of steps
    /// once.
    std::vector<Conflict> take(std::uint64_t cluster);

  private:
    static constexpr std::uint32_t word_bytes = 4, line_words = 32;

    struct Access {
        std::uint32_t cluster;
        Kind kind;
        bool writes, async, fixed, system;
        bool fed;            ///< a read that was ordered after another cluster's write
        std::uint8_t bytes;  ///< of the word, a bit each
        Epoch by;
        Epoch before;  ///< of a write: the one by the same cluster in whose place it came
    };
    using Word = std::vector<Access>;

    template <class F>
    void for_each_word(std::uint64_t address, std::uint64_t bytes, F f);
    bool ordered(const Now& now, std::uint32_t cluster, Epoch past) const;
    /// Returns whether two accesses may happen in any order, since both are strong, or reduce.
    bool meet(const Now& now, const Access& past) const {
        return past.kind != weak && past.kind == now.kind &&
               (devices_.of(past.cluster) == devices_.of(now.knower.cluster) || (past.system && now.system));
    }
    /// Does whatever races with the past access race with that of the same warp now, too?
    static bool stands_for(const Now& now, const Access& past) {
        return now.kind == weak || (past.kind == now.kind && (past.system || !now.system));
    }
    /// A copy comes after the access: does it see what that wrote through the generic proxy?
    bool published(const Now& now, const Access& past);
    void tell(Wrong wrong, std::uint64_t address, const Side& access, const Side& other);

    Devices devices_;
    std::unordered_map<std::uint64_t, std::vector<Word>> lines_;                 ///< by address
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Ends>> ends_;  ///< by cluster and access
    std::set<std::pair<std::uint32_t, std::uint32_t>> reported_;                 ///< pairs of steps
    std::map<std::uint32_t, std::vector<Conflict>> found_;  ///< by the later cluster of the two
    Write fine_{};   ///< was found published just now: neighbouring words have the same history
    Epoch fine_to_;  ///< to this copy
};

}  // namespace wgrun::sim
