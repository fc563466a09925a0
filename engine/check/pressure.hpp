// How many registers a thread needs: an estimate of what the assembler will find.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "flow/graph.hpp"

namespace wgrun::check {

/// The values that are alive at each step, in 32-bit registers: those that are read further on, or that a
/// wgmma under way accesses, and that have been written on some way to here. What the assembler can do
/// without counts nothing: predicates have registers of their own, what all threads of the grid compute alike
/// is kept in uniform registers or the constant bank, and what one value gives alone is computed when it is
/// wanted. So it is an estimate from below; docs/ptxas.md compares it with ptxas.
class Pressure {
  public:
    explicit Pressure(const Program& program);

    /// Alive at a wgmma step; 0 for others.
    int at(const Step* step) const {
        const auto found = needs_.find(step);
        return found != needs_.end() ? found->second : 0;
    }
    /// The most that are alive anywhere.
    int most() const { return most_; }

  private:
    using Set = std::vector<std::uint64_t>;  ///< a bit a register
    void weigh();
    void forward(BlockId block);
    void backward();
    void backward(BlockId block);
    void backward(const Step& step);
    /// The outermost loop around the block; null: none.
    const flow::Loop* loop_around(BlockId block) const;
    void begin(Reg reg);  ///< its value is needed before here
    void end(Reg reg);    ///< and no longer, further up
    void end_born(const void* place);
    void meet(const Set& other);
    void become(const Set& other);

    const Program& program_;
    flow::Graph graph_;
    std::vector<std::uint8_t> weights_;  ///< by register: 0, 1 or 2
    std::vector<Reg> sources_;           ///< what else is needed as long as a register is
    Set live_;
    std::vector<Set> alive_;     ///< by block: where it begins
    std::vector<Set> entering_;  ///< by block: on the ways into the outermost loop that begins there
    int count_ = 0;              ///< the registers of live_
    int most_ = 0;
    std::unordered_map<const Step*, int> needs_;
    /// Registers without a value further up than a step, or a loop.
    std::unordered_map<const void*, std::vector<Reg>> born_;
    /// What the wgmma access that a wait is for.
    std::unordered_map<const Step*, std::vector<Reg>> read_until_;

    // Of forward(): what has been written, and what the wgmma of groups under way access; the last group is
    // open.
    std::vector<bool> written_;
    std::vector<std::vector<Reg>> groups_{1};
};

}  // namespace wgrun::check
