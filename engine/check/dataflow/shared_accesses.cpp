#include "check/dataflow/shared_accesses.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/dataflow/banks.hpp"
#include "isa/generic.hpp"
#include "rules/copy_words.hpp"
#include "rules/phrases.hpp"

namespace wgrun::check::dataflow {

void SharedAccesses::access(const isa::MemoryAccess& access) {
    if (analysis_.remarks != nullptr) bank_conflicts(analysis_, access);
    if (!access.write) analysis_.loads = true;
    if (access.space == isa::Space::global || access.space == isa::Space::local) return;
    if (access.write) note_stored(*access.address);
    const Region region = accessed(access);
    if (region.cell < 0) return;
    if (!access.write) {
        copied(region, analysis_.step->op->name, false);
        return;
    }
    overwritten(region);
    analysis_.state.write(*analysis_.step, region, Fact::always());
}

/// Notes which buffers may be written through this address.
void SharedAccesses::note_stored(const Operand& address) {
    int buffer = values_.value_of(address).buffer;
    if (address.reg && analysis_.state.values[address.reg.id].origin >= 0)
        buffer = analysis_.state.values[address.reg.id].origin;
    if (buffer >= 0)
        analysis_.stored[static_cast<std::size_t>(buffer)] = true;
    else
        analysis_.stored.assign(analysis_.stored.size(), true);
}

void SharedAccesses::copy(const isa::MemoryAccess& access) {
    note_stored(*access.address);
    const Region region = accessed(access);
    if (region.cell < 0) return;
    overwritten(region);
    analysis_.state.copy(*analysis_.step, region);
}

bool SharedAccesses::copied(const Region& region, std::string_view who, bool by_async_proxy) {
    if (region.cell < 0) return false;
    // If a part of the buffer has been filled, the read may be of that part.
    if (analysis_.state.cells[static_cast<std::size_t>(region.cell)].arrived) return false;
    for (std::size_t i = 0; i < analysis_.state.copies->size(); ++i) {
        const InFlightCopy& flight = (*analysis_.state.copies)[i];
        if (!flight.region.overlaps(region) || !analysis_.holds(Property::groups, flight.pending)) continue;
        analysis_.findings.add(
            rules::WG_GROUP_04, analysis_.step->where,
            fmt::format("{} reads `{}` while a cp.async may still bring it", who,
                        analysis_.buffer_name(region.cell)),
            sentence(by_async_proxy ? "{}, {} and {} {}" : "{0} and {2} {3}",
                     flight.age == Grouped::uncommitted ? rules::cp_async_wait_all()
                                                        : rules::cp_async_wait_group(flight.age),
                     rules::fence_proxy_async(), rules::bar_sync(), before(analysis_.step->where)),
            {{flight.step->where, "issued here"}});
        analysis_.state.copies.own()[i].pending = {};
        return true;
    }
    return false;
}

/// Returns the bytes of shared memory that the threads access.
Region SharedAccesses::accessed(const isa::MemoryAccess& access) const {
    const Operand& operand = *access.address;
    const isa::Value address = values_.value_of(operand);
    if (operand.reg) {
        const Known& base = analysis_.state.values[operand.reg.id];
        if (base.origin >= 0 && base.exact.known()) {
            auto [least, greatest] = base.exact.range();
            if (access.space == isa::Space::generic)
                for (std::int64_t* at : {&least, &greatest})
                    *at = static_cast<std::int64_t>(isa::within_space(static_cast<std::uint64_t>(*at)));
            // All threads together, side by side.
            const bool dense = analysis_.copies != nullptr && analysis_.scopes.empty() &&
                               greatest - least == access.bytes * (analysis_.program.threads() - 1);
            return analysis_.cells.access(base.origin, least + operand.offset,
                                          greatest + operand.offset + access.bytes,
                                          least == greatest || dense);
        }
    }
    if (address.is_descriptor || address.buffer < 0) return {};
    if (!address.offset) return analysis_.cells.somewhere(address.buffer);
    return analysis_.cells.access(address.buffer, *address.offset, *address.offset + access.bytes, true);
}

namespace {

/// Returns the calls that wait for `flight`, after a commit_group if there is none.
template <class... Calls>
std::vector<Remedy> mended_before(Where here, const InFlightMma& flight, Calls... wait) {
    std::vector<Phrase> calls;
    if (flight.age == InFlightMma::uncommitted) calls.push_back(rules::wgmma_commit_group());
    (calls.push_back(std::move(wait)), ...);
    return {{insert_before(here, std::move(calls))}};
}

}  // namespace

/// Reports a write to memory that a wgmma may still read.
void SharedAccesses::overwritten(const Region& region) {
    for (const InFlightMma& flight : *analysis_.state.flights) {
        const bool b = flight.b.overlaps(region);
        if (!b && !flight.a.overlaps(region)) continue;
        const std::string name = analysis_.buffer_name(region.cell);
        const Where here = analysis_.step->where;
        if (analysis_.holds(Property::shared_races, flight.pending)) {
            const int pending = std::max(flight.age, 0);
            analysis_.findings.add(
                rules::WG_RACE_02, here,
                fmt::format("`{}` is written while a wgmma may still read it as operand {}", name,
                            b ? 'B' : 'A'),
                mended_before(here, flight, rules::wgmma_wait_group(pending), rules::bar_sync()),
                {{flight.mma->where, "issued here"}});
            groups_.assume_waited(flight);
        } else if (b && analysis_.holds(Property::shared_races, flight.retired)) {
            // The wait covers its own warpgroup's reads. Others read their own rows of A, but the same B.
            analysis_.findings.add(
                rules::WG_RACE_02, here,
                fmt::format("`{}` is written while the wgmma of another warpgroup may still read it: "
                            "wgmma.wait_group waits for the warpgroup that executes it",
                            name),
                std::vector<Remedy>{{insert_before(here, {rules::bar_sync()})}},
                {{flight.mma->where, "issued here"}});
        } else {
            continue;
        }
        for (InFlightMma& other : analysis_.state.flights.own()) other.retired = {};
        return;
    }
}

void SharedAccesses::fence(std::optional<isa::Space> space) {
    if (machine::ProxyFence(space).orders_shared()) analysis_.state.fence_proxies();
    analysis_.state.proxy_fence = analysis_.step;
}

void SharedAccesses::taken(const isa::BulkAccess& copy) {
    if (analysis_.copies == nullptr || copy.direction != isa::BulkCopy::Direction::to_global) return;
    // However long it is, it takes its first unit.
    const Region source = accessed({isa::Space::shared, false, copy.from, isa::BulkCopy::unit});
    if (source.cell < 0) return;
    for (const CellState::Write* write :
         analysis_.state.cells[static_cast<std::size_t>(source.cell)].unpublished.without_fence())
        if (write->region.overlaps(source) && analysis_.holds(Property::proxies, write->fact))
            analysis_.copies->add(rules::written_before_copy(write->step->where, analysis_.step->where),
                                  analysis_.step->where, {{write->step->where, "written here"}});
}

void SharedAccesses::left_over(Where end) {
    for (const InFlightCopy& flight : *analysis_.state.copies)
        if (analysis_.holds(Property::groups, flight.pending))
            analysis_.findings.add(rules::thread_copy_at_end("the kernel", "", flight.step->where, end),
                                   flight.step->where);
}

}  // namespace wgrun::check::dataflow
