// How many registers a thread needs for what wgmma accesses.
#pragma once

#include <unordered_map>
#include <vector>

#include "check/plan.hpp"

namespace wgrun::check {

/// The accumulators and fragments of A that hold something at each wgmma, counted in 32-bit registers: those
/// that it accesses, and those that are read later. A thread needs more, for addresses and counters.
class Pressure {
  public:
    Pressure(const Program& program, const Plan& plan);

    /// Of a wgmma step; 0 for others.
    int at(const Step* step) const {
        const auto found = needs_.find(step);
        return found != needs_.end() ? found->second : 0;
    }

  private:
    using Set = std::vector<unsigned char>;  ///< by slot: 0 or 1
    void collect(const Block& block, Set& written) const;
    void forward(const Block& block);
    void backward(const Block& block);
    void backward(const Step& step);
    template <class Visit>
    void for_each_slot(const Operand& operand, Visit visit) const;

    const Plan& plan_;
    Set written_;                                  ///< on some way to here
    Set live_;                                     ///< read further on
    std::unordered_map<const Step*, Set> before_;  ///< of wgmma steps: what was written
    std::unordered_map<const Step*, int> needs_;
};

}  // namespace wgrun::check
