#include "check/abstract/shared_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <span>
#include <utility>

#include "isa/effects.hpp"
#include "isa/generic.hpp"
#include "machine/peers.hpp"

namespace wgrun::check::abstract {

namespace {

constexpr std::size_t most_readers = 64;

/// The accesses of a step that may be to shared memory.
class Told final : public isa::Effects {
  public:
    explicit Told(const Step& step) { isa::visit_effects(step, *this); }
    std::vector<isa::MemoryAccess> accesses;
    bool copies = false, commits = false, waits = false;  ///< cp.async and its groups
    bool of_copies() const { return copies || commits || waits; }
    std::optional<int> pending{};  ///< groups that it does not wait for

  private:
    void copy_async(const isa::AsyncCopy& access) override {
        copies = true;
        accesses.push_back(access);
    }
    void commit_copies() override { commits = true; }
    void wait_copies(std::optional<int> groups) override {
        waits = true;
        pending = groups;
    }
    void memory(const isa::MemoryAccess& access) override {
        using enum isa::Space;
        if (access.space == shared || access.space == shared_cluster || access.space == generic)
            accesses.push_back(access);
    }
};

}  // namespace

void SharedMemory::gap(Property property, std::string reason) {
    gaps_.add(property, execution_.op->where, std::move(reason));
}

template <std::invocable Reason>
void SharedMemory::gap(Property property, Reason reason) {
    if (!gaps_.has(property)) gap(property, reason());
}

namespace {
constexpr std::array of_accesses{Property::shared_races, Property::proxies, Property::initialisation,
                                 Property::bounds};
}

void SharedMemory::assume(const std::string& what) {
    for (const Property property : of_accesses) gaps_.assume(property, what);
}

void SharedMemory::lost(std::string_view what) {
    for (const Property property : of_accesses) gap(property, std::string(what));
    if (Told(*execution_.op->step).of_copies()) gap(Property::groups, std::string(what));
}

// --- who comes after whom ------------------------------------------------------------------------------

bool SharedMemory::comes_after(const Access& before, isa::Mask lanes) const {
    if (!before.over) return false;
    if (before.kind == Access::Kind::settled) return true;
    if (before.kind == Access::Kind::product) {
        for (std::size_t i = 0; i < before.waited.size(); ++i) {
            const int warp = before.group + static_cast<int>(i);
            if (before.waited[i] != 0 && (warp == execution_.warp->number ||
                                          execution_.known(multiplied_by(warp), lanes) >= before.waited[i]))
                return true;
        }
        return false;
    }
    if (before.kind == Access::Kind::copy)
        return execution_.known(landed_at(before.actor, execution_.warps.size()), lanes) >= before.clock;
    return execution_.comes_after(before.actor, before.lanes, before.clock, lanes);
}

/// Whether the async proxy sees what the generic one has done.
bool SharedMemory::is_fenced(const Access& before, isa::Mask lanes) const {
    if (before.kind != Access::Kind::generic && before.kind != Access::Kind::by_thread) return true;
    if (before.actor == execution_.warp->number) return before.clock <= execution_.warp->published;
    return execution_.known(fenced_by(before.actor), lanes) >= before.clock;
}

// --- bytes ---------------------------------------------------------------------------------------------

/// Splits a part, and returns the upper one.
SharedMemory::Cta::iterator SharedMemory::split(Cta& cta, Cta::iterator part, std::uint32_t at) {
    Bytes upper = *part;
    part->hi = upper.lo = at;
    return cta.insert(std::next(part), std::move(upper));
}

/// Calls visit(bytes) for all parts of [lo, hi), those that nobody has accessed too, and joins equal
/// neighbours.
template <class Visit>
void SharedMemory::visit(int rank, std::uint32_t lo, std::uint32_t hi, Visit visit) {
    if (lo == hi) return;
    Cta& cta = ctas_[static_cast<std::size_t>(rank)];
    auto at = std::ranges::lower_bound(cta, lo, {}, &Bytes::lo);
    if (at != cta.begin() && std::prev(at)->hi > lo) at = split(cta, std::prev(at), lo);
    const auto first = at - cta.begin();
    for (std::uint32_t from = lo; from < hi;) {
        if (at == cta.end() || at->lo > from) {
            const std::uint32_t to = at == cta.end() ? hi : std::min(hi, at->lo);
            at = cta.insert(at, {from, to, {}, {}});
        } else if (at->hi > hi) {
            at = std::prev(split(cta, at, hi));
        }
        visit(*at);
        from = at->hi;
        ++at;
    }
    auto joined = cta.begin() + std::max<std::ptrdiff_t>(first - 1, 0), next = std::next(joined);
    for (; next != cta.end() && joined->lo < hi; ++next) {
        if (joined->hi == next->lo && joined->written == next->written && joined->read == next->read)
            joined->hi = next->hi;
        else if (++joined != next)
            *joined = std::move(*next);
    }
    cta.erase(std::next(joined), next);
}

void SharedMemory::write(int cta, std::uint32_t lo, std::uint32_t hi, const Access& by) {
    if (is_over()) return;
    const bool async = by.kind != Access::Kind::generic && by.kind != Access::Kind::by_thread;
    visit(cta, lo, hi, [&](Bytes& bytes) {
        const auto meets = [&](const Access& before, const char* what) {
            if (before.kind == Access::Kind::none) return;
            if (!comes_after(before, by.lanes))
                gap(Property::shared_races, [&] {
                    return fmt::format(
                        "the proof knows of nothing that orders this write of {} behind what {} it",
                        place(lo), what);
                });
            else if (async && !is_fenced(before, by.lanes))
                gap(Property::proxies, [&] {
                    return fmt::format(
                        "the proof knows of no fence.proxy.async between this copy to {} and what {} it "
                        "before",
                        place(lo), what);
                });
        };
        meets(bytes.written, "wrote");
        for (const Access& reader : bytes.read) meets(reader, "read");
        bytes.written = by;
        bytes.read.clear();
    });
}

/// The same of several parts, in order, which are taken apart and put together at once.
template <class Visit>
void SharedMemory::visit_all(int rank, std::span<const Part> parts, Visit visit) {
    Cta& cta = ctas_[static_cast<std::size_t>(rank)];
    Cta out;
    out.reserve(cta.size() + 2 * parts.size());
    const auto add = [&](Bytes&& bytes) {
        if (!out.empty() && out.back().hi == bytes.lo && out.back().written == bytes.written &&
            out.back().read == bytes.read)
            out.back().hi = bytes.hi;
        else
            out.push_back(std::move(bytes));
    };
    auto at = cta.begin();
    for (const auto& [lo, hi] : parts) {
        for (; at != cta.end() && at->hi <= lo; ++at) add(std::move(*at));
        if (at != cta.end() && at->lo < lo) {
            add({at->lo, lo, at->written, at->read});
            at->lo = lo;
        }
        for (std::uint32_t from = lo; from < hi;) {
            const bool accessed = at != cta.end() && at->lo == from;
            const std::uint32_t to = std::min(hi, accessed ? at->hi : at == cta.end() ? hi : at->lo);
            Bytes bytes{from, to, {}, {}};
            if (accessed && at->hi > hi) {
                bytes.written = at->written;
                bytes.read = at->read;
                at->lo = hi;
            } else if (accessed) {
                bytes = std::move(*at++);
            }
            visit(bytes);
            add(std::move(bytes));
            from = to;
        }
    }
    for (; at != cta.end(); ++at) add(std::move(*at));
    cta = std::move(out);
}

void SharedMemory::read(int cta, std::uint32_t lo, std::uint32_t hi, const Access& by) {
    if (!is_over()) visit(cta, lo, hi, [&](Bytes& bytes) { read(bytes, by); });
}

void SharedMemory::read(Bytes& bytes, const Access& by) {
    const bool async = by.kind != Access::Kind::generic;
    if (bytes.written.kind == Access::Kind::none)
        gap(Property::initialisation, [&] {
            return fmt::format("the proof knows of nothing that has written what is read of {}",
                               place(bytes.lo));
        });
    else if (!comes_after(bytes.written, by.lanes))
        for (const Property property : {Property::shared_races, Property::initialisation})
            gap(property, [&] {
                return fmt::format(
                    "the proof knows of nothing that orders this read of {} behind what wrote it",
                    place(bytes.lo));
            });
    else if (async && !is_fenced(bytes.written, by.lanes))
        gap(Property::proxies, [&] {
            return fmt::format(
                "the proof knows of no fence.proxy.async between what wrote {} and the async proxy's read",
                place(bytes.lo));
        });
    const bool product = by.kind == Access::Kind::product;
    const auto same = std::ranges::find_if(bytes.read, [&](const Access& other) {
        return other.kind == by.kind && (product ? other.group == by.group : other.actor == by.actor) &&
               (by.kind != Access::Kind::store || other.lanes == by.lanes || other.lanes == 0);
    });
    if (same == bytes.read.end()) {
        if (bytes.read.size() == most_readers) return lost("too many accesses to follow");
        bytes.read.push_back(by);
        return;
    }
    // The later one is waited for last; of several lanes it counts for all, of a warpgroup for all warps.
    if (same->kind != Access::Kind::generic && !same->over &&
        (by.over || (product && same->clock > by.clock)))
        return;
    const isa::Mask lanes = same->lanes | by.lanes;
    *same = by;
    same->lanes = lanes;
}

bool SharedMemory::inside(std::uint64_t lo, std::int64_t bytes, std::int64_t align) {
    const auto end = static_cast<std::uint64_t>(sm_90a.shared_base) +
                     static_cast<std::uint64_t>(execution_.program.shared_bytes());
    if (lo >= sm_90a.shared_base && lo + static_cast<std::uint64_t>(bytes) <= end &&
        lo % static_cast<std::uint64_t>(align) == 0)
        return true;
    gap(Property::bounds,
        in_some_state(lo % static_cast<std::uint64_t>(align) != 0 ? "the address is not aligned"
                                                                  : "it leaves the kernel's shared memory"));
    return false;
}

// --- steps ---------------------------------------------------------------------------------------------

void SharedMemory::access(const Step& step) {
    const Told told(step);
    if (told.commits) own_copies().groups.commit(execution_.active);
    if (told.waits) wait_copies(told.pending);
    const std::uint32_t copy = told.copies ? own_copies().groups.issue() : 0;
    for (const isa::MemoryAccess& access : told.accesses) {
        const auto address = values_.addresses(*access.address);
        if (!address) {
            // Taken for global memory, as elsewhere, where no address of shared memory can be in it.
            if (access.space == isa::Space::generic && !makes_generic_) continue;
            return lost("where in shared memory it accesses is not known before a launch");
        }
        for (isa::Mask left = execution_.active; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            const auto found =
                execution_.shared_place(access.space, (*address)[static_cast<std::size_t>(lane)]);
            if (!found) continue;
            const machine::SharedPlace& place = *found;
            if (place.whose == machine::SharedPlace::Whose::nobodys)
                return lost("the cluster has no such CTA");
            const int bytes = access.bytes;
            for (const auto& mbarrier : mbarriers_.of(static_cast<int>(place.rank)).objects) {
                const std::uint64_t its = sm_90a.shared_base + std::uint64_t{mbarrier->offset()};
                if (mbarrier->live() && place.address < its + machine::Mbarrier::bytes &&
                    its < place.address + static_cast<std::uint64_t>(bytes))
                    gap(Property::phases, in_some_state("it accesses an mbarrier as data"));
            }
            if (!inside(place.address, bytes, std::bit_floor(static_cast<unsigned>(std::min(bytes, 16)))))
                return;
            const auto lo = static_cast<std::uint32_t>(place.address),
                       hi = lo + static_cast<std::uint32_t>(bytes);
            Access by{.kind = Access::Kind::generic,
                      .actor = execution_.warp->number,
                      .lanes = isa::Mask{1} << lane,
                      .clock = execution_.warp->accesses};
            if (told.copies) {
                by.kind = Access::Kind::by_thread;
                by.over = false;
                by.clock = own_copies().last[static_cast<std::size_t>(lane)] = copy;
            }
            if (access.write)
                write(static_cast<int>(place.rank), lo, hi, by);
            else
                read(static_cast<int>(place.rank), lo, hi, by);
        }
        execution_.warp->touched |= execution_.active;
    }
}

/// What a lane has waited for counts as written by it then: cp.async writes through the generic proxy.
void SharedMemory::wait_copies(std::optional<int> pending) {
    ThreadCopies& own = own_copies();
    for (isa::Mask left = execution_.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint32_t last = pending ? own.groups.awaited(lane, *pending) : own.groups.issued();
        own.groups.finish(lane, last);
        auto& waited = own.waited[static_cast<std::size_t>(lane)];
        waited = std::max(waited, last);
    }
    execution_.warp->touched |= execution_.active;
    if (is_over()) return;
    for (Cta& cta : ctas_)
        for (Bytes& bytes : cta) {
            Access& by = bytes.written;
            if (by.kind != Access::Kind::by_thread || by.actor != execution_.warp->number) continue;
            if (by.clock > own.waited[static_cast<std::size_t>(std::countr_zero(by.lanes))]) continue;
            by.kind = Access::Kind::generic;
            by.over = true;
            by.clock = execution_.warp->accesses;
        }
}

void SharedMemory::end(isa::Mask lanes) {
    const ThreadCopies& own = own_copies();
    for (; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
        if (own.last[lane] > own.waited[lane])
            return gap(Property::groups, in_some_state("a thread ends that has not waited for its cp.async"));
    }
}

void SharedMemory::arrives(int cta, std::uint32_t lo, std::uint32_t hi, const Mbarrier& mbarrier, int lane) {
    if (!inside(lo, hi - lo, 4)) return;
    write(cta, lo, hi,
          {.kind = Access::Kind::copy,
           .actor = mbarrier.actor(),
           .lanes = isa::Mask{1} << lane,
           .clock = mbarrier.next()});
}

void SharedMemory::leaves(std::uint32_t lo, std::uint32_t hi, int lane, std::uint32_t number) {
    if (!inside(lo, hi - lo, 16)) return;
    read(execution_.warp->cta, lo, hi,
         {.kind = Access::Kind::store,
          .over = false,
          .actor = execution_.warp->number,
          .lanes = isa::Mask{1} << lane,
          .clock = number});
}

void SharedMemory::sends(std::uint32_t lo, std::uint32_t hi, const Mbarrier& mbarrier, int lane) {
    if (!inside(lo, hi - lo, 16)) return;
    read(execution_.warp->cta, lo, hi,
         {.kind = Access::Kind::copy,
          .actor = mbarrier.actor(),
          .lanes = isa::Mask{1} << lane,
          .clock = mbarrier.next()});
}

/// Calls ends(access) for each of the kind that is of this number or of one before.
template <class Ends>
void SharedMemory::finish(Access::Kind kind, std::uint32_t number, Ends ends) {
    if (is_over()) return;
    for (Cta& cta : ctas_)
        for (Bytes& bytes : cta)
            for (Access& access : bytes.read)
                if (access.kind == kind && access.clock <= number) ends(access);
}

void SharedMemory::left(int lane, std::uint32_t number) {
    finish(Access::Kind::store, number, [&](Access& access) {
        if (access.over || access.actor != execution_.warp->number || access.lanes != isa::Mask{1} << lane)
            return;
        access.over = true;
        access.clock = execution_.warp->accesses;
    });
    execution_.warp->touched |= isa::Mask{1} << lane;
}

/// A wgmma is one operation of its warpgroup: the wait of one warp is for the parts of all.
void SharedMemory::multiplied(std::uint32_t product) {
    Warp& warp = *execution_.warp;
    if ((warp.all & ~execution_.active) != 0) return;
    ++warp.multiplied;
    const int first = execution_.mates(warp).front().number;
    finish(Access::Kind::product, product, [&](Access& access) {
        std::uint32_t& waited = access.waited[static_cast<std::size_t>(warp.number - first)];
        if (access.group != first || waited != 0) return;
        access.over = true;
        waited = warp.multiplied;
    });
}

void SharedMemory::reads(const Operand& operand, const machine::Matrix& matrix, std::uint32_t product) {
    std::uint64_t bits = static_cast<std::uint64_t>(operand.imm);
    if (operand.kind == Operand::Kind::reg) {
        const std::optional<std::uint64_t> value = values_.first_of(operand.reg);
        if (!value) {
            gap(Property::descriptors,
                fmt::format("the descriptor of {} is not known before a launch", matrix.name));
            return lost("the descriptor is not known before a launch");
        }
        bits = *value;
    }
    Descriptor descriptor;
    try {
        descriptor = Descriptor::decode(bits);
    } catch (const ArgumentError& error) {
        return gap(Property::descriptors, in_some_state(error.what()));
    }
    const std::vector<std::uint32_t> all = machine::units(descriptor, matrix);
    const std::int64_t offset = std::int64_t{descriptor.start} - sm_90a.shared_base;
    const auto& buffers = execution_.program.shared();
    const auto buffer = std::ranges::find_if(buffers, [&](const SharedBuffer& one) {
        return offset >= one.offset && offset < one.offset + one.bytes;
    });
    if (buffer == buffers.end())
        return gap(Property::descriptors, in_some_state("it points to no buffer of the kernel"));
    const std::int64_t within = offset - buffer->offset;
    for (const auto& misfit : {machine::astray(matrix, *buffer, within),
                               machine::misaligned(*buffer, descriptor.swizzle, execution_.program),
                               buffer->tile ? machine::misplaced(matrix, *buffer, within, descriptor)
                                            : machine::inside_pattern(matrix, *buffer, within, descriptor)})
        if (const auto granted = misfit ? machine::granted_place(misfit->message.facts) : std::nullopt)
            gaps_.assume(Property::descriptors, *granted);
        else if (misfit)
            gap(Property::descriptors, in_some_state(misfit->message.text));
    const Access by{.kind = Access::Kind::product,
                    .over = false,
                    .actor = execution_.warp->number,
                    .group = execution_.mates(*execution_.warp).front().number,
                    .lanes = execution_.warp->all,
                    .clock = product};
    std::vector<std::uint32_t> units = all;
    std::ranges::sort(units);
    std::vector<Part> parts;
    for (std::size_t i = 0; i < units.size();) {
        std::size_t next = i + 1;
        while (next < units.size() && units[next] <= units[next - 1] + 16) ++next;
        const std::uint32_t lo = units[i], hi = units[next - 1] + 16;
        if (inside(lo, hi - lo, 16)) parts.emplace_back(lo, hi);
        i = next;
    }
    if (!is_over()) visit_all(execution_.warp->cta, parts, [&](Bytes& bytes) { read(bytes, by); });
}

}  // namespace wgrun::check::abstract
