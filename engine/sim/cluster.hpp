// A running cluster: the scheduler of its warps, and the machine that the `run` functions of the records use.
// A grid without clusters is a grid of clusters of one CTA.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "isa/machine.hpp"
#include "sim/allowance.hpp"
#include "sim/async_copies.hpp"
#include "sim/bulk_engine.hpp"
#include "sim/deadlock.hpp"
#include "sim/library_calls.hpp"
#include "sim/taint.hpp"
#include "sim/wgmma_unit.hpp"

namespace wgrun::sim {

/// One object simulates one cluster of a grid after another. It chooses which warp is next, and passes what
/// steps do to the parts of the machine.
class Cluster final : public isa::Machine {
  public:
    Cluster(const Program& program, const Code& code, const SimulatedLaunch& launch, Turns& turns,
            Exchange& exchange, Allowance& allowance);

    /// Begins cluster number `index` of the grid.
    void reset(std::uint64_t index);
    enum class Pause : std::uint8_t {
        ended,        ///< or deadlocked, or `launch.stop` is set
        waits,        ///< it can continue only after another cluster has changed memory
        stands_back,  ///< it could continue, but other clusters run first
    };
    /// Runs the cluster until it ends or pauses. alone: there is no other cluster that could run.
    Pause run(bool alone, Crowd crowd = {});

    Report& report() { return scene_.report; }
    /// Returns what its threads have printed in the last run.
    MessageLog take_messages() { return std::move(messages_); }
    /// Returns what the last run did to global memory.
    GlobalTrace global_trace() const { return accesses_.global_trace(); }
    std::uint64_t steps() const { return steps_; }  ///< of the last run
    std::uint64_t mmas() const { return mmas_; }
    /// Where something made up would have decided, or a limit was reached, so that the last run ended;
    /// nowhere if it did not.
    EndOfRunAhead ended_by_taint() const { return taint_by_; }
    /// Adds how long the boxes are that no tensor map describes, if the run has come to its end.
    void measure(BoxSizes& sizes) const {
        if (std::ranges::all_of(scene_.warps,
                                [](const Warp& warp) { return warp.state == Warp::State::ended; }))
            bulk_.measure(sizes);
    }

    isa::Mask active() const override { return scene_.active; }
    isa::Mask existing() const override { return scene_.warps[static_cast<std::size_t>(scene_.current)].all; }
    const void* read(isa::Reg reg) override { return wgmma_.read(reg); }
    const void* read_some(isa::Reg reg, isa::Mask& known) override {
        known = ~isa::Mask{0};
        return wgmma_.read(reg);
    }
    void* write(isa::Reg reg) override { return wgmma_.write(reg); }
    std::uint64_t special(isa::Special which, int lane) override;
    std::uint64_t param(int index) override { return scene_.parameters().value(index); }
    std::uint64_t param_address(int index) override { return scene_.parameters().address_of(index); }
    std::uint32_t shared_address(int buffer) override { return scene_.cta->shared.address_of(buffer); }
    void load(isa::Space space, const isa::Addresses& address, int bytes, void* data, int stride) override {
        accesses_.load(space, address, bytes, data, stride);
    }
    void store(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
               int stride) override {
        accesses_.store(space, address, bytes, data, stride);
    }
    void update(isa::Space space, const isa::Addresses& address, int bytes,
                const std::function<void(int, std::byte*)>& change) override {
        accesses_.update(space, address, bytes, change);
    }
    void discard(const isa::Addresses& address, int bytes) override { accesses_.discard(address, bytes); }
    void barrier(std::uint32_t id, std::uint32_t threads) override {
        if (come_to({Meeting::wait, id})) barriers_.meet(id, threads, true);
    }
    void barrier_arrive(std::uint32_t id, std::uint32_t threads) override {
        if (come_to({Meeting::arrival, id})) barriers_.meet(id, threads, false);
    }
    void barrier_vote(std::uint32_t id, std::uint32_t threads, isa::Vote vote, isa::Mask votes,
                      isa::Reg to) override;
    void trap() override;
    void divide_by_zero(isa::Mask lanes) override;
    void converge(isa::Mask together) override {
        scene_.clocks.meet(scene_.current, {together, scene_.warp().all});
    }
    void proxy_fence(std::optional<isa::Space> space) override;
    void fence(const isa::MemoryOrder& order) override { accesses_.fence(order); }

    void mbarrier_init(const isa::Addresses& address, const isa::Counts& arrivals) override {
        mbarriers_.init(address, arrivals);
    }
    void mbarrier_inval(const isa::Addresses& address) override { mbarriers_.inval(address); }
    isa::Tokens mbarrier_arrive(const isa::Addresses& address, const isa::Counts& bytes,
                                const isa::Counts& arrivals, isa::Arrival how = {}) override {
        return mbarriers_.arrive(address, bytes, arrivals, how);
    }
    void mbarrier_complete(const isa::Addresses& address, const isa::Counts& bytes) override {
        mbarriers_.deliver(address, bytes);
    }
    std::optional<isa::Mask> mbarrier_wait(const isa::Addresses& address, const isa::Counts& parity,
                                           const isa::Tokens* state) override {
        return mbarriers_.wait(address, parity, state);
    }
    void mbarrier_fence_init() override { mbarriers_.announce(); }

    void bulk_copy(const isa::BulkCopy& copy) override;
    void replace_in_map(isa::Space space, const isa::Addresses& at, isa::MapField field, int dimension,
                        const isa::Counts& value) override {
        maps_.replace(space, at, field, dimension, value);
    }
    void publish_map(const isa::Addresses& to, const isa::Addresses& from) override {
        maps_.publish(to, from);
    }
    void release_maps() override { maps_.release(); }
    void acquire_map(const isa::Addresses& at) override { maps_.acquire(at); }
    void bulk_commit() override { bulk_.bulk_commit(); }
    void bulk_wait(int pending, bool read) override { bulk_.bulk_wait(pending, read); }
    void store_async(const isa::AsyncStore& store, const isa::Addresses& to, const isa::Addresses& mbarrier,
                     const void* data, int stride) override {
        bulk_.store_async(store, to, mbarrier, data, stride);
    }

    void copy_async(const isa::Addresses& to, const isa::Addresses& from, int bytes,
                    const isa::Counts& from_bytes) override {
        copies_.copy_async(to, from, bytes, from_bytes);
    }
    void commit_copies() override { copies_.commit_copies(); }
    void wait_copies(std::optional<int> pending) override { copies_.wait_copies(pending); }
    void arrive_copies(const isa::Addresses& mbarrier, bool increase) override {
        copies_.arrive_copies(mbarrier, increase);
    }

    std::uint32_t map_shared(std::uint32_t address, std::uint32_t rank) override;
    void cluster_arrive() override {
        if (come_to({Meeting::cluster_arrival})) barriers_.cluster_arrive();
    }
    void cluster_wait() override;
    void set_registers(int registers, bool increase) override;

    void launch_dependents() override { scene_.dependents.launch_dependents(); }
    void wait_for_grids() override { scene_.dependents.wait_for_grids(); }

    void order_registers() override { wgmma_.order_registers(); }
    void select(int warp_of_group) override { wgmma_.select(warp_of_group); }
    void begin_mma(const isa::AsyncMma& mma) override { wgmma_.begin(mma); }
    bool describe_matrix(const isa::AsyncMma& mma, char name, std::uint64_t descriptor) override {
        return wgmma_.describe(mma, name, descriptor);
    }
    const std::byte* async_read_shared(std::uint32_t address, int bytes, unsigned warps) override {
        return wgmma_.read_shared(address, bytes, warps);
    }
    const void* async_read(isa::Reg reg, isa::Mask read) override { return wgmma_.read_async(reg, read); }
    isa::Numerics numerics() const override { return scene_.launch.numerics; }
    bool computes_products() const override { return scene_.launch.synthetic == nullptr; }
    void* async_write(isa::Reg reg) override { return wgmma_.write_async(reg); }
    void end_mma() override {}
    void commit_mma() override { wgmma_.commit(); }
    void wait_mma(int pending) override { wgmma_.wait(pending); }

    void say(std::size_t index, isa::Mask who, const std::vector<isa::Reg>& values) override;
    void print(const isa::Addresses& format, const isa::Addresses& values,
               std::array<std::uint32_t, isa::lanes>& count) override {
        library_.print(format, values, count, messages_);
    }
    void fail(const isa::Addresses& message, const isa::Addresses& file,
              const std::array<std::uint32_t, isa::lanes>& line, const isa::Addresses& function) override {
        library_.fail(message, file, line, function);
        trapped_ = true;
    }
    std::uint64_t clock() override { return allowance_.taken() + steps_ - accounted_; }
    std::byte* unshared(std::uint64_t address, std::size_t bytes) override {
        return scene_.global.find(address, static_cast<int>(bytes));
    }

  private:
    friend class View;  // observer.hpp

    /// One of the warps that stand back is ready again. Returns false if there are none.
    bool stand_forward();
    void burst(std::uint32_t steps);
    isa::Mask ends_at_once(const Op& branch, isa::Mask taken, isa::Mask running) const;
    void jump(Warp& warp, const Op& op);
    void step(Warp& warp, const Op& op);
    using Meeting = Warp::Meeting::Kind;
    bool come_to(Warp::Meeting at);
    /// Returns whether the step is to be executed, in a launch with synthetic arguments.
    bool certain(Warp& warp, const Op& op);
    void aligned(Warp& warp, const Op& op);
    /// Returns what the current warp's warpgroup executes together; null: it is not a whole one.
    machine::Together* warpgroup();
    std::uint32_t spinning(const Warp& warp) const;
    void collective(Warp& warp, const Op& op, isa::Mask active);
    void execute(const Op& op);
    void read_the_rest(const Op& op);
    void take_results_for_written(const Op& op);
    void end(Warp& warp);
    void leave(Cta& cta);
    isa::Mask condition(const Op& op);

    Scene scene_;
    Mbarriers mbarriers_;
    Barriers barriers_;
    Accesses accesses_;
    Maps maps_;
    BulkEngine bulk_;
    AsyncCopies copies_;
    WgmmaUnit wgmma_;
    LibraryCalls library_;
    Deadlock deadlock_;
    std::optional<Taint> taint_;  ///< of a launch with synthetic arguments
    Allowance& allowance_;
    MessageLog messages_;
    EndOfRunAhead taint_by_;                   ///< see ended_by_doubt()
    std::set<std::uint32_t> divided_by_zero_;  ///< operations that have
    bool trapped_ = false;  ///< an assertion has failed, or a trap was executed: nothing continues
    std::vector<int> ready_;
    std::uint64_t steps_ = 0, mmas_ = 0;
    std::uint64_t accounted_ = 0;  ///< steps that the allowance has counted
};

}  // namespace wgrun::sim
