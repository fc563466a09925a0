#include "check/symbolic/accesses.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "check/symbolic/touches.hpp"
#include "isa/order.hpp"
#include "isa/registers.hpp"

namespace wgrun::check::symbolic {
namespace {

class Walk {
  public:
    Walk(const Outline& outline, const Positive& positive, Accesses& out)
        : program_(outline.program()),
          graph_(outline.graph()),
          out_(out),
          slots_(needed(outline)),
          positive_(positive),
          terms_(program_, out.atoms, slots_, positive),
          ends_(program_.blocks().size()),
          branches_(program_.blocks().size()),
          conditions_(program_.blocks().size()),
          repeated_(program_.blocks().size()) {}

    void run() {
        for (const flow::Loop& loop : graph_.loops())
            if (!loop.natural) out_.lost = graph_.blocks()[loop.header].where;
        if (out_.lost) return;
        run(graph_.order(), no_block, {});
        out_.places = terms_.places();
        out_.unread = terms_.unread();
        out_.params = terms_.params();
    }

  private:
    using Block = BlockId;

    /// Follows these blocks, in reverse post-order; one of them begins with these registers.
    void run(const std::vector<Block>& blocks, Block first, const Registers& entry) {
        for (const Block block : blocks) {
            Registers registers = block == first ? entry : before(block);
            find_conditions(block);
            current_ = block;
            const int loop = graph_.innermost_loop(block);
            terms_.at(registers, conditions_[block], turns(loop), loop);
            for (const Step& step : graph_.blocks()[block].steps) {
                if (recording_) record(step, loop);
                terms_.execute(step);
                const auto narrow = terms_.taken_narrow();
                if (recording_)
                    for (const auto& [number, most] : narrow) record_narrow(step.where, number, most);
            }
            const BasicBlock& at = graph_.blocks()[block];
            branches_[block].reset();
            if (at.end == BasicBlock::End::branch) {
                branches_[block] = terms_.content(at.condition).truth;
                if (branches_[block] && at.negated) branches_[block] = out_.atoms.negated(*branches_[block]);
            }
            ends_[block] = std::move(registers);
        }
    }

    Registers before(Block block) {
        for (int loop = 0; loop < static_cast<int>(graph_.loops().size()); ++loop)
            if (graph_.loops()[static_cast<std::size_t>(loop)].header == block) return enter(loop);
        return joined(block, [](Block) { return true; });
    }

    /// What all predecessors agree about; else some number.
    Registers joined(Block block, const std::function<bool(Block)>& counts) {
        Registers out(slots_.registers.size());
        terms_.at(out, {}, {}, graph_.innermost_loop(block));
        bool first = true;
        for (const Block from : graph_.predecessors(block)) {
            if (!counts(from)) continue;
            const Registers& there = ends_[from];
            for (std::size_t slot = 0; slot < out.size(); ++slot) {
                if (first || there[slot] == out[slot])
                    out[slot] = there[slot];
                else
                    out[slot] = terms_.unknown(slots_.registers[slot], "", -2 - static_cast<int>(block));
            }
            first = false;
        }
        return out;
    }

    std::vector<Block> ordered(const flow::Loop& loop) const {
        std::vector<Block> out;
        for (const Block block : graph_.order())
            if (std::ranges::find(loop.blocks, block) != loop.blocks.end()) out.push_back(block);
        return out;
    }

    std::size_t slot(std::uint32_t id) const { return static_cast<std::size_t>(slots_.of[id]); }

    /// The registers at the beginning of a turn. One turn is followed to see what it adds to them.
    Registers enter(int index) {
        const flow::Loop& loop = graph_.loops()[static_cast<std::size_t>(index)];
        const auto inside = [&](Block block) { return graph_.inside(block, index); };
        Registers out = joined(loop.header, [&](Block block) { return !inside(block); });
        std::set<std::uint32_t> written;
        for (const Block block : loop.blocks)
            for (const Step& step : graph_.blocks()[block].steps)
                isa::for_each_written(step, [&](Reg reg) {
                    if (slots_.of[reg.id] >= 0) written.insert(reg.id);
                });
        Registers trial = out;
        terms_.at(trial, {}, {}, index);
        for (const std::uint32_t id : written)
            trial[slot(id)] =
                terms_.unknown(Reg{id}, "", -2 - static_cast<int>(graph_.blocks().size()) - index);
        repeated_[loop.header].reset();
        const bool recorded = std::exchange(recording_, false);
        run(ordered(loop), loop.header, trial);
        const auto in_loop = [&](int other) {
            for (; other >= 0; other = graph_.loops()[static_cast<std::size_t>(other)].parent)
                if (other == index) return true;
            return false;
        };
        const Polynomial turn = Polynomial::of(terms_.turn(index, graph_.blocks()[loop.header].where));
        for (const std::uint32_t id : written) {
            const auto more = growth(loop, inside, slot(id), trial[slot(id)]);
            const bool counts = more && out[slot(id)].number && terms_.stays(*more, in_loop);
            if (counts) try {
                    out[slot(id)].number = *out[slot(id)].number + turn * *more;
                    continue;
                } catch (const TooLarge&) {
                }
            out[slot(id)] = trial[slot(id)];
        }
        if (const Block last = tested_last(loop);
            last != no_block && branches_[last] && compares(*branches_[last])) {
            run(ordered(loop), loop.header, out);
            repeated_[loop.header] = repeated(loop, turn, in_loop);
        }
        recording_ = recorded;
        return out;
    }

    /// The one block that leads back to the header, if it ends with a branch; else no_block.
    Block tested_last(const flow::Loop& loop) const {
        Block out = no_block;
        for (const Block from : graph_.predecessors(loop.header)) {
            if (std::ranges::find(loop.blocks, from) == loop.blocks.end()) continue;
            const BasicBlock& at = graph_.blocks()[from];
            if (out != no_block || at.end != BasicBlock::End::branch || at.taken == at.otherwise)
                return no_block;
            out = from;
        }
        return out;
    }

    /// Whether it is one comparison of numbers, or its opposite.
    bool compares(Formula formula) const {
        using enum Condition::Kind;
        const Condition& of = out_.atoms[formula];
        if (of.kind == Condition::Kind::negated) return compares(of.parts.front());
        return of.kind == positive || of.kind == zero;
    }

    /// What holds in each turn since the turn before did not end the loop; nothing: that is not seen.
    std::optional<Formula> repeated(const flow::Loop& loop, const Polynomial& turn,
                                    const std::function<bool(int)>& in_loop) {
        const Block last = tested_last(loop);
        if (!branches_[last]) return std::nullopt;
        const bool goes_on = graph_.blocks()[last].taken == loop.header;
        const Formula formula = goes_on ? *branches_[last] : out_.atoms.negated(*branches_[last]);
        Condition condition = out_.atoms[formula];
        const bool inverse = condition.kind == Condition::Kind::negated;
        if (inverse) condition = out_.atoms[condition.parts.front()];
        using enum Condition::Kind;
        if (condition.kind != positive && (condition.kind != zero || !inverse)) return std::nullopt;
        const Atom counter = *turn.atoms().begin();
        const auto [more, at_first] = condition.number.split(counter);
        if (!terms_.stays(more, in_loop) || !terms_.stays(at_first, in_loop)) return std::nullopt;
        Polynomial before = at_first + more * (turn - Polynomial(1));
        if (condition.kind == zero) {
            // A number that falls by 1 from one that is not below 0, and was never 0.
            const Polynomial first = more == Polynomial(-1) ? at_first : Polynomial(0) - at_first;
            if (!more.is_constant() || std::abs(more.constant()) != 1) return std::nullopt;
            if (out_.atoms.least(first).value_or(-1) < 0) return std::nullopt;
            before = first - turn;
        } else if (inverse) {
            before = Polynomial(-1) - before;
        }
        const Formula out = out_.atoms.positive(before);
        const Polynomial of_first = before.with(counter, Polynomial(0));
        return out_.atoms.least(of_first).value_or(-1) >= 0 || positive_(of_first, conditions_[loop.header])
                   ? out
                   : out_.atoms.either(out_.atoms.zero(turn), out);
    }

    /// How much a turn adds to a register; nothing: that differs.
    std::optional<Polynomial> growth(const flow::Loop& loop, const std::function<bool(Block)>& inside,
                                     std::size_t slot, const Content& at_first) const {
        std::optional<Polynomial> out;
        if (!at_first.number) return out;
        for (const Block from : graph_.predecessors(loop.header)) {
            if (!inside(from)) continue;
            const Content& there = ends_[from][slot];
            if (!there.number) return std::nullopt;
            const Polynomial more = *there.number - *at_first.number;
            if (out && *out != more) return std::nullopt;
            out = more;
        }
        return out;
    }

    /// The branches on the way to a block that all paths take alike.
    void find_conditions(Block block) {
        const Block above = graph_.dominator(block);
        conditions_[block].clear();
        if (above == no_block) return;
        conditions_[block] = conditions_[above];
        if (repeated_[block]) conditions_[block].push_back(*repeated_[block]);
        const BasicBlock& from = graph_.blocks()[above];
        if (from.end != BasicBlock::End::branch || from.taken == from.otherwise || !branches_[above]) return;
        for (const Block arm : {from.taken, from.otherwise}) {
            if (arm != block) continue;
            const bool only = std::ranges::all_of(graph_.predecessors(arm), [&](Block other) {
                return other == above || graph_.dominates(arm, other);
            });
            if (!only) continue;
            conditions_[block].push_back(arm == from.taken ? *branches_[above]
                                                           : out_.atoms.negated(*branches_[above]));
        }
    }

    std::vector<Atom> turns(int loop) {
        std::vector<Atom> out;
        for (; loop >= 0; loop = graph_.loops()[static_cast<std::size_t>(loop)].parent)
            out.push_back(terms_.turn(
                loop, graph_.blocks()[graph_.loops()[static_cast<std::size_t>(loop)].header].where));
        return out;
    }

    void record(const Step& step, int loop) {
        const Touches touches(step);
        if (!touches.any()) return;
        Access access;
        access.where = step.where;
        access.turns = turns(loop);
        access.conditions = conditions_of(step);
        if (touches.access) {
            access.writes = touches.access->write;
            const isa::MemoryOrder order = isa::order_of(step);
            if (order.strong && order.scope >= isa::Scope::gpu) access.strong = order.unit;
            access.extent = {Polynomial(touches.access->bytes)};
            point(access, *touches.access->address);
        } else if (touches.copy) {
            describe(access, step, *touches.copy);
        } else {
            access.known = false;  // cp.async: what it reads
            access.writes = touches.anything;
        }
        out_.list.push_back(std::move(access));
    }

    void record_narrow(Where where, const Polynomial& number, std::int64_t most) {
        const std::vector<Formula>& conditions = conditions_[current_];
        if (narrow_.emplace(number, most, conditions).second)
            out_.narrow.push_back({where, settled(number, conditions), most, conditions});
    }

    std::vector<Formula> conditions_of(const Step& step) {
        std::vector<Formula> out = conditions_[current_];
        if (const Formula guard = terms_.guard(step); guard != Atoms::yes) out.push_back(guard);
        return out;
    }

    /// The number where these conditions hold: what they choose is known.
    Polynomial settled(const Polynomial& number, const std::vector<Formula>& conditions) {
        for (const Atom atom : number.atoms()) {
            const Definition of = out_.atoms[atom];
            if (of.kind != Definition::Kind::choice) continue;
            for (const std::size_t part : {0, 1}) {
                const Formula chosen = part == 0 ? of.condition : out_.atoms.negated(of.condition);
                if (std::ranges::find(conditions, chosen) != conditions.end())
                    return settled(number.with(atom, of.parts[part]), conditions);
            }
        }
        return number;
    }

    /// Sets the pointer and the bytes from where it points to.
    void point(Access& access, const Operand& address) {
        const Content content = terms_.content(address);
        if (!content.number) {
            access.known = false;
            return;
        }
        const Polynomial number = settled(*content.number, access.conditions);
        // The one pointer in it; a number of 64 bits whose use is not declared may be one.
        std::vector<Atom> pointers, declared;
        for (const auto& [atom, index] : terms_.params()) {
            const Param& param = program_.params()[static_cast<std::size_t>(index)];
            if (isa::bits(param.type) != 64 || number.coefficient({atom}) != 1) continue;
            pointers.push_back(atom);
            if (param.pointee) declared.push_back(atom);
        }
        if (declared.size() == 1) pointers = declared;
        access.known = pointers.size() == 1;
        if (!access.known) return;
        access.param = terms_.params().at(pointers.front());
        Polynomial at = number - Polynomial::of(pointers.front());
        access.known = !terms_.wraps(at, INT64_MIN, INT64_MAX);
        access.at = {std::move(at)};
    }

    void describe(Access& access, const Step& step, const isa::BulkAccess& copy) {
        access.writes = copy.direction == isa::BulkCopy::Direction::to_global;
        // Reductions are relaxed, in the scope of the GPU (PTX ISA 9.7.9.25.4.2). The elements of a tensor
        // have one size.
        if (access.writes && step.form.has(isa::Field::op))
            access.strong = copy.coordinates != nullptr ? 1 : isa::bits(step.form.type()) / 8;
        access.later = true;
        if (copy.coordinates == nullptr) {
            point(access, *copy.global);
            const Content size = terms_.number_of(terms_.content(step.operand("size")), isa::Type::u32);
            access.known = access.known && size.number.has_value();
            if (size.number) access.extent = {*size.number};
            return;
        }
        const Content map = terms_.content(*copy.global);
        for (const auto& [atom, index] : terms_.params())
            if (map.number && *map.number == Polynomial::of(atom)) access.param = index;
        const Param* param =
            access.param < 0 ? nullptr : &program_.params()[static_cast<std::size_t>(access.param)];
        access.known = param != nullptr && param->box && !param->box->pixels &&
                       copy.coordinates->list.size() == param->box->extents.size();
        if (!access.known) return;
        for (std::size_t dim = 0; dim < param->box->extents.size(); ++dim) {
            const Content at = terms_.number_of(terms_.content(copy.coordinates->list[dim]), isa::Type::s32);
            access.known = access.known && at.number.has_value();
            access.at.push_back(settled(at.number.value_or(Polynomial()), access.conditions));
            access.extent.emplace_back(param->box->extents[dim]);
        }
    }

    const Program& program_;
    const flow::Graph& graph_;
    Accesses& out_;
    const Indexed slots_;
    const Positive& positive_;
    Terms terms_;
    std::vector<Registers> ends_;                   ///< by block
    std::vector<std::optional<Formula>> branches_;  ///< when its end leads to `taken`
    std::vector<std::vector<Formula>> conditions_;  ///< of which threads come there
    std::vector<std::optional<Formula>> repeated_;  ///< what holds at the beginning of a turn
    std::set<std::tuple<Polynomial, std::int64_t, std::vector<Formula>>> narrow_;  ///< that were recorded
    bool recording_ = true;
    Block current_ = 0;
};

}  // namespace

void find_accesses(const Outline& outline, const Positive& positive, Accesses& out) {
    Walk(outline, positive, out).run();
}

}  // namespace wgrun::check::symbolic
