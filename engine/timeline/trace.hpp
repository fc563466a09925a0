// What the warps of one cluster did in a run of the simulator, and what they waited for: no times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/observer.hpp"

namespace wgrun::timeline {

/// An mbarrier, or a barrier of the CTA or of the cluster: phases that complete when all that was counted for
/// them in the run has come.
struct Barrier {
    enum class Kind : std::uint8_t { mbarrier, cta, cluster };
    Kind kind = Kind::mbarrier;
    int rank = 0;                        ///< of the CTA
    std::string name;                    ///< "pipeline_full[2]", "barrier 1"
    std::vector<std::uint32_t> counted;  ///< arrivals and copies, by phase
    bool counts_bytes = false;
};

/// "pipeline_full[2]", as the script calls the memory of an mbarrier at that offset; "barrier 1"; ...
std::string barrier_name(const Program& program, Barrier::Kind kind, std::uint32_t place);

struct Event {
    enum class Kind : std::uint8_t { arrive, wait, copy, store, commit, drained };
    Kind kind;
    bool read = false;          ///< drained: only until their bytes have been read
    int rank = 0;               ///< copy: CTA that gets the bytes
    std::uint32_t barrier = 0;  ///< index in Trace::barriers
    std::uint32_t phase = 0;    ///< drained: groups that may still run
    std::uint32_t bytes = 0;
    bool outside = false;  ///< copy: from global memory
};

/// An operation of a warp: a place in sim::Code.
struct Item {
    std::uint32_t pc = 0;
    std::uint32_t event = 0;  ///< the first of its events
    std::uint16_t events = 0;
    std::uint8_t lanes = 0;  ///< that executed it
};

struct WarpTrace {
    int rank = 0, warp = 0;  ///< CTA of the cluster, warp of that CTA
    std::vector<Item> items;
    std::vector<Event> events;
};

struct Trace {
    std::vector<WarpTrace> warps;
    std::vector<Barrier> barriers;
    std::vector<bool> read_params;  ///< by parameter: bulk copies read through it
};

/// Thrown by the recorder when it has what it wants: ends the run.
struct Recorded {};

/// Records the first cluster of a grid.
class Recorder : public sim::Observer {
  public:
    void begin(sim::View view) override;
    void after(sim::View view, int warp, std::uint32_t pc) override;
    void signal(sim::View view, int warp, const sim::Signal& signal) override;
    void ended(sim::View view) override;

    Trace take() { return std::move(trace_); }
    const std::vector<Diagnostic>& findings() const { return findings_; }

  private:
    /// The last wait of a warp that was in vain: what was recorded from it on counts for nothing when the
    /// warp comes back there and has not done anything else.
    struct Retry {
        std::uint32_t pc = sim::no_pc;
        std::size_t items = 0, events = 0;
    };
    bool mine(sim::View view) const { return view.cta(0) == first_; }
    std::uint32_t barrier(sim::View view, Barrier::Kind kind, int rank, std::uint32_t place);
    void count(std::uint32_t barrier, std::uint32_t phase, bool bytes);
    void note_read(sim::View view, std::uint64_t global);
    void add(Event event) { pending_.push_back(event); }

    Trace trace_;
    bool began_ = false;
    Dim3 first_;
    std::vector<Event> pending_;  ///< of the step at hand
    std::vector<Retry> retries_;
    std::map<std::tuple<Barrier::Kind, int, std::uint32_t>, std::uint32_t> indices_;
    std::vector<std::uint32_t> generation_;  ///< of barriers of CTAs, by index
    std::vector<Diagnostic> findings_;
    std::size_t recorded_ = 0;
};

}  // namespace wgrun::timeline
