#include "sim/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "isa/warp.hpp"

namespace wgrun::sim {
namespace {

class Flattener {
  public:
    explicit Flattener(std::vector<Op>& ops) : ops_(ops) {}

    void block(const Block& nodes) {
        for (const Node& node : nodes) {
            if (const auto* step = std::get_if<Step>(&node))
                this->step(*step);
            else if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node))
                this->loop(**loop);
            else
                branch(*std::get<std::unique_ptr<Branch>>(node));
        }
    }

    std::size_t add(Op::Kind kind, Where where) {
        if (ops_.size() >= max_ops)
            throw ArgumentError(fmt::format("the program has more than {} steps", max_ops),
                                "use k:loop instead of unrolling");
        ops_.push_back({.kind = kind, .where = where});
        // Without a line every operation is a place of its own.
        ops_.back().place = here() - 1;
        if (where)
            ops_.back().place =
                places_.try_emplace({where.file.data(), where.line}, here() - 1).first->second;
        return ops_.size() - 1;
    }

  private:
    std::uint32_t here() const { return static_cast<std::uint32_t>(ops_.size()); }

    void step(const Step& step) {
        Op& op = ops_[add(step.op->collective ? Op::Kind::collective : Op::Kind::step, step.where)];
        op.negated = step.guard_negated;
        op.aligned = step.op->taken_by != isa::Participants::thread;
        if (step.guard) op.reg = step.guard.id;
        op.step = &step;
        op.order = isa::order_of(step);
    }

    void loop(const Loop& loop) {
        add(Op::Kind::enter, loop.where);
        const std::uint32_t head = here();
        block(loop.head);
        const std::size_t test = add(Op::Kind::test, loop.where);
        ops_[test].reg = loop.condition.id;
        block(loop.body);
        ops_[add(Op::Kind::repeat, loop.where)].target = head;
        ops_[test].target = here();
        add(Op::Kind::join, loop.where);
    }

    void branch(const Branch& branch) {
        const std::size_t fork = add(Op::Kind::branch, branch.where);
        ops_[fork].reg = branch.condition.id;
        ops_[fork].negated = branch.negated;
        block(branch.then_body);
        ops_[fork].target = here();
        if (!branch.else_body.empty()) {
            const std::size_t otherwise = add(Op::Kind::otherwise, branch.where);
            block(branch.else_body);
            ops_[otherwise].target = here();
        }
        add(Op::Kind::join, branch.where);
    }

    std::vector<Op>& ops_;
    std::map<std::pair<const char*, int>, std::uint32_t> places_;  // file names are interned
};

}  // namespace

Code flatten(const Program& program) {
    Code code;
    Flattener flattener(code.ops);
    flattener.block(program.body());
    flattener.add(Op::Kind::end, program.where());
    code.hands_over = std::ranges::any_of(code.ops, [](const Op& op) {
        return op.order.strong && op.order.scope >= isa::Scope::gpu && !op.step->op->atomic &&
               op.step->form.get(isa::Field::space, -1) == static_cast<int>(isa::Space::global);
    });
    for (const RegisterInfo& info : program.registers()) {
        if (code.register_bytes > UINT32_MAX - 256)
            throw ArgumentError(fmt::format("the program has {} registers, more than the simulator can hold",
                                            program.registers().size()));
        code.register_offset.push_back(static_cast<std::uint32_t>(code.register_bytes));
        code.register_bytes += isa::bits(info.type) > 32 ? isa::lanes * 8 : isa::lanes * 4;
    }
    return code;
}

}  // namespace wgrun::sim
