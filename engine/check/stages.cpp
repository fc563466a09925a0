// What wgmma reads and the bulk-copy engine overwrites in a rehearsal: WG-RACE-02, WG-TMA-02, -03.
//
// The first byte of a matrix is certainly read by the wgmma: a copy that covers it overwrites the matrix.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "check/rehearsal.hpp"
#include "check/state.hpp"
#include "program/end.hpp"
#include "rules/copy_words.hpp"
#include "rules/phrases.hpp"

namespace wgrun::check {

/// Hands the effects of a wgmma step to the rehearsal.
class Rehearsal::Multiplier final : public isa::Effects {
  public:
    explicit Multiplier(Rehearsal& rehearsal) : rehearsal_(rehearsal) {}
    void issue_mma(const isa::AsyncMma& mma) override {
        if (mma.a_descriptor != nullptr) rehearsal_.reads_matrix(*mma.a_descriptor, Matrix::a(mma));
        rehearsal_.reads_matrix(*mma.b_descriptor, Matrix::b(mma));
    }
    void commit_mma() override { rehearsal_.commit_group(); }
    void wait_mma(int pending) override { rehearsal_.wait_group(pending); }

  private:
    Rehearsal& rehearsal_;
};

void Rehearsal::multiply(const Step& step) {
    fits_registers(step);
    ++warp_->multiplied;
    Multiplier multiplier(*this);
    isa::tell(step, multiplier);
}

void Rehearsal::reads_matrix(const Operand& operand, const Matrix& read) {
    std::uint64_t bits = static_cast<std::uint64_t>(operand.imm);
    if (operand.kind == Operand::Kind::reg) {
        const auto at = static_cast<std::size_t>(slot(operand.reg));
        if ((active_ & ~warp_->values[at]) != 0) return;
        bits = warp_->registers[at * isa::lanes + static_cast<std::size_t>(std::countr_zero(active_))];
    }
    constexpr std::uint64_t start_mask = (1 << 14) - 1;
    const auto address = static_cast<std::uint32_t>((bits & start_mask) << 4);
    Cta& cta = *warp_->cta;
    for (const Written& written : cta.written) {
        if (address < written.lo || address >= written.hi || anybody_left_) continue;
        const Note copied{written.step->where, "copied here"};
        const std::string matrix = place(address - base);
        if (warp_->known.of(written.mbarrier->actor()) < written.clock) {
            if (let_through(waits_.for_phase(warp_->number, written.mbarrier->actor(), written.clock),
                            written.step))
                break;
            add(rules::copy_not_awaited(rules::unordered("the wgmma of " + name(*warp_), "reads", matrix,
                                                         "a bulk copy", "writes"),
                                        op_->where, place(written.mbarrier->offset())),
                op_->step, {copied});
        } else if (written.box != nullptr && !maybe_stored(address - base)) {
            compare(written, read, bits);
        }
        break;
    }
    auto point = std::ranges::find(cta.points, address, &Point::address);
    if (point == cta.points.end()) point = cta.points.insert(point, Point{address});
    const Point::Reader reader{warp_->number, warp_->multiplied, 0, op_->step, nullptr};
    auto& readers = point->readers;
    if (const auto mine = std::ranges::find(readers, warp_->number, &Point::Reader::warp);
        mine != readers.end())
        *mine = reader;
    else
        readers.push_back(reader);
    warp_->flights.push_back({static_cast<std::size_t>(point - cta.points.begin()), -1});
}

/// Returns whether threads may have written to the buffer, perhaps with its elements in another order.
bool Rehearsal::maybe_stored(std::uint32_t offset) const {
    for (std::size_t b = 0; b < skeleton_.stored.size(); ++b) {
        const SharedBuffer& buffer = program_.shared()[b];
        if (offset >= buffer.offset && offset < buffer.offset + buffer.bytes) return skeleton_.stored[b];
    }
    return true;
}

void Rehearsal::commit_group() {
    for (Warp::Flight& flight : warp_->flights) {
        if (++flight.age != 0) continue;
        for (Point::Reader& reader : warp_->cta->points[flight.point].readers)
            if (reader.warp == warp_->number) reader.committed = op_->step;
    }
}

void Rehearsal::wait_group(int pending) {
    pending = std::min(pending, Flight::oldest);
    const auto set = [&](const Warp::Flight& flight, std::uint32_t clock) {
        for (Point::Reader& reader : warp_->cta->points[flight.point].readers)
            if (reader.warp == warp_->number) reader.clock = clock;
    };
    auto& flights = warp_->flights;
    for (const Warp::Flight& flight : flights)
        if (flight.age >= pending) set(flight, warp_->now);
    std::erase_if(flights, [&](const Warp::Flight& flight) { return flight.age >= pending; });
    for (const Warp::Flight& flight : flights) set(flight, 0);
}

/// Returns whether the current warp knows that a warp of the reader's warpgroup has waited for the wgmma.
bool Rehearsal::known_past(const Point& point, const Point::Reader& reader) const {
    const auto group = [&](int warp) { return local(warps_[static_cast<std::size_t>(warp)]) / 4; };
    return std::ranges::any_of(point.readers, [&](const Point::Reader& mate) {
        if (group(mate.warp) != group(reader.warp) || mate.serial != reader.serial || mate.clock == 0)
            return false;
        return mate.warp == warp_->number || warp_->known.of(mate.warp) >= mate.clock;
    });
}

/// Returns the fix that makes the copy wait for `reader`.
Fix Rehearsal::release_later(const Point::Reader& reader) const {
    const Where issued = reader.step->where;
    std::vector<Remedy> remedies;
    if (reader.committed != nullptr)
        remedies.push_back({insert_after(reader.committed->where, {rules::wgmma_wait_group(0)})});
    else
        remedies.push_back({insert_after(issued, {rules::wgmma_commit_group(), rules::wgmma_wait_group(0)})});
    return {fmt::format("release the stage after a k:wgmma_wait_group that covers the wgmma of line {}",
                        issued.line),
            std::move(remedies)};
}

/// Checks a copy that the mbarrier counts, into addresses [lo, hi) of its CTA.
void Rehearsal::overwrites(const Mbarrier& mbarrier, std::uint32_t lo, std::uint32_t hi) {
    if (anybody_left_) return;
    Cta& cta = *mbarrier.cta;
    for (Point& point : cta.points) {
        if (point.address < lo || point.address >= hi) continue;
        const bool fresh = std::ranges::none_of(cta.written, [&](const Written& written) {
            return point.address >= written.lo && point.address < written.hi;
        });
        for (const Point::Reader& reader : point.readers) {
            if (known_past(point, reader)) continue;
            const Warp& who = warps_[static_cast<std::size_t>(reader.warp)];
            if (let_through(waits_.for_phase(who.number, mbarrier.actor(), mbarrier.next()), op_->step))
                break;
            if (fresh && !maybe_stored(point.address - base)) {
                add(rules::WG_TMA_02, reader.step,
                    fmt::format("the wgmma reads {}, and nothing makes it wait for the copy that fills it",
                                place(point.address - base)),
                    fmt::format("wait for the phase of the copy's mbarrier {}", before(reader.step->where)),
                    {{op_->where, "copied here"}});
                break;
            }
            add(rules::WG_RACE_02, op_->step,
                rules::overwritten_while_read("the copy overwrites " + place(point.address - base),
                                              name(who)),
                release_later(reader), {{reader.step->where, "issued here"}});
            break;
        }
        point.readers.clear();
    }
}

void Rehearsal::bulk_commit() {
    for (Warp::Stores& stores : warp_->stores)
        if ((active_ >> stores.lane & 1U) != 0) stores.groups.push_back(std::exchange(stores.open, nullptr));
}

void Rehearsal::bulk_wait(int pending, bool) {
    for (Warp::Stores& stores : warp_->stores) {
        if ((active_ >> stores.lane & 1U) == 0) continue;
        auto& groups = stores.groups;
        const auto left = std::min(groups.size(), static_cast<std::size_t>(pending));
        groups.erase(groups.begin(), groups.end() - static_cast<std::ptrdiff_t>(left));
    }
}

/// Reports copies still in flight to or from the memory of a CTA that has ended.
void Rehearsal::unfinished(Cta& cta) {
    const auto knows = [&](const Mbarrier& mbarrier) {
        for (int w = cta.first; w < cta.first + warps_per_cta_; ++w)
            if (warps_[static_cast<std::size_t>(w)].known.of(mbarrier.actor()) >= mbarrier.landed)
                return true;
        return false;
    };
    for (const auto& mbarrier : cta.mbarriers) {
        if (mbarrier->brought == nullptr || knows(*mbarrier)) continue;
        if (!let_through(waits_.for_phase(mbarrier->actor(), mbarrier->landed), mbarrier->brought))
            add(rules::copy_in_at_end(), mbarrier->brought);
    }
    for (int w = cta.first; w < cta.first + warps_per_cta_; ++w)
        for (const Warp::Stores& stores : warps_[static_cast<std::size_t>(w)].stores) {
            const Step* copy = stores.open;
            for (const Step* group : stores.groups)
                if (group != nullptr) copy = group;
            if (copy != nullptr) add(rules::copy_out_at_end(copy->where, end_of(program_)), copy);
        }
}

}  // namespace wgrun::check
