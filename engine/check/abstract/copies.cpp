#include "check/abstract/copies.hpp"

#include "check/abstract/shared_memory.hpp"
#include "check/abstract/shown_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/effects.hpp"
#include "isa/registers.hpp"
#include "machine/lanes.hpp"
#include "machine/peers.hpp"
#include "program/end.hpp"
#include "rules/barrier_words.hpp"
#include "rules/copy_words.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::check::abstract {

using machine::for_each_lane;
using machine::MbarrierUser;

Copies::Copies(ExecutionState& execution, Faults& report, Peers& peers, Mbarriers& mbarriers,
               Contents& contents, MmaReads& products)
    : execution_(execution),
      report_(report),
      peers_(peers),
      mbarriers_(mbarriers),
      contents_(contents),
      products_(products),
      stores_(execution.warps.size()),
      multicasts_(execution.ctas > 1 && std::ranges::any_of(execution.skeleton.ops, [](const Op& op) {
                      return op.step != nullptr && op.step->form.get(isa::Field::multicast, 0) != 0;
                  })) {}

// --- issue ---------------------------------------------------------------------------------------------

void Copies::bulk_copy(const isa::BulkCopy& copy) {
    using Direction = isa::BulkCopy::Direction;
    if (copy.direction == Direction::prefetch) return;
    if (copy.direction == Direction::to_cluster) sends();
    // Of a box that nothing tells, as those of foreign texts are, the size is not known.
    std::optional<std::int64_t> bytes = copy.bytes;
    if (!copy.known.bytes) bytes.reset();
    const TensorBox* its_box = nullptr;
    if (copy.dims != 0) {
        const std::vector<Param>& params = execution_.program.params();
        const auto map = static_cast<std::size_t>(copy.tensor_map) - 1;
        if (copy.known.tensor_map && map < params.size() && params[map].box) its_box = &*params[map].box;
        bytes.reset();
        if (its_box != nullptr) bytes = its_box->bytes();
    }
    if (!fits_shared(copy, its_box)) return;
    if (copy.direction == Direction::to_global) {
        own().running.push_back({copy.lane, own().groups.issue(), execution_.op->step});
        if (execution_.proves && copy.known.shared && !bytes && copy.dims != 0)
            bytes = taken_for_granted(BoxSizes::To::global, copy.shared);
        if (execution_.shared == nullptr) return;
        if (!copy.known.shared || !bytes)
            return execution_.shared->lost("what the copy reads is not known before a launch");
        const std::uint32_t lo = copy.shared & isa::peer_window;
        return execution_.shared->leaves(
            lo, lo + static_cast<std::uint32_t>(its_box != nullptr ? its_box->span() : *bytes), copy.lane,
            own().groups.issued());
    }
    // Which bytes of a phase come from which CTA decides what its waiters know.
    if (!bytes && multicasts_) return unknown_bytes(copy);
    if (!copy.known.multicast || !copy.known.shared || !copy.known.mbarrier) return execution_.refuse();
    constexpr MbarrierUser engine = MbarrierUser::engine;
    const auto to = [&](std::uint64_t shared, std::uint64_t mbarrier) {
        copy_to(shared, mbarrier, copy.lane, bytes, its_box, engine, &copy);
    };
    const auto ctas = static_cast<std::size_t>(execution_.ctas);
    if (const auto rank = machine::for_each_target(copy, ctas, to))
        report_.fault(rules::multicast_outside_cluster(copy.multicast, *rank, ctas));
}

/// Its mbarriers must be ones that the engine knows; when it lands is not known.
void Copies::unknown_bytes(const isa::BulkCopy& copy) {
    const auto use = [&](std::uint64_t, std::uint64_t address) {
        std::uint64_t within = address;  // its CTA, which find() cuts off
        if (const std::optional<int> cta = peers_.find(within, false))
            mbarriers_.count(*cta, address, MbarrierUser::engine, copy.lane);
    };
    if (copy.known.mbarrier && copy.known.multicast)
        machine::for_each_target(copy, static_cast<std::size_t>(execution_.ctas), use);
    execution_.refuse();
}

/// Reports an instruction that sends to a CTA of the cluster where there are no clusters (docs/silicon.md).
void Copies::sends() {
    if (execution_.ctas == 1) report_.fault(rules::sent_without_cluster(execution_.op->step->op->name));
}

void Copies::store_async(const isa::AsyncStore& store, const isa::Addresses& to,
                         const isa::Addresses& mbarrier) {
    sends();
    for_each_lane(execution_.active, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        if (!to.knows(l) || !mbarrier.knows(l)) return execution_.refuse();
        copy_to(to[l], mbarrier[l], lane, store.bytes, nullptr, MbarrierUser::async_store, nullptr);
    });
}

void Copies::copy_to(std::uint64_t shared, std::uint64_t address, int lane, std::optional<std::int64_t> bytes,
                     const TensorBox* box, MbarrierUser user, const isa::BulkCopy* copy) {
    const std::optional<int> cta = peers_.find(shared, false);
    Mbarrier* mbarrier = cta ? mbarriers_.count(*cta, address, user, lane) : nullptr;
    if (mbarrier == nullptr) return;
    std::optional<std::int64_t> covers = bytes;
    if (!bytes && execution_.proves) {
        covers = taken_for_granted(BoxSizes::To::shared, static_cast<std::uint32_t>(shared));
        boxes_.taken(static_cast<std::int64_t>(address & isa::peer_window) - sm_90a.shared_base);
    }
    const auto lo = static_cast<std::uint32_t>(shared),
               hi = lo + static_cast<std::uint32_t>(box != nullptr ? box->span()
                                                                   : covers.value_or(isa::BulkCopy::unit));
    const bool sent = copy != nullptr && copy->direction == isa::BulkCopy::Direction::to_cluster;
    if (execution_.shared != nullptr) {
        if (sent && !copy->known.source)
            execution_.shared->lost("what the copy reads is not known before a launch");
        else if (sent && bytes)
            execution_.shared->sends(copy->source, copy->source + static_cast<std::uint32_t>(*bytes),
                                     *mbarrier, lane);
        if (!covers)
            execution_.shared->lost("how much the copy brings is not known before a launch");
        else if (box == nullptr)
            execution_.shared->arrives(*cta, lo, hi, *mbarrier, lane);
        else
            box->for_each_run(lo, [&](std::uint32_t at, std::uint32_t size) {
                execution_.shared->arrives(*cta, at, at + size, *mbarrier, lane);
            });
    }
    if (execution_.shown != nullptr) {
        // A box of unknown size is taken to bring no more than its phase expects (compare_boxes).
        const std::int64_t most = covers.value_or(mbarrier->tx());
        if (most > 0)
            execution_.shown->overwrite(*cta, lo, std::max(hi, lo + static_cast<std::uint32_t>(most)));
        else
            execution_.shown->lost();
    }
    products_.overwritten(*mbarrier, lo, hi);
    contents_.write(*cta, {lo, hi, mbarrier, mbarrier->next(), execution_.op->step, box});
    if (!bytes) contents_.bring_anything(*cta);
    if (!bytes) {
        Unsized& its = unsized_[mbarrier];
        its.maps.push_back(map_of(*execution_.op->step));
        its.expected = std::min(its.expected, mbarrier->tx());
    }
    mbarriers_.begin_copy(*mbarrier, bytes);
    in_flight_.push_back({mbarrier, execution_.warp->pc, bytes, mbarrier->phase()});
}

/// Returns whether the shared memory that the copy reads or writes suits it; reports what does not.
bool Copies::fits_shared(const isa::BulkCopy& copy, const TensorBox* box) {
    if (box != nullptr && static_cast<std::size_t>(copy.dims) != box->extents.size()) {
        report_.fault(rules::copy_of_other_dimensions(copy.dims, box->extents.size()));
        return false;
    }
    if (box != nullptr && copy.pixels != box->pixels.has_value()) {
        report_.fault(rules::copy_of_other_mode(copy.pixels));
        return false;
    }
    if (!copy.known.shared || (box == nullptr && !copy.known.bytes)) return true;
    const std::uint32_t address = copy.shared & isa::peer_window, offset = address - sm_90a.shared_base;
    const std::uint32_t align = box != nullptr ? isa::BulkCopy::box_align : isa::BulkCopy::unit;
    if (address % align != 0) {
        report_.fault(rules::copy_misaligned(execution_.place(offset), align));
        return false;
    }
    const std::int64_t bytes = box != nullptr ? box->span() : copy.bytes;
    const std::vector<SharedBuffer>& buffers = execution_.program.shared();
    const auto holder = std::ranges::find_if(buffers, [&](const SharedBuffer& buffer) {
        return offset >= buffer.offset && offset < buffer.offset + buffer.bytes;
    });
    if (holder == buffers.end() || offset + bytes <= holder->offset + holder->bytes) return true;
    const std::int64_t left = holder->offset + holder->bytes - offset;
    report_.fault(
        {rules::WG_MEM_03,
         box != nullptr ? fmt::format("a box of {} is {}, and from {} on there are {}", describe(*box),
                                      count_of(bytes, "byte"), execution_.place(offset), left)
                        : fmt::format("the copy is {} long, and from {} on there are {}",
                                      count_of(bytes, "byte"), execution_.place(offset), left),
         "a smaller box, or a larger buffer"},
        {{holder->where, fmt::format("`{}` is declared here", holder->name)}});
    return false;
}

// --- landing and groups --------------------------------------------------------------------------------

bool Copies::land() {
    const auto next = std::ranges::find_if(in_flight_, &Copy::can_land);
    if (next == in_flight_.end()) return false;
    execution_.progress();
    const Copy copy = *next;
    in_flight_.erase(next);
    if (!copy.bytes && copy.phase == copy.mbarrier->phase()) compare_boxes(*copy.mbarrier);
    mbarriers_.land(*copy.mbarrier, copy.bytes, copy.phase, copy.pc);
    return true;
}

namespace {

class MapListener final : public isa::Effects {
  public:
    const isa::Operand* map = nullptr;

  private:
    void bulk_copy(const isa::BulkAccess& copy) override { map = copy.global; }
};

/// Returns by register what its value is a copy of: a parameter, counted from 1, or else a register.
std::vector<std::uint64_t> names_of_addresses(const Program& program) {
    constexpr std::uint64_t registers = std::uint64_t{1} << 32;
    std::vector<const isa::Operand*> from(program.registers().size());
    std::vector<int> writes(from.size());
    for_each_step(program, [&](const Step& step) {
        const bool copies = step.op->effects == nullptr && step.operands.size() == 2;
        isa::for_each_written(step, [&](isa::Reg reg) {
            ++writes[reg.id];
            if (copies) from[reg.id] = &step.operands[1];
        });
    });
    std::vector<std::uint64_t> out(from.size());
    for (std::size_t reg = 0; reg < from.size(); ++reg) {
        std::size_t at = reg;
        // Chains are short: an address is moved and converted.
        for (int steps = 0; steps < 8 && writes[at] == 1 && from[at] != nullptr; ++steps) {
            if (from[at]->kind != isa::Operand::Kind::reg) break;
            at = from[at]->reg.id;
        }
        const bool of_param =
            writes[at] == 1 && from[at] != nullptr && from[at]->kind == isa::Operand::Kind::param;
        out[reg] = of_param ? static_cast<std::uint64_t>(from[at]->index) + 1 : registers + at;
    }
    return out;
}

}  // namespace

/// Returns a name of the tensor map that a copy goes through: the parameter, or the register that has its
/// address.
std::uint64_t Copies::map_of(const Step& copy) {
    if (named_.empty()) named_ = names_of_addresses(execution_.program);
    MapListener told;
    isa::visit_effects(copy, told);
    std::uint64_t out = 0;
    if (told.map == nullptr) return out;
    if (told.map->kind == isa::Operand::Kind::param) return static_cast<std::uint64_t>(told.map->index) + 1;
    isa::for_each_register(*told.map, [&](isa::Reg reg) { out = named_[reg.id]; });
    return out;
}

/// Returns the bytes of the current copy's box, which begins at that address, if a proof takes them for
/// granted.
std::optional<std::int64_t> Copies::taken_for_granted(BoxSizes::To to, std::uint32_t shared) {
    const std::uint64_t map = map_of(*execution_.op->step);
    const std::int64_t offset = std::int64_t{shared & isa::peer_window} - sm_90a.shared_base;
    const std::vector<SharedBuffer>& buffers = execution_.program.shared();
    for (const SharedBuffer& buffer : buffers)
        if (offset >= buffer.offset && offset < buffer.offset + buffer.bytes)
            boxes_.place(map, to, offset, buffer.offset + buffer.bytes);
    const auto size = execution_.skeleton.boxes.find(map);
    if (size == execution_.skeleton.boxes.end()) return std::nullopt;
    if (execution_.shared != nullptr) {
        const auto [name, first] = names_.try_emplace(map);
        const auto& params = execution_.program.params();
        if (first && map <= params.size())
            name->second = fmt::format("`{}`", params[static_cast<std::size_t>(map - 1)].name);
        else if (first)
            name->second = fmt::format("the tensor map of line {}", execution_.op->where.line);
        execution_.shared->assume(fmt::format("a box of {} has {}{}", name->second,
                                              to == BoxSizes::To::global ? "at most " : "",
                                              count_of(size->second, "byte")));
    }
    return size->second;
}

/// The first copy of a phase lands whose box is of unknown size: all of them have begun. Where they bring
/// other bytes than in another phase, one of the two never completes, or does so early.
void Copies::compare_boxes(const Mbarrier& mbarrier) {
    const auto found = unsized_.find(&mbarrier);
    if (found == unsized_.end()) return;
    Unsized its = std::move(found->second);
    unsized_.erase(found);
    const std::int64_t bytes = mbarrier.tx() - mbarrier.in_flight();
    // A box may then have brought more than was taken as it began (copy_to).
    if (execution_.shown != nullptr && bytes > its.expected) execution_.shown->lost();
    boxes_.phase(std::move(its.maps), bytes, execution_.where(mbarrier.expected_at()));
    if (boxes_.contradiction()) execution_.stop(*boxes_.contradiction(), std::string(BoxSizes::contradicted));
}

void Copies::bulk_commit() { own().groups.commit(execution_.active); }

void Copies::bulk_wait(int pending) {
    for_each_lane(execution_.active, [&](int lane) {
        const std::uint32_t last = own().groups.awaited(lane, pending);
        own().groups.finish(lane, last);
        if (execution_.shared != nullptr) execution_.shared->left(lane, last);
        std::erase_if(own().running,
                      [&](const Stores::Store& store) { return store.lane == lane && store.number <= last; });
    });
}

void Copies::unfinished(int cta) {
    for (const auto& mbarrier : mbarriers_.of(cta).objects) {
        if (mbarrier->brought == nullptr || execution_.known_in(cta, mbarrier->actor(), mbarrier->landed))
            continue;
        const machine::LetThrough* wait = execution_.waits.for_phase(mbarrier->actor(), mbarrier->landed);
        if (!mbarriers_.let_through(wait, mbarrier->brought))
            report_.add(rules::copy_in_at_end(), mbarrier->brought);
    }
    // Of each lane one copy: the last that is committed, or else the last.
    for (int w = execution_.first(cta); w < execution_.first(cta) + execution_.warps_per_cta; ++w) {
        const Stores& stores = stores_[static_cast<std::size_t>(w)];
        for (int lane = 0; lane < isa::lanes; ++lane) {
            const Step* copy = nullptr;
            for (const Stores::Store& store : stores.running)
                if (store.lane == lane && (copy == nullptr || store.number <= stores.groups.committed(lane)))
                    copy = store.step;
            if (copy != nullptr)
                report_.add(rules::copy_out_at_end(copy->where, end_of(execution_.program)), copy);
        }
    }
}

}  // namespace wgrun::check::abstract
