// Loops, branches and jumps as they are written one after the other: what basic blocks become of them.
#pragma once

#include <optional>

#include "wgrun/program.hpp"

namespace wgrun {

/// The blocks that are written so far; steps go to the last one. Errors are ArgumentErrors.
class Constructs {
  public:
    /// The constructs are numbered from `first` on.
    explicit Constructs(std::uint32_t first = 0) : constructs_(first) { blocks_.emplace_back(); }

    BasicBlock& here() { return blocks_.back(); }
    BlockId current() const { return static_cast<BlockId>(blocks_.size() - 1); }
    const std::vector<BasicBlock>& blocks() const { return blocks_; }
    /// Loops and branches around the place at hand.
    std::size_t depth() const { return open_.size(); }
    /// Where the innermost of them is.
    std::optional<Where> open() const;

    /// Another block, to which only the ends lead that the caller writes.
    void add(Label label = {}) { blocks_.emplace_back().label = std::move(label); }

    void begin_loop(Where where);
    /// The head of a loop is what is open.
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

    /// The blocks, of which the last one ends the kernel. Nothing is left open but labels: throws for those.
    std::vector<BasicBlock> take(Where end);

  private:
    /// A way out of a block to one that is not there yet.
    struct Arm {
        BlockId block;
        int arm;
    };
    struct Open {
        enum class Kind : std::uint8_t { loop_head, loop_body, loop_next, then_body, else_body };
        Kind kind;
        std::uint32_t number;
        Where where;
        BlockId first = no_block;     ///< of a loop; of a branch the one that decides
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
