// The steps of a program that write its registers.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "check/outline.hpp"
#include "isa/registers.hpp"

namespace wgrun::check {

struct Writer {
    BlockId block;
    const Step* step;
    std::uint32_t number;  ///< of the step among all
};

/// By register, in the graph's order.
class Writers {
  public:
    explicit Writers(const Outline& outline) : first_(outline.program().registers().size() + 1) {
        const auto for_each = [&](auto visit) {
            steps_ = 0;
            for (const BlockId id : outline.graph().order())
                for (const Step& step : outline.blocks()[id].steps) {
                    isa::for_each_written(step, [&](isa::Reg reg) {
                        visit(reg.id, Writer{id, &step, steps_});
                    });
                    ++steps_;
                }
        };
        for_each([&](std::uint32_t reg, const Writer&) { ++first_[reg + 1]; });
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        all_.resize(first_.back());
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        for_each([&](std::uint32_t reg, const Writer& writer) { all_[next[reg]++] = writer; });
    }

    std::span<const Writer> of(isa::Reg reg) const {
        return std::span(all_).subspan(first_[reg.id], first_[reg.id + 1] - first_[reg.id]);
    }
    std::size_t registers() const { return first_.size() - 1; }
    std::size_t steps() const { return steps_; }

  private:
    std::vector<std::uint32_t> first_;  ///< by register, in `all_`
    std::vector<Writer> all_;
    std::uint32_t steps_ = 0;
};

}  // namespace wgrun::check
