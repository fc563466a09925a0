#include "program/guarded.hpp"

#include <algorithm>
#include <utility>

#include "isa/guard.hpp"
#include "isa/order.hpp"
#include "program/polls.hpp"
#include "program/rewriting.hpp"

namespace wgrun {

using isa::Awaits;
using isa::Type;

namespace {

bool has_loops(const Block& block) {
    return std::ranges::any_of(block, [](const Node& node) {
        if (std::holds_alternative<std::unique_ptr<Loop>>(node)) return true;
        const auto* branch = std::get_if<std::unique_ptr<Branch>>(&node);
        return branch != nullptr && (has_loops((*branch)->then_body) || has_loops((*branch)->else_body));
    });
}

}  // namespace

/// Copies a program, guards added.
class Guarding final : Rewriting {
  public:
    Guarding(const Program& program, bool traced) : Rewriting(program), traced_(traced) {}

    GuardedProgram run() {
        const int block = parameter("guard_block", Type::u64);
        const int poll_limit = parameter("guard_poll_ticks", Type::u32);
        const int loop_limit = parameter("guard_loop_ticks", Type::u32);
        block_ = loaded(block, body());
        if (has_loops(from().body())) {  // else nothing looks at the time
            poll_limit_ = loaded(poll_limit, body());
            loop_limit_ = loaded(loop_limit, body());
        }
        copy(from().body(), body());
        out_.program = take();
        return std::move(out_);
    }

  private:
    using Rewriting::copy;

    std::int64_t site(GuardSite site) {
        out_.sites.push_back(std::move(site));
        return static_cast<std::int64_t>(out_.sites.size());
    }

    void note(std::int64_t site, Where where, Block& to) {
        to.emplace_back(made(isa::guard::note(), {}, {Operand::of(block_), Operand::immediate(site)}, where));
    }

    /// What a report says of a poll: which place, what is there, and what is wanted.
    struct Finding {
        Reg place, word, wanted;
    };

    Reg constant(Type type, Where where, Block& to) {
        return computed("mov", type, {Operand::immediate(0)}, where, to);
    }

    Finding look_at_mbarrier(const Step& poll, Block& to) {
        const Reg address = address_in(poll.operand("a"), Type::u32, poll.where, to);
        const Reg base = shared_base(poll.where, to);
        Finding out{reg(Type::u64), reg(Type::u64),
                    computed("mov", Type::u32, {poll.operand("parity")}, poll.where, to)};
        to.emplace_back(
            made(isa::guard::mbarrier_word(), {},
                 {Operand::of(out.word), Operand::of(out.place), Operand::of(address), Operand::of(base)},
                 poll.where));
        return out;
    }

    /// Of a scalar of 32 or 64 bits also the value that it has found; else wanted is 0.
    Finding look_at_memory(const Step& poll, Block& to) {
        const bool global = poll.form.get(isa::Field::space) == static_cast<int>(isa::Space::global);
        const auto wide = [&](Reg narrow) {
            return computed("cvt", Type::u64, {Operand::of(narrow)}, poll.where, to, Type::u32);
        };
        Reg place = address_in(poll.operand("a"), global ? Type::u64 : Type::u32, poll.where, to);
        if (!global) place = wide(place);
        const Operand& found = poll.operands.front();
        const Type type = found.kind == Operand::Kind::reg ? type_of(found.reg) : Type::none;
        const bool whole = type != Type::none && !isa::is_float(type) && isa::bits(type) >= 32;
        const Reg word = !whole                  ? constant(Type::u64, poll.where, to)
                         : isa::bits(type) == 32 ? wide(found.reg)
                                                 : found.reg;
        return {place, word, computed("mov", Type::u32, {Operand::immediate(whole ? 1 : 0)}, poll.where, to)};
    }

    Finding look_at_nothing(Where where, Block& to) {
        return {constant(Type::u64, where, to), constant(Type::u64, where, to),
                constant(Type::u32, where, to)};
    }

    /// if (it has taken longer than `limit` since `since`) { what `look` emits; report; trap }
    template <class Look>
    void check_time(GuardSite where, Reg since, Reg limit, Block& to, Look look) {
        const Reg late = reg(Type::pred);
        to.emplace_back(made(isa::guard::overdue(), {},
                             {Operand::of(late), Operand::of(since), Operand::of(limit)}, where.where));
        Block& inside = where_it_holds(late, false, where.where, to);
        const Where at = where.where;
        const auto kind = static_cast<std::int64_t>(where.kind);
        const Finding found = look(inside);
        inside.emplace_back(
            made(isa::guard::report(), {},
                 {Operand::of(block_), Operand::immediate(site(std::move(where))), Operand::immediate(kind),
                  Operand::of(found.wanted), Operand::of(found.place), Operand::of(found.word),
                  Operand::of(poll_limit_)},
                 at));
    }

    /// Behind a poll: unless it has been let through, or was not executed, the time is checked.
    void check_poll(const Step& poll, Reg since, Block& to) {
        const GuardSite place{GuardSite::Kind::poll, poll.where, isa::awaited_by(poll), poll};
        Block* inside = &to;
        const auto only_if = [&](Reg condition, bool negated) {
            inside = &where_it_holds(condition, negated, poll.where, *inside);
        };
        if (poll.guard) only_if(poll.guard, poll.guard_negated);
        const bool mbarrier = place.awaits == Awaits::mbarrier;
        if (mbarrier) only_if(poll.operand("p").reg, true);
        check_time(place, since, poll_limit_, *inside, [&](Block& cold) {
            return mbarrier ? look_at_mbarrier(poll, cold) : look_at_memory(poll, cold);
        });
    }

    /// What comes after `access` comes after its end: no fence waits for what is asynchronous, but time does.
    void let_end(const Step& access, Block& to) {
        if (isa::asynchronous(access)) {
            to.emplace_back(made(isa::guard::settle(), {}, {}, access.where));
            return;
        }
        const isa::Form everywhere =
            isa::Form().set(isa::Field::sem, *isa::parse_value(isa::Field::sem, "sc.sys"));
        to.emplace_back(made(*isa::find("fence"), everywhere, {}, access.where));
    }

    void copy(const Step& step, Block& to) override {
        const Awaits awaited = isa::awaited_by(step);
        const bool waits = awaited != Awaits::nothing && !polls(step);
        const bool watched = polled_ && polls(step);  // by its guard
        const bool noted =
            traced_ && !waits && !watched && (accesses_memory(step) || isa::asynchronous(step));
        if (waits) note(site({GuardSite::Kind::wait, step.where, awaited, step}), step.where, to);
        if (noted) note(site({GuardSite::Kind::access, step.where, awaited, step}), step.where, to);
        to.emplace_back(step);
        if (noted) let_end(step, to);
        if (waits || noted) note(0, step.where, to);
        if (watched) check_poll(step, polled_, to);
    }

    void copy(const Loop& loop, Block& to) override {
        const Reg since = reg(Type::u32), outside = polled_;
        to.emplace_back(made(isa::guard::clock(), {}, {Operand::of(since)}, loop.where));
        if (!polled_ && only_looks(loop)) polled_ = since;
        Rewriting::copy(loop, to);
        Block& inside = std::get<std::unique_ptr<Loop>>(to.back())->next;
        check_time({GuardSite::Kind::loop, loop.where, Awaits::nothing, {}}, since, loop_limit_, inside,
                   [&](Block& cold) { return look_at_nothing(loop.where, cold); });
        polled_ = outside;
    }

    bool traced_;
    GuardedProgram out_;
    Reg block_, poll_limit_, loop_limit_;
    Reg polled_;  ///< when the loop around began, if it only looks
};

GuardedProgram guarded(const Program& program, bool traced) { return Guarding(program, traced).run(); }

}  // namespace wgrun
