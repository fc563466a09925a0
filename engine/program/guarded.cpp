#include "program/guarded.hpp"

#include <algorithm>
#include <utility>

#include "isa/guard.hpp"
#include "isa/order.hpp"

namespace wgrun {

namespace {

using isa::Awaits;
using isa::Type;

Step made(const isa::Instruction& op, const isa::Form& asked, std::vector<Operand> operands, Where where) {
    Step step;
    step.op = &op;
    step.form = isa::resolve(op, asked);
    step.operands = std::move(operands);
    step.where = where;
    return step;
}

bool accesses_memory(const Step& step) {
    return std::ranges::any_of(step.op->operands, [](const isa::OperandRule& rule) {
        return (rule.kinds & isa::OperandRule::address) != 0;
    });
}

bool polls(const Step& step) {
    const Awaits awaited = isa::awaited_by(step);
    return awaited == Awaits::mbarrier || awaited == Awaits::memory;
}

/// Does the loop look at something, and do nothing but look?
bool only_looks(const Loop& loop) {
    bool looks = false, acts = false;
    const auto visit = [&](const Step& step) {
        looks = looks || polls(step);
        const bool fence = isa::order_of(step).strong && !accesses_memory(step);
        acts = acts || (step.op->writes_memory && !polls(step) && !fence);
    };
    for_each_step(loop.head, visit);
    for_each_step(loop.body, visit);
    return looks && !acts;
}

}  // namespace

/// Copies a program, guards added.
class Guarding {
  public:
    Guarding(const Program& program, bool traced) : from_(program), traced_(traced) {}

    GuardedProgram run() {
        Program& to = out_.program;
        to.name_ = from_.name_;
        to.threads_ = from_.threads_;
        to.cluster_ = from_.cluster_;
        to.registers_ = from_.registers_;
        to.params_ = from_.params_;
        to.shared_ = from_.shared_;
        to.messages_ = from_.messages_;
        to.names_ = from_.names_;
        to.where_ = from_.where_;
        block_ = parameter("guard_block", Type::u64, to.body_);
        poll_limit_ = parameter("guard_poll_ticks", Type::u32, to.body_);
        loop_limit_ = parameter("guard_loop_ticks", Type::u32, to.body_);
        copy(from_.body_, to.body_, {});
        return std::move(out_);
    }

  private:
    Reg reg(Type type) {
        out_.program.registers_.push_back({isa::register_type(type), from_.where_});
        return {static_cast<std::uint32_t>(out_.program.registers_.size() - 1)};
    }

    Reg parameter(std::string name, Type type, Block& to) {
        std::vector<Param>& params = out_.program.params_;
        while (std::ranges::any_of(params, [&](const Param& other) { return other.name == name; }))
            name += "_";
        params.push_back({std::move(name), type, {}, {}, true, from_.where_});
        const Reg out = reg(type);
        to.emplace_back(made(*isa::find("ld.param"), isa::Form().set(isa::Field::type, type),
                             {Operand::of(out), Operand::param(static_cast<int>(params.size() - 1))},
                             from_.where_));
        return out;
    }

    std::int64_t site(GuardSite site) {
        out_.sites.push_back(std::move(site));
        return static_cast<std::int64_t>(out_.sites.size());
    }

    void note(std::int64_t site, Where where, Block& to) {
        to.emplace_back(made(isa::guard::note(), {}, {Operand::of(block_), Operand::immediate(site)}, where));
    }

    /// `to` gets a step that gives a new register of that type from `operands`.
    Reg computed(const char* op, Type type, std::vector<Operand> operands, Where where, Block& to,
                 Type from = Type::none) {
        const Reg out = reg(type);
        operands.insert(operands.begin(), Operand::of(out));
        isa::Form form = isa::Form().set(isa::Field::type, type);
        if (from != Type::none) form.set(isa::Field::from, from);
        to.emplace_back(made(*isa::find(op), form, std::move(operands), where));
        return out;
    }

    /// The address that an operand stands for, in a register.
    Reg address_in(const Operand& operand, Type type, Where where, Block& to) {
        if (!operand.reg) {
            Operand shared = operand;
            shared.kind = Operand::Kind::shared;
            return computed("mov", type, {shared}, where, to);
        }
        if (operand.offset == 0) return operand.reg;
        return computed("add", type, {Operand::of(operand.reg), Operand::immediate(operand.offset)}, where,
                        to);
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
        const Reg base =
            computed("mov", Type::u32, {Operand::shared(0, -from_.shared().front().offset)}, poll.where, to);
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
        const Type type =
            found.kind == Operand::Kind::reg ? out_.program.registers_[found.reg.id].type : Type::none;
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
        auto branch = std::make_unique<Branch>();
        branch->condition = late;
        branch->where = where.where;
        Block& inside = branch->then_body;
        const Where at = where.where;
        const auto kind = static_cast<std::int64_t>(where.kind);
        const Finding found = look(inside);
        inside.emplace_back(
            made(isa::guard::report(), {},
                 {Operand::of(block_), Operand::immediate(site(std::move(where))), Operand::immediate(kind),
                  Operand::of(found.wanted), Operand::of(found.place), Operand::of(found.word),
                  Operand::of(poll_limit_)},
                 at));
        to.emplace_back(std::move(branch));
    }

    /// Behind a poll: unless it has been let through, or was not executed, the time is checked.
    void check_poll(const Step& poll, Reg since, Block& to) {
        const GuardSite place{GuardSite::Kind::poll, poll.where, isa::awaited_by(poll), poll};
        Block* inside = &to;
        const auto only_if = [&](Reg condition, bool negated) {
            auto branch = std::make_unique<Branch>();
            branch->condition = condition;
            branch->negated = negated;
            branch->where = poll.where;
            Block* body = &branch->then_body;
            inside->emplace_back(std::move(branch));
            inside = body;
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

    /// polled: when the loop around began, if it only looks.
    void copy(const Step& step, Block& to, Reg polled) {
        const Awaits awaited = isa::awaited_by(step);
        const bool waits = awaited != Awaits::nothing && !polls(step);
        const bool watched = polled && polls(step);  // by its guard
        const bool noted =
            traced_ && !waits && !watched && (accesses_memory(step) || isa::asynchronous(step));
        if (waits) note(site({GuardSite::Kind::wait, step.where, awaited, step}), step.where, to);
        if (noted) note(site({GuardSite::Kind::access, step.where, awaited, step}), step.where, to);
        to.emplace_back(step);
        if (noted) let_end(step, to);
        if (waits || noted) note(0, step.where, to);
        if (polled && polls(step)) check_poll(step, polled, to);
    }

    void copy(const Loop& loop, Block& to, Reg polled) {
        const Reg since = reg(Type::u32);
        to.emplace_back(made(isa::guard::clock(), {}, {Operand::of(since)}, loop.where));
        if (!polled && only_looks(loop)) polled = since;
        auto out = std::make_unique<Loop>();
        out->condition = loop.condition;
        out->where = loop.where;
        copy(loop.head, out->head, polled);
        copy(loop.body, out->body, polled);
        check_time({GuardSite::Kind::loop, loop.where, Awaits::nothing, {}}, since, loop_limit_, out->body,
                   [&](Block& cold) { return look_at_nothing(loop.where, cold); });
        to.emplace_back(std::move(out));
    }

    void copy(const Branch& branch, Block& to, Reg polled) {
        auto out = std::make_unique<Branch>();
        out->condition = branch.condition;
        out->negated = branch.negated;
        out->where = branch.where;
        copy(branch.then_body, out->then_body, polled);
        copy(branch.else_body, out->else_body, polled);
        to.emplace_back(std::move(out));
    }

    void copy(const Block& block, Block& to, Reg polled) {
        for (const Node& node : block) {
            if (const auto* step = std::get_if<Step>(&node))
                copy(*step, to, polled);
            else if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node))
                copy(**loop, to, polled);
            else
                copy(*std::get<std::unique_ptr<Branch>>(node), to, polled);
        }
    }

    const Program& from_;
    bool traced_;
    GuardedProgram out_;
    Reg block_, poll_limit_, loop_limit_;
};

GuardedProgram guarded(const Program& program, bool traced) { return Guarding(program, traced).run(); }

}  // namespace wgrun
