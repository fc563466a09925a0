#include "program/guarded.hpp"

#include <algorithm>
#include <utility>

#include "isa/awaited.hpp"
#include "isa/guard.hpp"
#include "isa/order.hpp"
#include "program/polls.hpp"
#include "program/rewriting.hpp"

namespace wgrun {

using isa::Awaits;
using isa::Type;

/// Copies a program and adds guards.
class Guarding final : Rewriting {
  public:
    Guarding(const Program& program, bool traced)
        : Rewriting(program), traced_(traced), loops_(loops_of(program)) {}

    GuardedProgram run() {
        const int block = parameter("guard_block", Type::u64);
        const int poll_limit = parameter("guard_poll_ticks", Type::u32);
        const int loop_limit = parameter("guard_loop_ticks", Type::u32);
        block_ = loaded(block);
        if (!loops_.empty()) {  // otherwise nothing checks the time
            poll_limit_ = loaded(poll_limit);
            loop_limit_ = loaded(loop_limit);
        }
        for (const TextLoop& loop : loops_)
            since_.push_back(loop.construct ? Reg() : clock(from().where(), reg(Type::u32)));
        copy_blocks();
        out_.program = take();
        return std::move(out_);
    }

  private:
    std::int64_t site(GuardSite site) {
        out_.sites.push_back(std::move(site));
        return static_cast<std::int64_t>(out_.sites.size());
    }

    void note(std::int64_t site, Where where) {
        add(made(isa::guard::note(), {}, {Operand::of(block_), Operand::immediate(site)}, where));
    }

    /// What a report says of a poll: the address, the value found there, and the value wanted.
    struct Finding {
        Reg place, word, wanted;
    };

    Reg constant(Type type, Where where) { return computed("mov", type, {Operand::immediate(0)}, where); }

    Finding look_at_mbarrier(const Step& poll) {
        const isa::Awaited awaited = isa::awaited(poll);
        const Reg address = address_in(*awaited.address, Type::u32, poll.where);
        const Reg base = shared_base(poll.where);
        Finding out{reg(Type::u64), reg(Type::u64),
                    awaited.parity != nullptr ? computed("mov", Type::u32, {*awaited.parity}, poll.where)
                                              : constant(Type::u32, poll.where)};
        add(made(isa::guard::mbarrier_word(), {},
                 {Operand::of(out.word), Operand::of(out.place), Operand::of(address), Operand::of(base)},
                 poll.where));
        return out;
    }

    /// The value found is included if it is a scalar of 32 or 64 bits; otherwise `wanted` is 0.
    Finding look_at_memory(const Step& poll) {
        const bool global = poll.form.get(isa::Field::space) == static_cast<int>(isa::Space::global);
        const auto wide = [&](Reg narrow) {
            return computed("cvt", Type::u64, {Operand::of(narrow)}, poll.where, Type::u32);
        };
        Reg place = address_in(*isa::awaited(poll).address, global ? Type::u64 : Type::u32, poll.where);
        if (!global) place = wide(place);
        const Operand& found = poll.operands.front();
        const Type type = found.kind == Operand::Kind::reg ? type_of(found.reg) : Type::none;
        const bool whole = type != Type::none && !isa::is_float(type) && isa::bits(type) >= 32;
        const Reg word = !whole                  ? constant(Type::u64, poll.where)
                         : isa::bits(type) == 32 ? wide(found.reg)
                                                 : found.reg;
        return {place, word, computed("mov", Type::u32, {Operand::immediate(whole ? 1 : 0)}, poll.where)};
    }

    Finding look_at_nothing(Where where) {
        return {constant(Type::u64, where), constant(Type::u64, where), constant(Type::u32, where)};
    }

    /// if (more than `limit` ticks have passed since `since`) { what `look` emits; report; trap }
    template <class Look>
    void check_time(GuardSite where, Reg since, Reg limit, Look look) {
        const Reg late = reg(Type::pred);
        add(made(isa::guard::overdue(), {}, {Operand::of(late), Operand::of(since), Operand::of(limit)},
                 where.where));
        begin_if(late, false, where.where);
        const Where at = where.where;
        const auto kind = static_cast<std::int64_t>(where.kind);
        const Finding found = look();
        add(made(isa::guard::report(), {},
                 {Operand::of(block_), Operand::immediate(site(std::move(where))), Operand::immediate(kind),
                  Operand::of(found.wanted), Operand::of(found.place), Operand::of(found.word),
                  Operand::of(poll_limit_)},
                 at));
        end_if();
    }

    /// Checks the time after a poll, unless the poll has succeeded or was not executed.
    void check_poll(const Step& poll, Reg since) {
        const GuardSite place{GuardSite::Kind::poll, poll.where, isa::awaited_by(poll), poll};
        const bool mbarrier = place.awaits == Awaits::mbarrier;
        if (poll.guard) begin_if(poll.guard, poll.guard_negated, poll.where);
        if (mbarrier) begin_if(isa::awaited(poll).passed->reg, true, poll.where);
        check_time(place, since, poll_limit_,
                   [&] { return mbarrier ? look_at_mbarrier(poll) : look_at_memory(poll); });
        if (mbarrier) end_if();
        if (poll.guard) end_if();
    }

    /// Lets `access` complete before what follows: no fence waits for asynchronous operations, but a delay
    /// does.
    void let_end(const Step& access) {
        if (isa::asynchronous(access)) {
            add(made(isa::guard::settle(), {}, {}, access.where));
            return;
        }
        const isa::Form everywhere =
            isa::Form().set(isa::Field::sem, *isa::parse_value(isa::Field::sem, "sc.sys"));
        add(made(*isa::find("fence"), everywhere, {}, access.where));
    }

    void copy(const Step& step) override {
        const Awaits awaited = isa::awaited_by(step);
        const bool waits = awaited != Awaits::nothing && !polls(step);
        const Reg since = polled();
        const bool watched = since && polls(step);  // by its guard
        const bool noted =
            traced_ && !waits && !watched && (accesses_memory(step) || isa::asynchronous(step));
        if (waits) note(site({GuardSite::Kind::wait, step.where, awaited, step}), step.where);
        if (noted) note(site({GuardSite::Kind::access, step.where, awaited, step}), step.where);
        add(step);
        if (noted) let_end(step);
        if (waits || noted) note(0, step.where);
        if (watched) check_poll(step, since);
    }

    Reg clock(Where where, Reg out) {
        add(made(isa::guard::clock(), {}, {Operand::of(out)}, where));
        return out;
    }

    /// Takes the time before a loop of the script. A loop of another shape may be entered anywhere: there the
    /// time is taken on all edges into it.
    void enter(std::size_t index) {
        const TextLoop& loop = loops_[index];
        if (loop.construct) since_[index] = clock(where_of(loop), reg(Type::u32));
        around_.push_back({loop, since_[index], only_looks(from(), loop)});
    }
    bool enters(BlockId id, const TextLoop& loop) const {
        const auto inside = [&](BlockId block) { return block >= loop.first && block <= loop.last; };
        bool out = false;
        from().blocks()[id].for_each_successor([&](BlockId to, int) { out = out || inside(to); });
        return out && !inside(id);
    }
    /// Returns when the outermost enclosing loop that only polls began; none: there is no such loop.
    Reg polled() const {
        const auto found = std::ranges::find_if(around_, &Around::looks);
        return found == around_.end() ? Reg() : found->since;
    }
    Where where_of(const TextLoop& loop) const {
        const BasicBlock& first = from().blocks()[loop.first];
        return first.label.where ? first.label.where : first.where;
    }

    void begins(BlockId id) override {
        for (std::size_t i = 0; i < loops_.size(); ++i)
            if (!loops_[i].construct && loops_[i].first == id) enter(i);
    }
    void ends(BlockId id) override {
        // Loops that are not constructs may overlap.
        for (auto loop = around_.rbegin(); loop != around_.rend(); ++loop) {
            if (loop->loop.last != id) continue;
            const Where where = where_of(loop->loop);
            check_time({GuardSite::Kind::loop, where, Awaits::nothing, {}}, loop->since, loop_limit_,
                       [&] { return look_at_nothing(where); });
        }
        std::erase_if(around_, [&](const Around& around) { return around.loop.last == id; });
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            if (loops_[i].construct && loops_[i].first == id + 1) enter(i);
            if (!loops_[i].construct && enters(id, loops_[i])) clock(where_of(loops_[i]), since_[i]);
        }
    }

    struct Around {
        TextLoop loop;
        Reg since;
        bool looks;
    };

    bool traced_;
    std::vector<TextLoop> loops_;
    std::vector<Reg> since_;      ///< by loop: when it began
    std::vector<Around> around_;  ///< the enclosing loops
    GuardedProgram out_;
    Reg block_, poll_limit_, loop_limit_;
};

GuardedProgram guarded(const Program& program, bool traced) { return Guarding(program, traced).run(); }

}  // namespace wgrun
