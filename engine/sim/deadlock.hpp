// What happens when no warp of a simulation can continue: which warps wait, where, and for what.
#pragma once

#include "rules/wait_words.hpp"
#include "sim/barriers.hpp"

namespace wgrun::sim {

class Deadlock {
  public:
    Deadlock(Scene& scene, const Barriers& barriers) : scene_(scene), barriers_(barriers) {}

    /// Lets warps look again that wait for an mbarrier or for memory. Returns whether there are any, and
    /// there is still hope.
    bool wake_sleepers();
    void report();
    /// Returns a text such as "at barrier 1: 64 of 128 threads have arrived".
    rules::Wait waits_for(const Warp& warp, Cta& cta) const;

  private:
    static const Mbarrier* waited_for(const Warp& warp, Cta& cta);

    Scene& scene_;
    const Barriers& barriers_;
};

}  // namespace wgrun::sim
