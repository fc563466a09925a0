// What the warps of one cluster did in a run of the simulator, and what they waited for, without times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/observer.hpp"
#include "timeline/requests.hpp"

namespace wgrun::timeline {

/// An mbarrier, or a barrier of the CTA or of the cluster. A phase completes when everything that the run
/// counted for it has arrived.
struct Barrier {
    enum class Kind : std::uint8_t { mbarrier, cta, cluster };
    Kind kind = Kind::mbarrier;
    int rank = 0;                        ///< of the CTA
    std::string name;                    ///< "pipeline_full[2]", "barrier 1"
    std::vector<std::uint32_t> counted;  ///< arrivals and copies, by phase
    bool counts_bytes = false;
};

/// "pipeline_full[2]", the script's name of the memory of an mbarrier at that offset; "barrier 1"; ...
std::string barrier_name(const Program& program, Barrier::Kind kind, std::uint32_t place);

struct Event {
    enum class Kind : std::uint8_t { arrive, wait, copy, store, commit, drained };
    Kind kind;
    bool read = false;          ///< drained: waits only until their bytes have been read
    int rank = 0;               ///< copy: the CTA that receives the bytes
    std::uint32_t barrier = 0;  ///< index in Trace::barriers
    std::uint32_t phase = 0;    ///< drained: groups that may still be pending
    std::uint32_t bytes = 0;
    bool outside = false;  ///< copy: from global memory
};

/// An operation of a warp: a place in sim::Code.
struct Item {
    std::uint32_t pc = 0;
    std::uint32_t event = 0;  ///< the first of its events
    std::uint16_t events = 0;
    std::uint8_t lanes = 0;  ///< lanes that executed it
    std::uint8_t units = 0;  ///< of its request to memory (Units); 0: not known
};

struct WarpTrace {
    int rank = 0, warp = 0;  ///< CTA of the cluster, warp of that CTA
    std::vector<Item> items;
    std::vector<Event> events;
};

struct Trace {
    std::vector<WarpTrace> warps;
    std::vector<Barrier> barriers;
    std::vector<bool> read_params;  ///< by parameter: whether bulk copies read through it
};

/// Thrown by the recorder to end the run when the recording is complete.
struct Recorded {};

/// Records the first cluster of a grid.
class Recorder : public sim::Observer {
  public:
    void begin(sim::View view) override;
    void before(sim::View view, int warp) override;
    void after(sim::View view, int warp, std::uint32_t pc) override;
    void signal(sim::View view, int warp, const sim::Signal& signal) override;
    void ended(sim::View view) override;

    Trace take() { return std::move(trace_); }
    const Requests& requests() const { return requests_; }
    const std::vector<Diagnostic>& findings() const { return findings_; }

  private:
    /// The last unsuccessful wait of a warp: what was recorded since is discarded if the warp returns there
    /// and has done nothing else.
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
    Requests requests_;
    bool began_ = false;
    Dim3 first_;
    std::vector<Event> pending_;  ///< of the current step
    std::vector<Retry> retries_;
    std::map<std::tuple<Barrier::Kind, int, std::uint32_t>, std::uint32_t> indices_;
    std::vector<std::uint32_t> generation_;  ///< of barriers of CTAs, by index
    std::vector<Diagnostic> findings_;
    std::size_t recorded_ = 0;
};

}  // namespace wgrun::timeline
