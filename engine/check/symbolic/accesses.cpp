#include "check/symbolic/accesses.hpp"

#include <algorithm>
#include <utility>

#include "isa/effects.hpp"
#include "isa/registers.hpp"

namespace wgrun::check::symbolic {
namespace {

/// What a step does to global memory.
class Touches final : public isa::Effects {
  public:
    explicit Touches(const Step& step) { isa::tell(step, *this); }
    std::optional<isa::MemoryAccess> access{};
    std::optional<isa::BulkAccess> copy{};
    bool copies = false;  ///< cp.async

  private:
    void memory(const isa::MemoryAccess& of) override {
        if (of.space == isa::Space::global || of.space == isa::Space::generic) access = of;
    }
    void copy_async(const isa::MemoryAccess&) override { copies = true; }
    void bulk_copy(const isa::BulkAccess& of) override {
        if (of.global != nullptr && of.direction != isa::BulkCopy::Direction::prefetch) copy = of;
    }
};

class Walk {
  public:
    Walk(const Outline& outline, const Positive& positive, Accesses& out)
        : program_(outline.program()),
          graph_(outline.graph()),
          out_(out),
          terms_(program_, out.atoms, positive),
          ends_(program_.blocks().size()),
          branches_(program_.blocks().size()),
          conditions_(program_.blocks().size()) {}

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
        Registers out(program_.registers().size());
        terms_.at(out, {}, {}, graph_.innermost_loop(block));
        bool first = true;
        for (const Block from : graph_.predecessors(block)) {
            if (!counts(from)) continue;
            const Registers& there = ends_[from];
            for (std::size_t i = 0; i < out.size(); ++i) {
                if (first || there[i] == out[i]) {
                    out[i] = there[i];
                } else {
                    const Reg reg{static_cast<std::uint32_t>(i)};
                    out[i] = terms_.unknown(reg, "", -2 - static_cast<int>(block));
                }
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

    /// The registers at the beginning of a turn. One turn is followed to see what it adds to them.
    Registers enter(int index) {
        const flow::Loop& loop = graph_.loops()[static_cast<std::size_t>(index)];
        const auto inside = [&](Block block) { return graph_.inside(block, index); };
        Registers out = joined(loop.header, [&](Block block) { return !inside(block); });
        std::set<std::uint32_t> written;
        for (const Block block : loop.blocks)
            for (const Step& step : graph_.blocks()[block].steps)
                isa::for_each_written(step, [&](Reg reg) { written.insert(reg.id); });
        Registers trial = out;
        terms_.at(trial, {}, {}, index);
        for (const std::uint32_t id : written)
            trial[id] = terms_.unknown(Reg{id}, "", -2 - static_cast<int>(graph_.blocks().size()) - index);
        const bool recorded = std::exchange(recording_, false);
        run(ordered(loop), loop.header, trial);
        recording_ = recorded;
        const auto in_loop = [&](int other) {
            for (; other >= 0; other = graph_.loops()[static_cast<std::size_t>(other)].parent)
                if (other == index) return true;
            return false;
        };
        const Polynomial turn = Polynomial::of(terms_.turn(index, graph_.blocks()[loop.header].where));
        for (const std::uint32_t id : written) {
            const auto more = growth(loop, inside, id, trial[id]);
            const bool counts = more && out[id].number && terms_.stays(*more, in_loop);
            if (counts) try {
                    out[id].number = *out[id].number + turn * *more;
                    continue;
                } catch (const TooLarge&) {
                }
            out[id] = trial[id];
        }
        return out;
    }

    /// How much a turn adds to a register; nothing: that differs.
    std::optional<Polynomial> growth(const flow::Loop& loop, const std::function<bool(Block)>& inside,
                                     std::uint32_t id, const Content& at_first) const {
        std::optional<Polynomial> out;
        if (!at_first.number) return out;
        for (const Block from : graph_.predecessors(loop.header)) {
            if (!inside(from)) continue;
            const Content& there = ends_[from][id];
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
        if (!touches.access && !touches.copy && !touches.copies) return;
        Access access;
        access.where = step.where;
        access.turns = turns(loop);
        access.conditions = conditions_of(step);
        if (touches.access) {
            using enum Access::Kind;
            access.kind = step.op->atomic ? atomic : touches.access->write ? write : read;
            access.extent = {Polynomial(touches.access->bytes)};
            point(access, *touches.access->address);
        } else if (touches.copy) {
            describe(access, step, *touches.copy);
        } else {
            access.known = false;  // cp.async: what it reads
        }
        out_.list.push_back(std::move(access));
    }

    std::vector<Formula> conditions_of(const Step& step) {
        std::vector<Formula> out = conditions_[current_];
        if (const Formula guard = terms_.guard(step); guard != Atoms::yes) out.push_back(guard);
        return out;
    }

    /// Sets the pointer and the bytes from where it points to.
    void point(Access& access, const Operand& address) {
        const Content content = terms_.content(address);
        if (!content.number) {
            access.known = false;
            return;
        }
        Polynomial at = *content.number;
        for (const auto& [atom, index] : terms_.params()) {
            const Param& param = program_.params()[static_cast<std::size_t>(index)];
            if (isa::bits(param.type) != 64 || at.coefficient({atom}) != 1) continue;
            // Of several numbers of 64 bits only one is a pointer.
            if (access.param >= 0 && !param.pointee) continue;
            access.param = index;
        }
        if (access.param < 0) {
            access.known = false;
            return;
        }
        for (const auto& [atom, index] : terms_.params())
            if (index == access.param) at.add(Polynomial::of(atom), -1);
        access.at = {std::move(at)};
    }

    void describe(Access& access, const Step& step, const isa::BulkAccess& copy) {
        const bool writes = copy.direction == isa::BulkCopy::Direction::to_global;
        const bool reduces = step.form.has(isa::Field::op);
        access.kind = reduces ? Access::Kind::atomic : writes ? Access::Kind::write : Access::Kind::read;
        access.later = true;
        if (copy.coordinates == nullptr) {
            point(access, *copy.global);
            const Content size = terms_.content(step.operand("size"));
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
            const Content at = terms_.content(copy.coordinates->list[dim]);
            access.known = access.known && at.number.has_value();
            access.at.push_back(at.number.value_or(Polynomial()));
            access.extent.emplace_back(param->box->extents[dim]);
        }
    }

    const Program& program_;
    const flow::Graph& graph_;
    Accesses& out_;
    Terms terms_;
    std::vector<Registers> ends_;                   ///< by block
    std::vector<std::optional<Formula>> branches_;  ///< when its end leads to `taken`
    std::vector<std::vector<Formula>> conditions_;  ///< of which threads come there
    bool recording_ = true;
    Block current_ = 0;
};

}  // namespace

void find_accesses(const Outline& outline, const Positive& positive, Accesses& out) {
    Walk(outline, positive, out).run();
}

}  // namespace wgrun::check::symbolic
