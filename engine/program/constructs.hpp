// Turns loops, branches and jumps, in the order in which they are written, into basic blocks.
#pragma once

#include <optional>

#include "wgrun/program.hpp"

namespace wgrun {

/// The blocks written so far; steps go to the last one. Errors are ArgumentErrors.
class Constructs {
  public:
    /// Constructs are numbered from `first` on.
    explicit Constructs(std::uint32_t first = 0) : constructs_(first) { blocks_.emplace_back(); }

    BasicBlock& here() { return blocks_.back(); }
    BlockId current() const { return static_cast<BlockId>(blocks_.size() - 1); }
    const std::vector<BasicBlock>& blocks() const { return blocks_; }
    /// Returns the number of open loops and branches.
    std::size_t depth() const { return open_.size(); }
    /// Returns where the innermost of them begins.
    std::optional<Where> open() const;

    /// Adds a block, to which only those ends lead that the caller writes.
    void add(Label label = {}) { blocks_.emplace_back().label = std::move(label); }

    void begin_loop(Where where);
    /// Throws unless the innermost open construct is the head of a loop.
    void check_condition() const;
    void loop_condition(Reg condition);
    void loop_next();
    void end_loop();
    void begin_if(Reg condition, bool negated, Where where);
    void begin_else();
    void end_if();
    void leave(Leave what, Where where);

    int label(std::string name);
    void place(int label, Where where);
    void jump(int label, Reg condition, bool negated, Where where);

    /// Returns the blocks, the last of which ends the kernel. No construct may be open. Throws if a label
    /// that is jumped to has no place.
    std::vector<BasicBlock> take(Where end);

  private:
    /// An edge from a block to one that does not exist yet.
    struct Arm {
        BlockId block;
        int arm;
    };
    struct Open {
        enum class Kind : std::uint8_t { loop_head, loop_body, loop_next, then_body, else_body };
        Kind kind;
        std::uint32_t number;
        Where where;
        BlockId first = no_block;     ///< of a loop; of a branch, the block that decides
        BlockId then_end = no_block;  ///< of a branch
        std::vector<Arm> after{}, next{};
        bool loop() const { return kind < Kind::then_body; }
    };
    struct Place {
        std::string name;
        bool given = false;
        std::vector<Arm> arms;
        Where where{};  ///< of the first jump
    };

    void goes(BlockId from, BlockId to, Where where);
    void forks(BlockId from, Reg condition, bool negated, Where where);
    void arrive(const std::vector<Arm>& arms);
    void end_body(Open& loop);
    Place& place_of(int label);

    std::vector<BasicBlock> blocks_;
    std::vector<Open> open_;
    std::vector<Place> places_;
    std::uint32_t constructs_;
};

}  // namespace wgrun
