// From the constructs that a script wrote to basic blocks.
#include <utility>

#include "flow/graph.hpp"

namespace wgrun::flow {
namespace {

class Maker {
  public:
    std::vector<BasicBlock> run(const Program& program) {
        open();
        block(program.body());
        here().where = program.where();
        return std::move(blocks_);
    }

  private:
    using End = BasicBlock::End;

    /// A loop around the place at hand: arms that go to its end, and to the end of an iteration, which are
    /// not made yet.
    struct Around {
        std::vector<Dependence> after, next;
    };

    BasicBlock& here() { return blocks_.back(); }
    BlockId current() const { return static_cast<BlockId>(blocks_.size() - 1); }
    BlockId next() const { return static_cast<BlockId>(blocks_.size()); }
    BlockId open() {
        blocks_.emplace_back();
        return current();
    }
    void jump(BlockId from, BlockId to, Where where) {
        blocks_[from].end = End::jump;
        blocks_[from].taken = to;
        blocks_[from].where = where;
    }
    /// The block at hand ends with a branch to the next one, and elsewhere.
    void fork(Reg condition, bool negated, Where where) {
        BasicBlock& block = here();
        block.end = End::branch;
        block.condition = condition;
        block.negated = negated;
        block.where = where;
        block.taken = next();
    }

    void block(const Block& nodes) {
        for (const Node& node : nodes) {
            if (const auto* step = std::get_if<Step>(&node))
                here().steps.push_back(step);
            else if (const auto* inner = std::get_if<std::unique_ptr<Loop>>(&node))
                loop(**inner);
            else if (const auto* leaving = std::get_if<Leave>(&node))
                leave(*leaving);
            else
                branch(*std::get<std::unique_ptr<Branch>>(node));
        }
    }

    void loop(const Loop& loop) {
        jump(current(), next(), loop.where);
        loops_.emplace_back();
        const BlockId head = open();
        block(loop.head);
        fork(loop.condition, false, loop.where);
        loops_.back().after.push_back({current(), 1});
        open();
        block(loop.body);
        if (loop.continues) {
            jump(current(), next(), loop.where);
            open();
            arrive(loops_.back().next);
        }
        block(loop.next);
        jump(current(), head, loop.where);
        open();
        arrive(loops_.back().after);
        loops_.pop_back();
    }

    void branch(const Branch& branch) {
        const BlockId decides = current();
        fork(branch.condition, branch.negated, branch.where);
        open();
        block(branch.then_body);
        const BlockId then_end = current();
        blocks_[decides].otherwise = next();
        if (!branch.else_body.empty()) {
            open();
            block(branch.else_body);
            jump(current(), next(), branch.where);
        }
        jump(then_end, next(), branch.where);
        open();
    }

    void leave(const Leave& leave) {
        here().where = leave.where;
        if (leave.kind != Leave::Kind::kernel) {
            here().end = End::jump;
            Around& loop = loops_.back();
            (leave.kind == Leave::Kind::loop ? loop.after : loop.next).push_back({current(), 0});
        }
        open();
    }

    /// The block at hand is where these arms go.
    void arrive(const std::vector<Dependence>& arms) {
        for (const Dependence& from : arms)
            (from.arm == 0 ? blocks_[from.block].taken : blocks_[from.block].otherwise) = current();
    }

    std::vector<BasicBlock> blocks_;
    std::vector<Around> loops_;
};

}  // namespace

std::vector<BasicBlock> Graph::basic_blocks(const Program& program) { return Maker().run(program); }

}  // namespace wgrun::flow
