// A machine that runs threads alone: what is asynchronous, or goes beyond a CTA, is refused.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa {

class ThreadMachine : public Machine {
  public:
    void barrier_arrive(std::uint32_t, std::uint32_t) override { refuse(); }
    void mbarrier_init(const Addresses&, const Counts&) override { refuse(); }
    void mbarrier_inval(const Addresses&) override { refuse(); }
    void mbarrier_arrive(const Addresses&, const Counts&, const Counts&) override { refuse(); }
    std::optional<Mask> mbarrier_wait(const Addresses&, const Counts&) override { return refuse(), Mask{0}; }
    void mbarrier_fence_init() override { refuse(); }
    void bulk_copy(const BulkCopy&) override { refuse(); }
    void bulk_commit() override { refuse(); }
    void bulk_wait(int, bool) override { refuse(); }
    std::uint32_t map_shared(std::uint32_t, std::uint32_t) override { return refuse(), 0; }
    void cluster_arrive() override { refuse(); }
    void cluster_wait() override { refuse(); }
    void set_registers(int, bool) override { refuse(); }

  private:
    /// Called instead of what cannot be done.
    virtual void refuse() = 0;
};

}  // namespace wgrun::isa
