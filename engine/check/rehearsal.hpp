// A rehearsal: the warps of one cluster execute what decides about synchronisation, without any data.
//
// Parameters, special registers and what is computed from them have values; memory has none. A warp whose
// control flow depends on more leaves the rehearsal, and nothing that it might do is reported as missing.
// Every finding occurs in a real schedule of a launch with these sizes.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <span>
#include <tuple>

#include "check/findings.hpp"
#include "check/knowledge.hpp"
#include "check/matrix.hpp"
#include "check/skeleton.hpp"
#include "isa/bulk_copy.hpp"
#include "isa/thread_machine.hpp"
#include "isa/warp.hpp"
#include "machine/barriers.hpp"
#include "machine/mbarrier.hpp"
#include "machine/peers.hpp"
#include "machine/register_pool.hpp"
#include "machine/seat.hpp"
#include "machine/waits.hpp"

namespace wgrun::check {

class Rehearsal final : public isa::ThreadMachine {
  public:
    Rehearsal(const Program& program, const Skeleton& skeleton, LaunchSizes sizes, Dim3 cluster = {0, 0, 0});

    /// Runs the kernel until every warp has ended or left, or none can continue.
    void run();

    const std::vector<Diagnostic>& findings() const { return findings_; }
    /// Returns the findings that break the same law as the first; those of other laws may be consequences.
    std::vector<Diagnostic> first_findings() const;
    /// Returns what is slow, but not wrong.
    const std::vector<Diagnostic>& remarks() const { return remarks_; }
    /// Returns whether the kernel was too long to follow to its end.
    bool gave_up() const { return budget_ < 0; }
    /// Returns whether every warp has ended.
    bool complete() const;
    /// Returns whether a warp has executed a step of that line.
    bool came_to(Where where) const;

    isa::Mask active() const override { return active_; }
    isa::Mask existing() const override { return warp_->all; }
    const void* read(Reg reg) override;
    const void* read_some(Reg reg, isa::Mask& known) override;
    void* write(Reg reg) override;
    std::uint32_t special(isa::Special which, int lane) override;
    std::uint64_t param(int index) override;
    std::uint32_t shared_address(int buffer) override;
    void load(isa::Space space, const isa::Addresses& address, int, void*, int) override;
    void store(isa::Space space, const isa::Addresses& address, int, const void*, int) override;
    void update(isa::Space space, const isa::Addresses& address, int,
                const std::function<void(int, std::byte*)>&) override;

    void barrier(std::uint32_t id, std::uint32_t threads) override { meet(id, threads, true); }
    void barrier_arrive(std::uint32_t id, std::uint32_t threads) override { meet(id, threads, false); }
    void converge() override { warp_->gathered = warp_->now++; }
    void proxy_fence(std::optional<isa::Space> space) override;
    void mbarrier_init(const isa::Addresses& address, const isa::Counts& arrivals) override;
    void mbarrier_inval(const isa::Addresses& address) override;
    void mbarrier_arrive(const isa::Addresses& address, const isa::Counts& bytes,
                         const isa::Counts& arrivals) override;
    std::optional<isa::Mask> mbarrier_wait(const isa::Addresses& address, const isa::Counts& parity) override;
    void mbarrier_fence_init() override { announce(); }
    void bulk_copy(const isa::BulkCopy& copy) override;
    void bulk_commit() override;
    void bulk_wait(int pending, bool read) override;
    void arrive_copies(const isa::Addresses& mbarrier, bool increase) override;
    void store_async(const isa::AsyncStore& store, const isa::Addresses& to, const isa::Addresses& mbarrier,
                     const void*, int) override;
    std::uint32_t map_shared(std::uint32_t address, std::uint32_t rank) override;
    void cluster_arrive() override;
    void cluster_wait() override;
    void set_registers(int registers, bool increase) override;

    // Only the effects of wgmma matter (stages.cpp), not the products.
    void order_registers() override { refuse(); }
    void select(int) override { refuse(); }
    void begin_mma(const isa::AsyncMma&) override { refuse(); }
    const std::byte* async_read_shared(std::uint32_t, int, unsigned) override { return refuse(), nullptr; }
    const void* async_read(Reg reg, isa::Mask) override { return read(reg); }
    void* async_write(Reg reg) override { return write(reg); }
    void end_mma() override { refuse(); }
    void commit_mma() override { refuse(); }
    void wait_mma(int) override { refuse(); }

  private:
    using Op = SkeletonOp;
    struct Cta;
    struct Mbarrier;

    struct Warp {
        /// at_barrier waits after its step; asleep waits before its step, and executes it again. A warp that
        /// has left may do anything that the program allows.
        enum class State : std::uint8_t { ready, at_barrier, asleep, ended, left };
        enum class Wait : std::uint8_t { registers, mbarrier, cluster };  ///< the likeliest cause first
        int number = 0;                                                   ///< in the cluster
        Cta* cta = nullptr;
        std::uint32_t pc = 0;
        isa::Mask all = 0, running = 0;  ///< all: lanes that have not ended; running: the active ones
        State state = State::ready;
        Wait wait = Wait::mbarrier;
        bool give_up = false;  ///< its next wait for an mbarrier returns without success
        std::uint32_t barrier = 0;
        const Mbarrier* mbarrier = nullptr;
        std::int64_t parity = 0;
        int resizes = 0;            ///< number of setmaxnreg executed
        std::uint32_t resized = 0;  ///< its clock at the last setmaxnreg
        const Step* resized_by = nullptr;
        std::uint32_t now = 1;       ///< its clock
        std::uint32_t gathered = 0;  ///< its clock when its lanes last synchronised
        /// A wgmma in flight, which reads from a point of the CTA's memory.
        struct Flight {
            std::size_t point;
            int age;  ///< age of its group: 0 the youngest; -1: not committed
        };
        std::vector<Flight> flights;
        std::uint32_t multiplied = 0;  ///< number of wgmma issued
        /// Copies to global memory issued by a lane.
        struct Stores {
            int lane;
            const Step* open = nullptr;         ///< the last uncommitted copy
            std::vector<const Step*> groups{};  ///< the last copy of each group, the oldest group first
        };
        std::vector<Stores> stores;
        flow::Divergence parted;
        Knowledge known;
        std::vector<std::uint64_t> registers;  ///< all lanes of each register
        std::vector<isa::Mask> values;         ///< the lanes of each register whose value is known
    };

    struct Mbarrier : machine::Mbarrier {
        using machine::Mbarrier::Mbarrier;

        Cta* cta = nullptr;
        int init_warp = 0;
        std::size_t init_lane = 0;
        std::uint32_t init_clock = 0;  ///< clock of the warp
        bool known_to_warp = false;    ///< whether all lanes of the warp know of the init
        const Step *made = nullptr, *arrived = nullptr, *expecting = nullptr, *copied = nullptr;
        const Step* brought = nullptr;  ///< the last copy of all phases, and the clock at which it has landed
        std::uint32_t landed = 0;
        Knowledge arriving, complete;
    };

    /// The first byte of matrices that wgmma read, and their readers.
    struct Point {
        struct Reader {
            int warp;
            std::uint32_t serial;  ///< number of the wgmma within the warp
            std::uint32_t clock;   ///< clock of the warp when it had waited for the wgmma; 0: it has not
            const Step* step;
            const Step* committed;  ///< the commit_group that followed; null: none yet
        };
        std::uint32_t address;
        std::vector<Reader> readers{};
    };

    /// The destination of a copy.
    struct Written {
        std::uint32_t lo, hi;  ///< addresses
        const Mbarrier* mbarrier;
        std::uint32_t clock;  ///< clock of the mbarrier when the copy has landed
        const Step* step;
        const TensorBox* box;  ///< null for a linear copy
    };

    /// An access to this CTA's memory by a warp of another CTA.
    struct Visit {
        int warp = 0;
        std::uint32_t clock = 0;
        const Step* step = nullptr;
    };

    struct Cta {
        int rank = 0, first = 0;  ///< first: its first warp
        int running = 0;          ///< warps that have not ended
        bool ended = false;
        machine::NamedBarriers barriers;
        std::array<Knowledge, sm_90a.barriers> meetings;  ///< by barrier: what the arrived warps knew
        machine::RegisterPool registers;
        std::vector<std::unique_ptr<Mbarrier>> mbarriers;
        std::vector<Visit> visits;  ///< the last one of each warp
        std::vector<Point> points;
        std::vector<Written> written;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> brought;  ///< by copies: addresses [lo, hi)

        void bring(std::uint32_t lo, std::uint32_t hi);
        bool has_brought(std::uint32_t address) const;
    };

    struct Copy {
        Mbarrier* mbarrier;
        const Step* step;
        std::int64_t bytes;
        std::uint32_t phase;
    };

    // rehearsal.cpp: scheduling and registers
    void go(Warp& warp);
    void jump(Warp& warp, const Op& op);
    void step(Warp& warp, const Op& op);
    void end(Warp& warp);
    void leave(Warp& warp);
    void refuse() override { unclear_ = true; }
    std::optional<isa::Mask> condition(const Op& op) const;
    bool sources_known(const Op& op) const;
    void forget_results(const Op& op);
    void sleep(Warp::Wait wait);
    template <class Which>
    void wake(Warp::Wait wait, Which which) {
        fruitless_ = 0;
        for (Warp& warp : warps_)
            if (warp.state == Warp::State::asleep && warp.wait == wait && which(warp))
                warp.state = Warp::State::ready;
    }
    int slot(Reg reg) const { return skeleton_.slots[reg.id]; }
    int local(const Warp& warp) const { return warp.number - warp.cta->first; }
    void release(Knowledge& place);
    void acquire(Warp& warp, const Knowledge& place);
    void add(rules::Saying saying, const Step* at, std::vector<Note> notes = {});
    void add(const Rule& rule, const Step* at, std::string message, Fix fix, std::vector<Note> notes = {}) {
        add({rule, std::move(message), std::move(fix)}, at, std::move(notes));
    }
    void refused(Diagnostic finding);
    /// Returns whether findings_ has the finding.
    bool told(const Rule& rule, const Step* at) const;
    std::string place(std::uint32_t offset) const;
    std::string name(const Warp& warp) const;

    // mbarriers.cpp
    Mbarrier* find(const isa::Addresses& address, std::size_t lane);
    Mbarrier* find(std::uint64_t address, std::size_t lane, bool by_engine);
    bool made_by_other_lane(const Mbarrier& mbarrier, std::size_t lane) const;
    void announce();
    void advance(Mbarrier& mbarrier);
    void fits_count(const Mbarrier& mbarrier, std::optional<std::int64_t> too_many, const Step* by);
    void phase_known(const Mbarrier& mbarrier, std::string_view what);
    void copy_to(std::uint64_t shared, std::uint64_t mbarrier, std::size_t lane, std::int64_t bytes,
                 const TensorBox* box, bool by_engine);
    void land();

    // phases.cpp: the phases that warps wait for
    void watch_phase(Mbarrier& mbarrier, std::int64_t parity);
    void early(const Mbarrier& mbarrier, rules::Saying saying);
    bool let_through(const machine::LetThrough* wait, const Step* copy);
    void blame(const machine::LetThrough& wait, Note consequence);
    void skipped(const Step* wait, rules::Saying saying, Note note);

    // stages.cpp: what wgmma reads and copies overwrite
    class Multiplier;
    void multiply(const Step& step);
    void reads_matrix(const Operand& descriptor, const Matrix& read);
    bool maybe_stored(std::uint32_t offset) const;
    void commit_group();
    void wait_group(int pending);
    bool known_past(const Point& point, const Point::Reader& reader) const;
    Fix release_later(const Point::Reader& reader) const;
    void overwrites(const Mbarrier& mbarrier, std::uint32_t lo, std::uint32_t hi);
    void unfinished(Cta& cta);

    // boxes.cpp: destinations of bulk copies, and the boxes of tensor maps
    bool fits_shared(const isa::BulkCopy& copy, const TensorBox* box);
    void compare(const Written& written, const Matrix& read, std::uint64_t descriptor);

    // meetings.cpp: barriers of the CTA and of the cluster, and the effect of a CTA's end on its peers
    void meet(std::uint32_t id, std::uint32_t threads, bool wait);
    void complete_barrier(Cta& cta, std::uint32_t id);
    void complete_meeting();
    Cta* peer(std::uint64_t& address);
    void visit(isa::Space space, const isa::Addresses& address);
    void close(Cta& cta);

    // pool.cpp
    void resized_together();
    void fits_registers(const Step& step);

    // stuck.cpp
    struct Suspect;
    bool look_again();
    void report_stuck();
    bool others_may_run() const;
    bool never_enough_registers(const Warp& warp) const;
    Suspect suspect(const Warp& warp) const;
    std::string waits_for(const Warp& warp) const;
    void stuck_at_mbarrier(const Warp& warp);

    static constexpr std::uint32_t base = sm_90a.shared_base;

    const Program& program_;
    const Skeleton& skeleton_;
    const LaunchSizes sizes_;
    const Dim3 at_;  ///< position of the cluster in the grid of clusters
    const int warps_per_cta_;
    std::vector<Warp> warps_;
    std::vector<Cta> ctas_;
    std::vector<Copy> copies_;  ///< in flight
    machine::Waits waits_;
    int actors_;
    machine::ClusterBarrier cluster_barrier_;
    Knowledge meeting_, met_;  ///< at the cluster barrier: of warps that arrive; of those that have

    Warp* warp_ = nullptr;
    const Op* op_ = nullptr;
    isa::Mask active_ = 0;
    bool unclear_ = false;  ///< the current step depends on unknown values...
    bool loads_ = false;    ///< ...or its results are loaded from memory
    bool anybody_left_ = false;
    int fruitless_ = 0;
    int budget_;  ///< operations that may still be executed
    std::vector<Diagnostic> findings_;
    std::vector<Diagnostic> remarks_;
    /// Matrices that have been compared with the boxes that fill them: the wgmma, the copy, the descriptor.
    std::set<std::tuple<const Step*, const Step*, std::uint64_t>> compared_;
    std::size_t faults_ = 0;      ///< number of findings before no warp could continue
    std::vector<bool> executed_;  ///< by operation
    const std::array<std::uint64_t, isa::lanes> nothing_{};  ///< read where nothing is known
};

/// Rehearses the program, with several sizes if a launch matters, and adds to `findings` what goes wrong with
/// each of them. Returns true if that is complete: every warp has ended, or a fault was found. `stored`: by
/// buffer, whether threads may write to it.
bool rehearse(const Program& program, std::vector<bool> stored, Findings& findings);

}  // namespace wgrun::check
