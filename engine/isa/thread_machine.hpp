// A machine that runs threads alone: it refuses what is asynchronous, or goes beyond a CTA.
#pragma once

#include "isa/machine.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

class ThreadMachine : public Machine {
  public:
    void barrier_arrive(std::uint32_t, std::uint32_t) override { refuse(); }
    void mbarrier_init(const Addresses&, const Counts&) override { refuse(); }
    void mbarrier_inval(const Addresses&) override { refuse(); }
    void barrier_vote(std::uint32_t, std::uint32_t, Vote, Mask, Reg) override { refuse(); }
    Tokens mbarrier_arrive(const Addresses&, const Counts&, const Counts&, Arrival) override {
        return refuse(), Tokens{};
    }
    void mbarrier_complete(const Addresses&, const Counts&) override { refuse(); }
    std::optional<Mask> mbarrier_wait(const Addresses&, const Counts&, const Tokens*) override {
        return refuse(), Mask{0};
    }
    void mbarrier_fence_init() override { refuse(); }
    void bulk_copy(const BulkCopy&) override { refuse(); }
    void bulk_commit() override { refuse(); }
    void bulk_wait(int, bool) override { refuse(); }
    void copy_async(const Addresses&, const Addresses&, int, const Counts&) override { refuse(); }
    void commit_copies() override { refuse(); }
    void wait_copies(std::optional<int>) override { refuse(); }
    void arrive_copies(const Addresses&, bool) override { refuse(); }
    void store_async(const AsyncStore&, const Addresses&, const Addresses&, const void*, int) override {
        refuse();
    }
    std::uint32_t map_shared(std::uint32_t, std::uint32_t) override { return refuse(), 0; }
    void cluster_arrive() override { refuse(); }
    void cluster_wait() override { refuse(); }
    void set_registers(int, bool) override { refuse(); }

  private:
    /// Is called for what the machine cannot do.
    virtual void refuse() = 0;
};

}  // namespace wgrun::isa
