#include "sim/bulk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "isa/combine.hpp"
#include "rules/barrier_words.hpp"
#include "rules/copy_words.hpp"
#include "rules/mbarrier_words.hpp"
#include "sim/cluster.hpp"
#include "sim/reduce.hpp"

namespace wgrun::sim {

using isa::lanes;
using Direction = isa::BulkCopy::Direction;

namespace {

constexpr std::uint32_t unit = 16;        // bytes: of sizes and addresses of linear copies
constexpr std::uint32_t box_align = 128;  // bytes: of a box in shared memory

}  // namespace

// --- issue ---------------------------------------------------------------------------------------------

void Cluster::bulk_copy(const isa::BulkCopy& asked) {
    report_.at(pc_, current_ * lanes + asked.lane, Subject::copy);
    Copy copy{};
    copy.direction = asked.direction;
    copy.reduction = asked.reduction;
    copy.type = asked.type;
    copy.pc = pc_;
    copy.issuer = current_ * lanes + asked.lane;
    if (!global_side(asked, copy) || asked.direction == Direction::prefetch) return;
    if (asked.direction == Direction::to_global) return store_bulk(asked, copy);
    if (asked.direction == Direction::to_cluster) {
        if (!check_shared_side(*cta_, asked.source, copy.span, unit)) return;
        copy.source_cta = rank(*cta_);
        copy.source = asked.source;
    }
    std::optional<Actor> issuer;
    for_each_global_run(copy, [&](std::uint64_t address, const std::byte*, std::uint64_t bytes) {
        if (!issuer) issuer = global_shadow_.issuer(actor(asked.lane));
        global_shadow_.copy_from(*issuer, asked.lane, address, bytes);
    });
    if (asked.multicast == 0) return load_bulk(asked.shared, asked.mbarrier, copy);
    // Data and signal go to the same offset in each CTA.
    for (std::uint32_t left = asked.multicast; left != 0; left &= left - 1) {
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
        if (rank >= ctas_.size()) {
            report_.fault(rules::multicast_outside_cluster(asked.multicast, rank, ctas_.size()));
            return;
        }
        load_bulk(isa::peer_address(asked.shared, rank), isa::peer_address(asked.mbarrier, rank), copy);
    }
}

// Finds the global side of the copy and its number of bytes. Returns false, with a report, when that is
// impossible.
bool Cluster::global_side(const isa::BulkCopy& asked, Copy& copy) {
    if (asked.dims != 0) {
        copy.tensor = global_.tensor(asked.tensor_map);
        if (copy.tensor.map == nullptr) {
            report_.fault({rules::WG_TMA_01,
                           fmt::format("{:#x} is not a tensor map of the launch", asked.tensor_map),
                           "name a parameter that k:tensor_map declares"});
            return false;
        }
        const TensorBox& box = *copy.tensor.map->box;
        if (static_cast<std::size_t>(asked.dims) != box.extents.size()) {
            report_.fault(rules::copy_of_other_dimensions(asked.dims, box.extents.size()));
            return false;
        }
        copy.at = asked.coordinates;
        copy.bytes = static_cast<std::uint32_t>(box.bytes());
        copy.span = static_cast<std::uint32_t>(box.span());
        if (asked.direction != Direction::to_global) return true;
        if (const std::uint64_t start = copy.tensor.map->address; global_.constant(start)) {
            report_.constant_store(static_cast<int>(copy.bytes), global_.place(start));
            return false;
        }
        for (int d = 0; d < asked.dims; ++d)
            if (const std::int32_t x = asked.coordinates[static_cast<std::size_t>(d)]; x < 0) {
                report_.fault(
                    {rules::WG_TMA_01,
                     fmt::format("a store starts at coordinate {} of dimension {}: only loads may start "
                                 "below 0",
                                 x, d),
                     "begin at 0, with a smaller box"});
                return false;
            }
        return true;
    }
    copy.bytes = copy.span = asked.bytes;
    if (asked.bytes % unit != 0 || asked.bytes == 0 || asked.global % unit != 0) {
        report_.fault({rules::WG_TMA_01,
                       fmt::format("a copy of {} bytes at {:#x}: size and addresses are multiples of 16",
                                   asked.bytes, asked.global),
                       "copy whole units of 16 bytes, and what remains by the threads"});
        return false;
    }
    if (asked.direction == Direction::to_cluster) return true;
    copy.global_address = asked.global;
    copy.global = global_.find(asked.global, static_cast<int>(asked.bytes));
    if (copy.global != nullptr) {
        if (asked.direction != Direction::to_global || !global_.constant(asked.global)) return true;
        report_.constant_store(static_cast<int>(asked.bytes), global_.place(asked.global));
        return false;
    }
    report_.global_out_of_bounds(asked.direction == Direction::to_global, static_cast<int>(asked.bytes),
                                 global_.describe(asked.global, static_cast<int>(asked.bytes)));
    return false;
}

/// Calls f(address, data, bytes) for the watched global memory that the copy reads or writes.
template <class F>
void Cluster::for_each_global_run(const Copy& copy, F f) {
    if (copy.tensor.map != nullptr) {
        const std::uint64_t start = copy.tensor.map->address;
        if (const std::uint64_t at = global_shadow_.watched(start))
            for_each_run(copy.tensor, copy.at,
                         [&](std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
                             f(address - start + at, data, bytes);
                         });
    } else if (copy.global != nullptr) {
        if (const std::uint64_t at = global_shadow_.watched(copy.global_address))
            f(at, copy.global, copy.bytes);
    }
}

/// Calls f(offset, bytes) for the shared memory at `address` that the copy reads or writes.
template <class F>
void for_each_shared_run(const Copy& copy, std::uint32_t address, F f) {
    if (copy.tensor.map == nullptr) return f(address - SharedMemory::base, copy.bytes);
    copy.tensor.map->box->for_each_run(
        address, [&](std::uint32_t at, std::uint32_t bytes) { f(at - SharedMemory::base, bytes); });
}

// Returns whether the copy may use this piece of the CTA's shared memory. Faults are reported.
bool Cluster::check_shared_side(Cta& cta, std::uint64_t address, std::uint32_t bytes, std::uint32_t align) {
    if (address % align != 0) {
        report_.fault(rules::copy_misaligned(
            report_.place(static_cast<std::uint32_t>(address) - SharedMemory::base), align));
        return false;
    }
    if (!cta.shared.declared(address, static_cast<int>(bytes))) {
        report_.shared_out_of_bounds(true, static_cast<int>(bytes), address);
        return false;
    }
    const std::uint32_t offset = static_cast<std::uint32_t>(address) - SharedMemory::base;
    if (cta.mbarriers.touched(offset, bytes) != nullptr) report_.mbarrier_touched(offset, "copies");
    return true;
}

void Cluster::load_bulk(std::uint64_t shared, std::uint64_t mbarrier_address, Copy copy) {
    const int lane = copy.issuer % lanes;
    Cta* cta = peer(shared, lane, false);
    if (cta == nullptr ||
        !check_shared_side(*cta, shared, copy.span, copy.tensor.map != nullptr ? box_align : unit))
        return;
    const Found found = find_mbarrier(mbarrier_address, User::engine, lane);
    if (found.mbarrier == nullptr) return;
    if (found.cta != cta) return report_.fault(rules::mbarrier_apart_from_bytes());
    const Mbarrier& mbarrier = *found.mbarrier;
    copy.shared = static_cast<std::uint32_t>(shared);
    check_phase_known(mbarrier, lane, "copies into");
    if (launch_.detect_races) {
        const Epoch epoch(mbarrier.next(), pc_, mbarrier.actor(), lane);
        const Report::Copying copying(report_, mbarrier.actor(), epoch.clock());
        for_each_shared_run(copy, copy.shared, [&](std::uint32_t offset, std::uint32_t bytes) {
            cta->shadow.copy_in(actor(lane), epoch, offset, bytes);
        });
        cta->owe(epoch);
        if (copy.direction == Direction::to_cluster) {
            cta_->shadow.copy_out(actor(lane), epoch, copy.source - SharedMemory::base, copy.span);
            cta_->owe(epoch);
        }
    }
    count_for(found, std::move(copy));
}

namespace {

/// Returns the kernel's address of the global side of the copy; 0 where there is none.
std::uint64_t global_name(const Copy& copy) {
    return copy.tensor.map != nullptr ? copy.tensor.map->handle : copy.global_address;
}

}  // namespace

// The mbarrier counts the bytes of the copy when it lands. A thread that sees them knows what came before the
// copy.
void Cluster::count_for(const Found& found, Copy copy) {
    Mbarrier& mbarrier = *found.mbarrier;
    copy.cta = rank(*found.cta);
    copy.mbarrier = mbarrier.offset();
    copy.serial = mbarrier.phase();
    if (launch_.detect_races) clocks_.release_actors(current_, copy.issuer % lanes, mbarrier.arriving);
    mbarrier.begin_copy(copy.bytes);
    signal({Signal::Kind::copy, copy.cta, copy.mbarrier, copy.serial, copy.bytes, global_name(copy)});
    mbarrier.copy_pc = pc_;
    copies_.push_back(std::move(copy));
}

void Cluster::store_bulk(const isa::BulkCopy& asked, Copy copy) {
    const std::uint32_t align = copy.tensor.map != nullptr ? box_align : unit;
    if (!check_shared_side(*cta_, asked.shared, copy.span, align)) return;
    if (copy.reduction != isa::BulkCopy::Reduction::none &&
        !reduce(copy.reduction, copy.tensor.map != nullptr ? element_type(copy.tensor) : copy.type, nullptr,
                nullptr, 0))
        return report_.fault({rules::WG_TMA_01, "the tensor map's element type has no such reduction",
                              "wgrun isa cp.reduce.async.bulk.tensor lists the types of each"});
    copy.cta = rank(*cta_);
    copy.shared = asked.shared;
    BulkGroups& groups = groups_of(asked.lane);
    copy.serial = ++groups.issued;
    if (launch_.detect_races) {
        const Epoch epoch(copy.serial, pc_, groups.actor, asked.lane);
        for_each_shared_run(copy, copy.shared, [&](std::uint32_t offset, std::uint32_t bytes) {
            cta_->shadow.copy_out(actor(asked.lane), epoch, offset, bytes);
        });
        cta_->owe(epoch);
    }
    std::optional<Actor> issuer;
    for_each_global_run(copy, [&](std::uint64_t address, const std::byte*, std::uint64_t bytes) {
        if (groups.writer < 0) groups.writer = clocks_.add_actor();
        if (!issuer) issuer = global_shadow_.issuer(actor(asked.lane));
        global_shadow_.copy_to(*issuer, Epoch(copy.serial, pc_, groups.writer, asked.lane), address, bytes,
                               copy.reduction != isa::BulkCopy::Reduction::none);
    });
    signal({Signal::Kind::store, copy.cta, 0, 0, copy.bytes, global_name(copy)});
    copies_.push_back(std::move(copy));
}

// --- landing -------------------------------------------------------------------------------------------

void Cluster::land(std::size_t index) {
    fruitless_ = 0;
    if (pollers_) wake_pollers();
    Copy& next = copies_[index];
    Cta& cta = ctas_[static_cast<std::size_t>(next.cta)];
    const std::byte* shared = cta.shared.at(next.shared);
    if (next.direction == Direction::to_global)
        wake(&cta, Warp::Wait::copies, [](const Warp&) { return true; });
    if (next.direction == Direction::to_global && next.read.empty())
        return next.read.assign(shared, shared + next.span);
    const Copy copy = std::move(next);
    if (index + 1 != copies_.size()) copies_[index] = std::move(copies_.back());
    copies_.pop_back();
    if (copy.direction == Direction::to_global)
        write_global(copy);
    else
        write_shared(copy, cta);
    if (launch_.observer != nullptr) launch_.observer->landed(View(*this), copy.pc, copy.issuer);
}

void Cluster::write_global(const Copy& copy) {
    const std::byte* from = copy.read.data();
    std::unique_lock lock(turns_.global_memory(), std::defer_lock);
    if (copy.reduction != isa::BulkCopy::Reduction::none) {
        turns_.await(index_);
        lock.lock();
    }
    if (copy.tensor.map != nullptr)
        store_box(copy.tensor, copy.at, {from, copy.shared, copy.shared}, copy.reduction);
    else if (copy.reduction == isa::BulkCopy::Reduction::none)
        std::memcpy(copy.global, from, copy.bytes);
    else
        reduce(copy.reduction, copy.type, copy.global, from, copy.bytes * 8 / isa::bits(copy.type));
    wrote_ = true;
    for_each_global_run(copy, [&](std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
        global_shadow_.landed(address, data, bytes);
    });
}

namespace {

/// Stores what st.async or red.async delivers.
void store_value(const Copy& copy, std::byte* to) {
    if (copy.reduction == isa::BulkCopy::Reduction::none) {
        std::memcpy(to, copy.read.data(), copy.bytes);
        return;
    }
    std::uint64_t old = 0, value = 0;
    std::memcpy(&old, to, copy.bytes);
    std::memcpy(&value, copy.read.data(), copy.bytes);
    value = isa::combined(copy.reduction, copy.type, false, old, value);
    std::memcpy(to, &value, copy.bytes);
}

}  // namespace

void Cluster::write_shared(const Copy& copy, Cta& cta) {
    std::byte* to = cta.shared.at(copy.shared);
    if (copy.tensor.map != nullptr)
        load_box(copy.tensor, copy.at, {to, copy.shared, copy.shared});
    else if (!copy.read.empty())
        store_value(copy, to);
    else if (copy.direction == Direction::to_shared)
        std::memcpy(to, copy.global, copy.bytes);
    else
        std::memmove(to, ctas_[static_cast<std::size_t>(copy.source_cta)].shared.at(copy.source), copy.bytes);
    Mbarrier* mbarrier = cta.mbarriers.find(copy.mbarrier);
    if (mbarrier == nullptr) return;
    report_.at(copy.pc, copy.issuer, Subject::copy);
    const Mbarrier::Landing landing = mbarrier->land(copy.bytes, copy.serial);
    if (!landing.counts) return;
    check_bytes(*mbarrier, landing.too_many);
    advance(cta, *mbarrier);
}

// --- groups --------------------------------------------------------------------------------------------

BulkGroups* Cluster::find_groups(int lane) {
    if (groups_of_thread_.empty()) return nullptr;
    const std::uint32_t index = groups_of_thread_[static_cast<std::size_t>(current_ * lanes + lane)];
    return index == 0 ? nullptr : &groups_[index - 1];
}

BulkGroups& Cluster::groups_of(int lane) {
    if (BulkGroups* groups = find_groups(lane)) return *groups;
    groups_of_thread_.resize(warps_.size() * lanes);
    BulkGroups made;
    if (launch_.detect_races) made.actor = clocks_.add_actor();
    groups_.push_back(made);
    groups_of_thread_[static_cast<std::size_t>(current_ * lanes + lane)] =
        static_cast<std::uint32_t>(groups_.size());
    return groups_.back();
}

void Cluster::bulk_commit() {
    for (isa::Mask left = active_; left != 0; left &= left - 1)
        if (BulkGroups* groups = find_groups(std::countr_zero(left)))
            groups->committed.push_back(groups->issued);
    signal({Signal::Kind::commit});
}

void Cluster::bulk_wait(int pending, bool read) {
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        BulkGroups* groups = find_groups(lane);
        if (groups == nullptr || groups->committed.size() <= static_cast<std::size_t>(pending)) continue;
        const auto end = groups->committed.end() - pending;
        const std::uint32_t last = *(end - 1);
        const auto runs = [&](const Copy& copy) {
            return copy.direction == Direction::to_global && copy.issuer == current_ * lanes + lane &&
                   copy.serial <= last && !(read && !copy.read.empty());
        };
        if (std::ranges::any_of(copies_, runs)) {
            sleep(Warp::Wait::copies);
            return;
        }
        if (!read) groups->committed.erase(groups->committed.begin(), end);
        const Lanes waiting{isa::Mask{1} << lane, warp().all};
        if (launch_.detect_races) clocks_.learn(current_, waiting, groups->actor, last);
        if (!read && groups->writer >= 0) clocks_.learn(current_, waiting, groups->writer, last);
    }
    signal({Signal::Kind::drained, 0, 0, static_cast<std::uint32_t>(pending), read ? 1U : 0U});
}

}  // namespace wgrun::sim
