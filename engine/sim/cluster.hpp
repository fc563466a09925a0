// A running cluster: its CTAs, their warps, and the machine that the `run` functions of the records use. A
// grid without clusters is a grid of clusters of one CTA.
#pragma once

#include <utility>

#include "isa/effects.hpp"
#include "isa/machine.hpp"
#include "isa/order.hpp"
#include "machine/barriers.hpp"
#include "machine/peers.hpp"
#include "machine/seat.hpp"
#include "machine/waits.hpp"
#include "sim/allowance.hpp"
#include "sim/bulk.hpp"
#include "sim/cta.hpp"
#include "sim/global_shadow.hpp"
#include "sim/handoffs.hpp"
#include "sim/observer.hpp"
#include "sim/report.hpp"
#include "sim/thread_copy.hpp"
#include "sim/turns.hpp"

namespace wgrun::sim {

/// One object simulates one cluster of a grid after another. Warps and threads are numbered through all of
/// its CTAs.
class Cluster final : public isa::Machine, private GlobalShadow::Sink {
  public:
    Cluster(const Program& program, const Code& code, const Launch& launch, Turns& turns,
            Allowance& allowance);

    /// Begins cluster number `index` of the grid.
    void reset(std::uint64_t index);
    /// Runs the cluster until it ends or deadlocks or `launch.stop` is set. Returns false if it can continue
    /// only after another cluster has changed memory. alone: there is no cluster that could.
    bool run(bool alone);

    Report& report() { return report_; }
    /// Returns what its threads have printed in the last run.
    MessageLog take_messages() { return std::move(messages_); }
    /// Returns what the last run did to global memory.
    GlobalTrace global_trace() const;
    std::uint64_t steps() const { return steps_; }  ///< of the last run
    std::uint64_t mmas() const { return mmas_; }

    isa::Mask active() const override { return active_; }
    isa::Mask existing() const override { return warps_[static_cast<std::size_t>(current_)].all; }
    const void* read(Reg reg) override;
    const void* read_some(Reg reg, isa::Mask& known) override {
        known = ~isa::Mask{0};
        return Cluster::read(reg);
    }
    void* write(Reg reg) override;
    std::uint32_t special(isa::Special which, int lane) override;
    std::uint64_t param(int index) override { return launch_.params[static_cast<std::size_t>(index)]; }
    std::uint32_t shared_address(int buffer) override { return cta_->shared.address_of(buffer); }
    void load(isa::Space space, const isa::Addresses& address, int bytes, void* data, int stride) override;
    void store(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
               int stride) override;
    void update(isa::Space space, const isa::Addresses& address, int bytes,
                const std::function<void(int, std::byte*)>& change) override;
    void barrier(std::uint32_t id, std::uint32_t threads) override { meet(id, threads, true); }
    void barrier_arrive(std::uint32_t id, std::uint32_t threads) override { meet(id, threads, false); }
    void converge() override;
    void proxy_fence(std::optional<isa::Space> space) override;
    void fence(const isa::MemoryOrder& order) override;

    void mbarrier_init(const isa::Addresses& address, const isa::Counts& arrivals) override;
    void mbarrier_inval(const isa::Addresses& address) override;
    void mbarrier_arrive(const isa::Addresses& address, const isa::Counts& bytes,
                         const isa::Counts& arrivals) override;
    std::optional<isa::Mask> mbarrier_wait(const isa::Addresses& address, const isa::Counts& parity) override;
    void mbarrier_fence_init() override;

    void bulk_copy(const isa::BulkCopy& copy) override;
    void bulk_commit() override;
    void bulk_wait(int pending, bool read) override;

    void copy_async(const isa::Addresses& to, const isa::Addresses& from, int bytes,
                    const isa::Counts& from_bytes) override;
    void commit_copies() override;
    void wait_copies(std::optional<int> pending) override;
    void arrive_copies(const isa::Addresses& mbarrier, bool increase) override;
    void store_async(const isa::AsyncStore& store, const isa::Addresses& to, const isa::Addresses& mbarrier,
                     const void* data, int stride) override;

    std::uint32_t map_shared(std::uint32_t address, std::uint32_t rank) override;
    void cluster_arrive() override;
    void cluster_wait() override;
    void set_registers(int registers, bool increase) override;

    void order_registers() override;
    void select(int warp_of_group) override;
    void begin_mma(const isa::AsyncMma& mma) override;
    const std::byte* async_read_shared(std::uint32_t address, int bytes, unsigned warps) override;
    const void* async_read(Reg reg, isa::Mask read) override;
    isa::Numerics numerics() const override { return launch_.numerics; }
    void* async_write(Reg reg) override;
    void say(std::size_t index, isa::Mask who, const std::vector<Reg>& values) override;
    std::uint64_t clock() override { return allowance_.taken() + steps_ - accounted_; }
    std::byte* unshared(std::uint64_t address, std::size_t bytes) override {
        return global_.find(address, static_cast<int>(bytes));
    }
    void end_mma() override;
    void commit_mma() override;
    void wait_mma(int pending) override;

  private:
    friend class View;  // observer.hpp

    // scheduler.cpp
    std::uint32_t draw(std::uint32_t below);
    void enter(int warp);
    void burst(std::uint32_t steps);
    void jump(Warp& warp, const Op& op);
    void step(Warp& warp, const Op& op);
    void collective(Warp& warp, const Op& op, isa::Mask active);
    void execute(const Op& op);
    void end(Warp& warp);
    isa::Mask condition(const Op& op);
    void sleep(Warp::Wait wait);
    /// Wakes the sleeping warps of a CTA, or of all CTAs (null), that wait for something of this kind.
    template <class Which>
    void wake(const Cta* cta, Warp::Wait wait, Which which) {
        fruitless_ = 0;
        const std::size_t first = cta == nullptr ? 0 : static_cast<std::size_t>(cta->first);
        const std::size_t end =
            cta == nullptr ? warps_.size() : first + static_cast<std::size_t>(warps_per_cta_);
        for (std::size_t w = first; w < end; ++w) {
            Warp& warp = warps_[w];
            if (warp.state == Warp::State::asleep && warp.wait == wait && which(warp))
                warp.state = Warp::State::ready;
        }
    }

    /// Passes a signal to the observer, if there is one.
    void signal(const Signal& signal) {
        if (launch_.observer != nullptr) [[unlikely]]
            launch_.observer->signal(View(*this), current_, signal);
    }

    // deadlock.cpp
    bool wake_sleepers();
    void report_deadlock();
    static const Mbarrier* waited_for(const Warp& warp, Cta& cta);
    std::string waits_for(const Warp& warp, Cta& cta);

    // machine.cpp
    Warp& warp() { return warps_[static_cast<std::size_t>(current_)]; }
    int local() const { return current_ - cta_->first; }  ///< number of the warp in its CTA
    Actor actor(int lane) const;
    struct Actors {
        isa::Mask ahead;
        Actor first, others;
        const Actor& of(int lane) const { return (ahead >> lane & 1U) != 0 ? first : others; }
    };
    Actors actors() const;
    Lanes active_lanes() { return {active_, warp().all}; }
    void touch(Registers& registers, RegisterState& state, bool write);
    void in_flight(Registers& registers, const RegisterState& state, bool write);
    void use(Registers& registers, RegisterState& state, const isa::AsyncMma& mma, bool accumulator);
    void check_overlap(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
                       int stride);
    /// Returns the lanes of `among` whose address equals `at`.
    static isa::Mask lanes_at(const isa::Addresses& address, isa::Mask among, std::uint64_t at);
    void global_race(const GlobalRace& race) override;
    void global_unfenced(const GlobalRace& race) override;
    template <class Move>
    void for_each_access(bool store, isa::Space space, const isa::Addresses& address, int bytes, Move move);
    void meet(std::uint32_t id, std::uint32_t threads, bool wait);
    void complete_barrier(Cta& cta, std::uint32_t id);

    // strong.cpp
    std::uint64_t location(isa::Space space, std::uint64_t address) const;
    void strong_read(isa::Space space, const isa::Addresses& address);
    void strong_write(isa::Space space, const isa::Addresses& address, bool combines);
    void poll(isa::Space space, std::uint64_t digest);
    bool polls_global() const;
    /// The warp has changed memory: what it polls, and what others poll, may have changed.
    void acted() {
        warp().polled = {};
        if (pollers_) wake_pollers();
    }
    void wake_pollers();
    /// Tells other clusters that they may read global memory again.
    void tell() {
        if (std::exchange(wrote_, false)) turns_.changed();
    }

    // mbarrier.cpp
    struct Found {
        Cta* cta = nullptr;
        Mbarrier* mbarrier = nullptr;
    };
    /// On whose behalf an mbarrier is accessed.
    enum class User : std::uint8_t { thread, engine, async_store };
    Found find_mbarrier(std::uint64_t address, User user, int lane);
    void announce_mbarriers();
    void check_phase_known(const Mbarrier& mbarrier, int lane, std::string_view what);
    void watch_phase(Mbarrier& mbarrier, std::int64_t parity);
    void arrives_too_early(const Mbarrier& mbarrier, std::int64_t arrivals);
    void check_bytes(const Mbarrier& mbarrier, std::optional<std::int64_t> too_many);
    bool advance(Cta& cta, Mbarrier& mbarrier);

    // bulk.cpp
    bool global_side(const isa::BulkCopy& asked, Copy& copy);
    bool check_shared_side(Cta& cta, std::uint64_t address, std::uint32_t bytes, std::uint32_t align);
    void load_bulk(std::uint64_t shared, std::uint64_t mbarrier, Copy copy);
    void store_bulk(const isa::BulkCopy& asked, Copy copy);
    template <class F>
    void for_each_global_run(const Copy& copy, F f);
    void land(std::size_t index);
    void write_global(const Copy& copy);
    void write_shared(const Copy& copy, Cta& cta);
    void count_for(const Found& found, Copy copy);
    BulkGroups* find_groups(int lane);
    BulkGroups& groups_of(int lane);

    // thread_copy.cpp
    void land_thread_copy(std::size_t index);
    void seen_by(ThreadCopy& copy, int lane, Epoch epoch);
    void complete_arrivals(int warp);
    void arrive_for(ThreadCopies& own, int warp, const ThreadCopies::Arrival& arrival);
    void copies_left_over(const Cta& cta);
    int generic_actor(const Cta& cta, Mbarrier& mbarrier);

    // cluster.cpp
    int rank(const Cta& cta) const { return static_cast<int>(&cta - ctas_.data()); }
    Cta* peer(std::uint64_t& address, int lane, bool owes);
    void release_announced(int place);
    void complete_meeting();
    void leave(Cta& cta);

    const Program& program_;
    const Code& code_;
    const Launch& launch_;
    Allowance& allowance_;
    Turns& turns_;
    const int warps_per_cta_;
    const int entry_registers_;  ///< a thread
    GlobalMemory global_;
    machine::Waits waits_;
    Report report_;
    MessageLog messages_;
    bool trapped_ = false;  ///< an assertion has failed, or a trap was executed: nothing continues
    GlobalShadow global_shadow_;
    Clocks clocks_;
    Handoffs handoffs_;
    bool pollers_ = false;  ///< whether warps may be asleep until memory changes
    bool wrote_ = false;    ///< to global memory, which other clusters do not know yet
    std::vector<Warp> warps_;
    std::vector<Cta> ctas_;           ///< by rank
    std::vector<std::byte> outside_;  ///< the bytes that a read outside every buffer returns
    std::uint64_t index_ = 0;         ///< of the cluster, in the grid of clusters
    Dim3 position_;                   ///< of the cluster in the grid of clusters
    std::uint64_t random_ = 0;        ///< state of the scheduler's draws
    std::vector<int> ready_;
    int fruitless_ = 0;  ///< rounds in which sleeping warps woke up and nothing happened

    std::vector<Copy> copies_;  ///< under way
    std::vector<BulkGroups> groups_;
    std::vector<std::uint32_t> groups_of_thread_;  ///< index in groups_, counted from 1; 0: none
    std::vector<ThreadCopies> thread_copies_;      ///< by warp
    std::vector<ThreadCopy*> flying_;              ///< those of them that have not landed
    int copy_actor_ = -1;                          ///< of thread copies for which no thread has waited
    std::uint32_t copy_clock_ = 0;                 ///< of the last of them

    machine::ClusterBarrier cluster_barrier_;
    int meeting_ = -1,
        met_ = -1;  ///< its places in Clocks: of the arrivals in the current phase, and of those before

    // The current step.
    int current_ = 0;  ///< warp
    Cta* cta_ = nullptr;
    isa::Mask active_ = 0;
    std::uint32_t pc_ = 0;
    std::uint32_t serial_ = 0;  ///< of the current wgmma
    std::uint64_t steps_ = 0, mmas_ = 0;
    std::uint64_t accounted_ = 0;  ///< steps that the allowance has counted
};

}  // namespace wgrun::sim
