#include "program/stamped.hpp"

#include <utility>

#include "isa/order.hpp"
#include "program/polls.hpp"
#include "program/rewriting.hpp"

namespace wgrun {

using isa::Type;
using isa::stamp::Moment;

/// Copies a program, stamps added.
class Stamping final : Rewriting {
  public:
    explicit Stamping(const Program& program) : Rewriting(program) {}

    StampedProgram run() {
        const Where where = from().where();
        block_ = loaded(parameter("profile", Type::u64, Dtype::u32), body());
        at_ = reg(Type::u32);
        limit_ = reg(Type::u32);
        const Reg shared = from().shared().empty()
                               ? computed("mov", Type::u32, {Operand::immediate(0)}, where, body())
                               : shared_base(where, body());
        body().emplace_back(
            made(isa::stamp::open(), {},
                 {Operand::of(at_), Operand::of(limit_), Operand::of(block_), Operand::of(shared)}, where));
        copy(from().body(), body());
        body().emplace_back(made(isa::stamp::close(), {},
                                 {Operand::of(at_), Operand::of(limit_), Operand::of(block_)}, where));
        out_.program = take();
        return std::move(out_);
    }

  private:
    using Rewriting::copy;

    Reg clock(Where where, Block& to) {
        const Reg out = reg(Type::u32);
        to.emplace_back(made(isa::stamp::clock(), {}, {Operand::of(out)}, where));
        return out;
    }

    void event(StampSite site, const Operand& value, Reg begin, Block& to) {
        const Where where = site.step->where;
        out_.sites.push_back(std::move(site));
        to.emplace_back(made(
            isa::stamp::event(), {},
            {Operand::of(at_), Operand::of(limit_), Operand::of(block_),
             Operand::immediate(static_cast<std::int64_t>(out_.sites.size())), value, Operand::of(begin)},
            where));
    }

    Operand mbarrier_of(const Step& wait, Block& to) {
        const Reg address = address_in(wait.operand("a"), Type::u32, wait.where, to);
        const Operand& parity = wait.operand("parity");
        if (parity.kind == Operand::Kind::imm && parity.imm == 0) return Operand::of(address);
        return Operand::of(computed("mad", Type::u32,
                                    {parity, Operand::immediate(stamped_parity), Operand::of(address)},
                                    wait.where, to));
    }

    Operand value_of(Moment moment, const Step& step, Block& to) {
        switch (moment) {
            case Moment::mbarrier: return mbarrier_of(step, to);
            case Moment::copy:
                return Operand::of(address_in(step.operand("mbarrier"), Type::u32, step.where, to));
            case Moment::barrier: return step.operand("barrier");
            default: return Operand::immediate(0);
        }
    }

    void copy(const Step& step, Block& to) override {
        const Moment moment = isa::stamp::moment_of(step);
        const bool noted = moment != Moment::nothing && moment != Moment::product &&
                           moment != Moment::commit && moment != Moment::memory;
        if (!noted || polled_) return Rewriting::copy(step, to);
        const Reg begin = clock(step.where, to);
        to.emplace_back(step);
        Block& there = step.guard ? where_it_holds(step.guard, step.guard_negated, step.where, to) : to;
        const Operand value = value_of(moment, step, there);
        event({moment, &step, {}}, value, begin, there);
    }

    void copy(const Loop& loop, Block& to) override {
        if (polled_ || !only_looks(loop)) return Rewriting::copy(loop, to);
        const Step* poll = nullptr;
        const auto look = [&](const Step& step) {
            if (poll == nullptr && polls(step)) poll = &step;
        };
        for_each_step(loop.head, look);
        for_each_step(loop.body, look);
        const Reg begin = clock(loop.where, to);
        polled_ = true;
        Rewriting::copy(loop, to);
        polled_ = false;
        const Moment moment = isa::stamp::moment_of(*poll);
        const Operand value = value_of(moment, *poll, to);
        event({moment, poll, {}}, value, begin, to);
    }

    // Products of one block up to their commit are one stamp.
    void copy(const Block& block, Block& to) override {
        StampSite group{Moment::product, nullptr, {}};
        Reg begin;
        const auto finish = [&] {
            if (group.step != nullptr)
                event(std::exchange(group, {Moment::product, nullptr, {}}), Operand::immediate(0), begin, to);
        };
        for (const Node& node : block) {
            const auto* step = std::get_if<Step>(&node);
            const Moment moment = step == nullptr ? Moment::nothing : isa::stamp::moment_of(*step);
            if (moment == Moment::product) {
                if (group.step == nullptr) begin = clock(step->where, to);
                if (group.step == nullptr) group.step = step;
                group.products.push_back(step);
            }
            if (step != nullptr)
                copy(*step, to);
            else
                Rewriting::copy(node, to);
            if (moment == Moment::commit) finish();
        }
        finish();
    }

    StampedProgram out_;
    Reg block_, at_, limit_;
    bool polled_ = false;  ///< inside a loop that has a stamp as a whole
};

StampedProgram stamped(const Program& program) { return Stamping(program).run(); }

}  // namespace wgrun
