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
    /// Reports a step that waits for memory in vain where CTAs have no room to begin. Returns false: there is
    /// room for all.
    bool lacks_room(std::uint32_t pc);
    /// Returns a text such as "at barrier 1: 64 of 128 threads have arrived".
    rules::Wait waits_for(const Warp& warp, Cta& cta) const;

  private:
    static const Mbarrier* waited_for(const Warp& warp, Cta& cta);
    /// Are the warps as they were some rounds ago, so that they will be again?
    bool come_back();

    /// What a warp does next follows from this, and from memory.
    struct Standing {
        std::uint32_t pc;
        isa::Mask running;
        std::vector<flow::Divergence::Group> parted;
        std::vector<std::byte> registers;
        bool operator==(const Standing&) const = default;
    };
    std::vector<Standing> before_;

    Scene& scene_;
    const Barriers& barriers_;
};

}  // namespace wgrun::sim
