#include "program/profiled.hpp"

#include <utility>

#include "isa/awaited.hpp"
#include "isa/order.hpp"
#include "program/polls.hpp"
#include "program/rewriting.hpp"

namespace wgrun {

using isa::Type;
using isa::timestamp::Moment;

/// Copies a program and adds timestamps.
class Profiling final : Rewriting {
  public:
    explicit Profiling(const Program& program) : Rewriting(program), loops_(loops_of(program)) {}

    ProfiledProgram run() {
        const Where where = from().where();
        block_ = loaded(parameter("profile", Type::u64, Dtype::u32));
        at_ = reg(Type::u32);
        limit_ = reg(Type::u32);
        const Reg shared = from().shared().empty()
                               ? computed("mov", Type::u32, {Operand::immediate(0)}, where)
                               : shared_base(where);
        add(made(isa::timestamp::open(), {},
                 {Operand::of(at_), Operand::of(limit_), Operand::of(block_), Operand::of(shared)}, where));
        copy_blocks();
        add(made(isa::timestamp::close(), {}, {Operand::of(at_), Operand::of(limit_), Operand::of(block_)},
                 where));
        out_.program = take();
        return std::move(out_);
    }

  private:
    Reg clock(Where where) {
        const Reg out = reg(Type::u32);
        add(made(isa::timestamp::clock(), {}, {Operand::of(out)}, where));
        return out;
    }

    void event(TimestampSite site, const Operand& value, Reg begin) {
        const Where where = site.step->where;
        out_.sites.push_back(std::move(site));
        add(made(
            isa::timestamp::event(), {},
            {Operand::of(at_), Operand::of(limit_), Operand::of(block_),
             Operand::immediate(static_cast<std::int64_t>(out_.sites.size())), value, Operand::of(begin)},
            where));
    }

    Operand mbarrier_of(const Step& wait) {
        const isa::Awaited awaited = isa::awaited(wait);
        const Reg address = address_in(*awaited.address, Type::u32, wait.where);
        const Operand& parity = *awaited.parity;
        if (parity.kind == Operand::Kind::imm && parity.imm == 0) return Operand::of(address);
        return Operand::of(computed("mad", Type::u32,
                                    {parity, Operand::immediate(timestamp_parity), Operand::of(address)},
                                    wait.where));
    }

    Operand value_of(Moment moment, const Step& step) {
        switch (moment) {
            case Moment::mbarrier: return mbarrier_of(step);
            case Moment::copy:
                return Operand::of(address_in(*isa::counting_mbarrier(step), Type::u32, step.where));
            case Moment::barrier: return *isa::awaited(step).barrier;
            default: return Operand::immediate(0);
        }
    }

    void copy(const Step& step) override {
        const Moment moment = isa::timestamp::moment_of(step);
        const bool noted = moment != Moment::nothing && moment != Moment::product &&
                           moment != Moment::commit && moment != Moment::memory;
        if (moment == Moment::product) {
            if (group_.step == nullptr) {
                begin_ = clock(step.where);
                group_.step = &step;
            }
            group_.products.push_back(&step);
        }
        if (!noted || polled_ != nullptr) {
            add(step);
            if (moment == Moment::commit) finish_group();
            return;
        }
        const Reg begin = clock(step.where);
        add(step);
        if (step.guard) begin_if(step.guard, step.guard_negated, step.where);
        event({moment, &step, {}}, value_of(moment, step), begin);
        if (step.guard) end_if();
    }

    /// The products of one block up to their commit share one timestamp.
    void finish_group() {
        if (group_.step == nullptr) return;
        event(std::exchange(group_, {Moment::product, nullptr, {}}), Operand::immediate(0), begin_);
    }

    // A loop that only polls has one timestamp, from its beginning to its end.
    void begins(BlockId id) override {
        if (polled_ == nullptr || id <= polled_->last) return;
        const Step* poll = nullptr;
        for (BlockId inside = polled_->first; inside <= polled_->last && poll == nullptr; ++inside) {
            const std::vector<Step>& steps = from().blocks()[inside].steps;
            const auto found = std::ranges::find_if(steps, polls);
            if (found != steps.end()) poll = &*found;
        }
        polled_ = nullptr;
        const Moment moment = isa::timestamp::moment_of(*poll);
        event({moment, poll, {}}, value_of(moment, *poll), since_);
    }
    void ends(BlockId id) override {
        finish_group();
        for (const TextLoop& loop : loops_) {
            if (polled_ != nullptr || !loop.construct || loop.first != id + 1) continue;
            if (!only_looks(from(), loop)) continue;
            since_ = clock(from().blocks()[loop.first].label.where);
            polled_ = &loop;
        }
    }

    const std::vector<TextLoop> loops_;
    ProfiledProgram out_;
    Reg block_, at_, limit_;
    const TextLoop* polled_ = nullptr;  ///< the enclosing loop that has one timestamp as a whole
    Reg since_;                         ///< when that loop began
    TimestampSite group_{Moment::product, nullptr, {}};
    Reg begin_;  ///< when the group began
};

ProfiledProgram profiled(const Program& program) { return Profiling(program).run(); }

}  // namespace wgrun
