// What steps do to global memory, and the registers that decide where and whether they do.
#pragma once

#include <optional>
#include <vector>

#include "check/outline.hpp"
#include "isa/effects.hpp"

namespace wgrun::check::symbolic {

/// What a step does to global memory.
class Touches final : public isa::Effects {
  public:
    explicit Touches(const Step& step) { isa::visit_effects(step, *this); }
    bool any() const { return access || copy || copies || anything; }

    std::optional<isa::MemoryAccess> access{};
    std::optional<isa::BulkAccess> copy{};
    bool copies = false;    ///< cp.async
    bool anything = false;  ///< it may write anywhere

  private:
    void memory(const isa::MemoryAccess& of) override {
        if (of.space == isa::Space::global || of.space == isa::Space::generic) access = of;
    }
    void copy_async(const isa::AsyncCopy&) override { copies = true; }
    void change_map() override { anything = true; }
    void unknown() override { anything = true; }
    void bulk_copy(const isa::BulkAccess& of) override {
        if (of.global != nullptr && of.direction != isa::BulkCopy::Direction::prefetch) copy = of;
    }
};

/// The registers that addresses and branches are computed from.
struct Indexed {
    std::vector<Reg> registers;
    std::vector<int> of;  ///< places in the list, by numbers of registers; -1: it is not one of them
};
Indexed needed(const Outline& outline);

}  // namespace wgrun::check::symbolic
