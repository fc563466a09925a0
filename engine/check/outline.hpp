// What several parts of the check ask of a program, found once: its graph, and the registers of its steps in
// one list. The operands themselves are all over memory.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "check/fact.hpp"
#include "flow/graph.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Copies share it. Steps have numbers, counted through all blocks.
class Outline {
  public:
    /// A register at an operand.
    struct Used {
        Reg reg;
        isa::Access access;
        bool reads() const { return access != isa::Access::out; }
        bool writes() const { return access != isa::Access::in; }
    };

    /// Implicit: it is nothing but the program.
    Outline(const Program& program);

    const Program& program() const { return data_->program; }
    const flow::Graph& graph() const { return data_->graph; }
    const std::vector<BasicBlock>& blocks() const { return data_->program.blocks(); }
    std::size_t steps() const { return data_->steps.size(); }
    std::size_t first_step(BlockId block) const { return data_->first_steps[block]; }
    /// Returns the number of a step of the block.
    std::size_t number(BlockId block, const Step& step) const {
        return first_step(block) + static_cast<std::size_t>(&step - blocks()[block].steps.data());
    }
    /// Returns the registers of the step's operands, in their order, without the guard.
    std::span<const Used> used(std::size_t number) const {
        const Registers& step = data_->steps[number];
        return {data_->used.data() + step.first, step.count};
    }
    /// Returns the parameters that the step reads.
    Roots params(std::size_t number) const { return data_->steps[number].params; }

  private:
    struct Registers {
        std::uint32_t first, count;
        Roots params;
    };
    struct Data {
        explicit Data(const Program& all_of_it) : program(all_of_it), graph(all_of_it) {}
        const Program& program;
        flow::Graph graph;
        std::vector<std::size_t> first_steps{};  ///< by block
        std::vector<Registers> steps{};          ///< by number
        std::vector<Used> used{};
    };
    std::shared_ptr<const Data> data_;
};

}  // namespace wgrun::check
