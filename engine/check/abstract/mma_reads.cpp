#include "check/abstract/mma_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "check/abstract/shared_memory.hpp"
#include "check/findings.hpp"
#include "rules/copy_words.hpp"
#include "rules/phrases.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::check::abstract {

namespace {

constexpr std::uint32_t descriptor_unit = 16;  // bytes, that a descriptor counts in
constexpr int core_matrix = 128;               // bytes: 8 contiguous rows of 16
constexpr int whole = 0;                       // the lane that stands for the warp in its groups

constexpr const char* as_the_tile = "k:tensor_map(name, tile) of the tile that the descriptor is made from";

std::int64_t line_bytes(const TensorBox& box) { return box.extents[0] * bits(box.dtype) / 8; }

/// Returns whether wgmma may read elements of a tensor map of `brought` as `multiplied`. An integer may hold
/// any bits.
bool stands_for(Dtype brought, isa::Type multiplied) {
    return !is_float(brought) || to_string(brought) == isa::to_string(multiplied) ||
           (brought == Dtype::f32 && multiplied == isa::Type::tf32);
}

/// Returns whether the lines of the box can be those of the descriptor. With a swizzle, their pitch is its
/// width. Lines of whole core matrices may come from a tensor that is already laid out as the tile.
bool lines_fit(const TensorBox& box) {
    const std::int64_t line = line_bytes(box);
    return box.swizzle != SwizzleMode::none || line == width(SwizzleMode::none) || line % core_matrix == 0;
}

}  // namespace

MmaReads::MmaReads(ExecutionState& execution, Faults& report, const Values& values, Mbarriers& mbarriers,
                   const Contents& contents)
    : execution_(execution),
      report_(report),
      values_(values),
      mbarriers_(mbarriers),
      contents_(contents),
      points_(static_cast<std::size_t>(execution.ctas)),
      issuers_(execution.warps.size()),
      issued_(execution.warps.size()) {}

void MmaReads::step() {
    ++own().steps;
    isa::visit_effects(*execution_.op->step, *this);
    if (execution_.warp->state == Warp::State::asleep) --own().steps;
}

/// The warps of a warpgroup issue the same wgmma: those of one number are one operation.
void MmaReads::compare_with_mates() {
    const std::span<const Warp> mates = execution_.mates(*execution_.warp);
    Issued& issued = issued_[static_cast<std::size_t>(mates.front().number)];
    const std::size_t at = own().groups.issued() - issued.first;
    const std::pair its(execution_.op->step, own().groups.opened());
    if (at == issued.steps.size())
        issued.steps.push_back(its);
    else if (issued.steps[at] != its)
        execution_.stop(execution_.op->where,
                        "the warps of a warpgroup do not issue the same wgmma, or commit them otherwise");
    std::uint32_t least = UINT32_MAX;
    for (const Warp& mate : mates)
        least = std::min(least, issuers_[static_cast<std::size_t>(mate.number)].groups.issued());
    for (; issued.first <= least; ++issued.first) issued.steps.erase(issued.steps.begin());
    execution_.wake(Warp::Wait::products,
                    [&](const Warp& warp) { return execution_.mates(warp).data() == mates.data(); });
}

/// Whether a warp of the warpgroup has yet to issue the wgmma of that number. No warp's wait for it ends
/// before (docs/silicon.md).
bool MmaReads::mates_lag(std::uint32_t last) const {
    return std::ranges::any_of(execution_.mates(*execution_.warp), [&](const Warp& mate) {
        return mate.state != Warp::State::ended && mate.state != Warp::State::left &&
               issuers_[static_cast<std::size_t>(mate.number)].groups.issued() < last;
    });
}

void MmaReads::issue_mma(const isa::AsyncMma& mma) {
    own().groups.issue();
    compare_with_mates();
    if (execution_.shared != nullptr) {
        const std::uint32_t product = own().groups.opened();
        if (mma.a_descriptor != nullptr) execution_.shared->reads(*mma.a_descriptor, Matrix::a(mma), product);
        execution_.shared->reads(*mma.b_descriptor, Matrix::b(mma), product);
    }
    if (mma.a_descriptor != nullptr) reads(*mma.a_descriptor, Matrix::a(mma));
    reads(*mma.b_descriptor, Matrix::b(mma));
}

void MmaReads::reads(const Operand& operand, const Matrix& read) {
    std::uint64_t bits = static_cast<std::uint64_t>(operand.imm);
    if (operand.kind == Operand::Kind::reg) {
        const std::optional<std::uint64_t> value = values_.first_of(operand.reg);
        if (!value) return;
        bits = *value;
    }
    constexpr std::uint64_t start_mask = (1 << 14) - 1;
    const auto address = static_cast<std::uint32_t>((bits & start_mask) << 4);
    const Warp& warp = *execution_.warp;
    if (const Written* written = execution_.anybody_left ? nullptr : contents_.at(warp.cta, address)) {
        const Note copied{written->step->where, "copied here"};
        const std::string matrix = execution_.place(address - sm_90a.shared_base);
        const int actor = written->mbarrier->actor();
        if (warp.known.of(actor) >= written->clock) {
            if (written->box != nullptr && !contents_.maybe_stored(address - sm_90a.shared_base))
                compare(*written, read, bits);
        } else if (!mbarriers_.let_through(execution_.waits.for_phase(warp.number, actor, written->clock),
                                           written->step)) {
            report_.fault(
                rules::copy_not_awaited(rules::unordered("the wgmma of " + execution_.name(), "reads", matrix,
                                                         "a bulk copy", "writes"),
                                        execution_.op->where, execution_.place(written->mbarrier->offset())),
                {copied});
        }
    }
    std::vector<Point>& points = this->points(warp.cta);
    auto point = std::ranges::lower_bound(points, address, {}, &Point::address);
    if (point == points.end() || point->address != address) point = points.insert(point, Point{address});
    const Point::Reader reader{warp.number, own().steps,         own().groups.issued(),
                               0,           execution_.op->step, nullptr};
    auto& readers = point->readers;
    const auto mine = std::ranges::lower_bound(readers, warp.number, {}, &Point::Reader::warp);
    if (mine != readers.end() && mine->warp == warp.number)
        *mine = reader;
    else
        readers.insert(mine, reader);
}

/// Calls f(reader) for what the current warp has read.
template <class F>
void MmaReads::for_each_own(F f) {
    for (Point& point : points(execution_.warp->cta))
        for (Point::Reader& reader : point.readers)
            if (reader.warp == execution_.warp->number) f(reader);
}

void MmaReads::commit_mma() {
    own().groups.commit(isa::Mask{1} << whole);
    for_each_own([&](Point::Reader& reader) {
        if (reader.committed == nullptr) reader.committed = execution_.op->step;
    });
}

void MmaReads::wait_mma(int pending) {
    const std::uint32_t last = own().groups.awaited(whole, pending);
    if (mates_lag(last)) return execution_.sleep(Warp::Wait::products);
    own().groups.finish(whole, last);
    if (execution_.shared != nullptr) execution_.shared->multiplied(last);
    for_each_own([&](Point::Reader& reader) {
        if (reader.product <= last && reader.clock == 0) reader.clock = execution_.warp->now;
    });
}

// --- copies that overwrite what is read ----------------------------------------------------------------

/// Whether two warps of a CTA are in one warpgroup.
bool MmaReads::is_mate(int warp, int other) const {
    const auto group = [&](int number) {
        return execution_.local(execution_.warps[static_cast<std::size_t>(number)]) / isa::warps_of_group;
    };
    return group(warp) == group(other);
}

/// Returns whether a warp knows that one of the reader's warpgroup has waited for the wgmma.
bool MmaReads::known_past(const Warp& warp, const Point& point, const Point::Reader& reader) const {
    return std::ranges::any_of(point.readers, [&](const Point::Reader& mate) {
        if (!is_mate(mate.warp, reader.warp) || mate.serial != reader.serial || mate.clock == 0) return false;
        return mate.warp == warp.number || warp.known.of(mate.warp) >= mate.clock;
    });
}

void MmaReads::settle() {
    for (std::vector<Point>& points : points_)
        for (Point& point : points) {
            std::vector<Point::Reader> left;
            std::ranges::copy_if(point.readers, std::back_inserter(left), [&](const Point::Reader& reader) {
                return !std::ranges::all_of(execution_.warps, [&](const Warp& warp) {
                    return warp.state == Warp::State::ended || known_past(warp, point, reader);
                });
            });
            point.readers = std::move(left);
        }
    for (std::vector<Point>& points : points_)
        std::erase_if(points, [](const Point& point) { return point.readers.empty(); });
}

/// Returns the fix that makes the copy wait for `reader`.
Fix MmaReads::release_later(const Point::Reader& reader) {
    const Where issued = reader.step->where;
    std::vector<Remedy> remedies;
    if (reader.committed != nullptr)
        remedies.push_back({insert_after(reader.committed->where, {rules::wgmma_wait_group(0)})});
    else
        remedies.push_back({insert_after(issued, {rules::wgmma_commit_group(), rules::wgmma_wait_group(0)})});
    return {fmt::format("release the stage after a wgmma.wait_group that covers the wgmma of line {}",
                        issued.line),
            std::move(remedies)};
}

void MmaReads::overwritten(const Mbarrier& mbarrier, std::uint32_t lo, std::uint32_t hi) {
    if (execution_.anybody_left) return;
    for (Point& point : points(mbarrier.cta)) {
        if (point.address < lo || point.address >= hi) continue;
        const bool fresh = contents_.at(mbarrier.cta, point.address) == nullptr;
        const std::string matrix = execution_.place(point.address - sm_90a.shared_base);
        for (const Point::Reader& reader : point.readers) {
            if (known_past(*execution_.warp, point, reader)) continue;
            if (mbarriers_.let_through(
                    execution_.waits.for_phase(reader.warp, mbarrier.actor(), mbarrier.next()),
                    execution_.op->step))
                break;
            if (fresh && !contents_.maybe_stored(point.address - sm_90a.shared_base)) {
                report_.add(
                    rules::WG_TMA_02, reader.step,
                    fmt::format("the wgmma reads {}, and nothing makes it wait for the copy that fills it",
                                matrix),
                    fmt::format("wait for the phase of the copy's mbarrier {}", before(reader.step->where)),
                    {{execution_.op->where, "copied here"}});
                break;
            }
            const Warp& who = execution_.warps[static_cast<std::size_t>(reader.warp)];
            report_.fault(
                {rules::WG_RACE_02,
                 rules::overwritten_while_read("the copy overwrites " + matrix, execution_.name(who)),
                 release_later(reader)},
                {{reader.step->where, "issued here"}});
            break;
        }
        point.readers.clear();
    }
}

// --- boxes of tensor maps ------------------------------------------------------------------------------

/// Compares the box of a copy with the matrix that the current wgmma reads. The copy has filled the first
/// byte of the matrix, and no thread has written there.
void MmaReads::compare(const Written& written, const Matrix& read, std::uint64_t bits) {
    if (!compared_.insert({execution_.op->step, written.step, bits}).second) return;
    const TensorBox& box = *written.box;
    const Descriptor descriptor = Descriptor::decode(bits);
    const std::string matrix = execution_.place(descriptor.start - sm_90a.shared_base);
    const auto tell = [&](std::string message, std::string fix) {
        report_.add(rules::WG_TMA_05, written.step, std::move(message), std::move(fix),
                    {{execution_.op->where, "multiplied here"}});
    };
    if (descriptor.swizzle != box.swizzle)
        return tell(
            fmt::format("the copy fills {} with swizzle {}, and the wgmma that multiplies it reads {}",
                        matrix, to_string(box.swizzle), to_string(descriptor.swizzle)),
            "make the tensor map and the descriptor from the same tile");
    const isa::Type type = execution_.op->step->form.type(read.name == 'A' ? isa::Field::a : isa::Field::b);
    if (!stands_for(box.dtype, type))
        return tell(fmt::format("the copy brings {} to {}, and the wgmma that multiplies it reads {}",
                                to_string(box.dtype), matrix, isa::to_string(type)),
                    fmt::format("a tensor of {}, and a tensor map of it", isa::to_string(type)));
    if (!lines_fit(box))
        return tell(
            fmt::format("the box of {} fills {} in lines of {}, and the wgmma that multiplies it "
                        "reads lines of {}",
                        describe(box), matrix, count_of(line_bytes(box), "byte"), width(descriptor.swizzle)),
            as_the_tile);
    const std::vector<std::uint32_t> all = units(descriptor, read);
    const auto missing = [&](std::uint32_t address) {
        return !contents_.maybe_stored(address - sm_90a.shared_base) &&
               !contents_.brought(execution_.warp->cta, address);
    };
    const auto first = std::ranges::find_if(all, missing);
    if (first == all.end()) return;
    const auto per_line = all.size() / static_cast<std::size_t>(read.lines());
    tell(fmt::format(
             "the box of {} fills a part of what the wgmma reads of {}: nothing brings {} of {} bytes, "
             "from {} {} of operand {} on",
             describe(box), matrix, std::ranges::count_if(all, missing) * descriptor_unit,
             all.size() * descriptor_unit, read.mn_major ? "column" : "row",
             static_cast<std::size_t>(first - all.begin()) / per_line, read.name),
         as_the_tile);
}

}  // namespace wgrun::check::abstract
