#include "sim/bulk_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "isa/combine.hpp"
#include "isa/generic.hpp"
#include "machine/peers.hpp"
#include "rules/barrier_words.hpp"
#include "rules/copy_words.hpp"
#include "rules/mbarrier_words.hpp"
#include "sim/reduce.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::sim {

using isa::lanes;
using Direction = isa::BulkCopy::Direction;

namespace {

constexpr std::uint32_t unit = isa::BulkCopy::unit, box_align = isa::BulkCopy::box_align;

/// Does the copy read a tensor map of global memory? It does so until it ends (PTX ISA 9.7.9.25.1).
bool in_global_memory(const isa::BulkCopy& asked) {
    return asked.dims != 0 && isa::space_of(asked.tensor_map) == isa::Space::global;
}

Reached reached_by(const Copy& copy) {
    return copy.direction == Direction::to_global ? Reached::units : Reached::elements;
}

}  // namespace

// --- issue ---------------------------------------------------------------------------------------------

void BulkEngine::bulk_copy(const isa::BulkCopy& asked) {
    report_.at(scene_.pc, scene_.thread(asked.lane), Subject::copy);
    Copy copy{};
    copy.direction = asked.direction;
    copy.reduction = asked.reduction;
    copy.type = asked.type;
    copy.pc = scene_.pc;
    copy.issuer = scene_.thread(asked.lane);
    if (!global_side(asked, copy)) return report_.copy_refused();
    if (asked.direction == Direction::prefetch) return;
    if (scene_.dependents.watches()) touch_global(copy, asked.lane);
    if (asked.direction == Direction::to_global) return store_bulk(asked, copy);
    if (asked.direction == Direction::to_cluster) {
        sends();
        if (!check_shared_side(*scene_.cta, asked.source, copy.span, unit)) return report_.copy_refused();
        copy.source_cta = scene_.rank(*scene_.cta);
        copy.source = asked.source;
    }
    std::optional<Actor> issuer;
    for_each_global_run(copy, [&](std::uint64_t address, const std::byte*, std::uint64_t bytes) {
        if (!issuer) issuer = scene_.global_shadow.issuer(scene_.actor(asked.lane), asked.lane);
        scene_.global_shadow.copy_from(*issuer, asked.lane, address, bytes);
    });
    std::vector<Epoch> ends;
    const auto to = [&](std::uint64_t shared, std::uint64_t mbarrier) {
        if (const Epoch end = load_bulk(shared, mbarrier, copy)) ends.push_back(end);
    };
    if (const auto rank = machine::for_each_target(asked, scene_.ctas.size(), to))
        report_.fault(rules::multicast_outside_cluster(asked.multicast, *rank, scene_.ctas.size()));
    if (issuer || in_global_memory(asked))
        scene_.global_shadow.reads_until(scene_.actor(asked.lane), asked.lane, std::move(ends));
}

// Reports an instruction that sends to a CTA of the cluster where there are no clusters (docs/silicon.md).
void BulkEngine::sends() {
    if (scene_.ctas.size() > 1) return;
    report_.at(scene_.pc, scene_.thread(std::countr_zero(scene_.active)), Subject::copy);
    report_.fault(rules::sent_without_cluster(scene_.code.ops[scene_.pc].step->op->name));
}

// Finds the global side of the copy and its number of bytes. Returns false, with a report, when that is
// impossible.
bool BulkEngine::global_side(const isa::BulkCopy& asked, Copy& copy) {
    if (asked.dims != 0) {
        copy.tensor = scene_.global.tensor(asked.tensor_map, scene_.device);
        if (copy.tensor.map == nullptr) copy.tensor = maps_.find(asked.tensor_map, asked.lane);
        if (copy.tensor.map == nullptr && scene_.makes_up_memory()) {
            if (isa::space_of(asked.tensor_map) == isa::Space::param) copy.handle = asked.tensor_map;
            copy.bytes = unit;
            const BoxSizes* sizes = scene_.launch.synthetic->boxes;
            if (sizes != nullptr && asked.direction == Direction::to_global)
                if (const auto known = sizes->find(copy.handle); known != sizes->end())
                    copy.bytes = known->second;
            copy.span = copy.bytes;
            return copy.somewhere = copy.unsized = true;
        }
        if (copy.tensor.map == nullptr) {
            const isa::Space space = isa::space_of(asked.tensor_map);
            report_.fault(space == isa::Space::local            ? rules::map_in_own_memory("local")
                          : space == isa::Space::shared_cluster ? rules::map_in_own_memory("shared")
                                                                : rules::no_tensor_map(asked.tensor_map));
            return false;
        }
        const TensorBox& box = *copy.tensor.map->box;
        if (static_cast<std::size_t>(asked.dims) != box.extents.size()) {
            report_.fault(rules::copy_of_other_dimensions(asked.dims, box.extents.size()));
            return false;
        }
        if (asked.pixels != box.pixels.has_value()) {
            report_.fault(rules::copy_of_other_mode(asked.pixels));
            return false;
        }
        copy.somewhere = !asked.known.coordinates;
        if (!copy.somewhere) copy.at = {asked.coordinates, asked.offsets};
        // It goes on as if the engine could: whoever waits for it is not to blame.
        if (const std::int64_t element = bits(box.dtype) / 8; copy.at[0] * element % std::int64_t{unit} != 0)
            report_.fault(rules::box_start_misaligned(copy.at[0], element));
        copy.bytes = static_cast<std::uint32_t>(box.bytes());
        copy.span = static_cast<std::uint32_t>(box.span());
        if (!in_memory(copy)) return false;
        if (asked.direction != Direction::to_global) return true;
        if (const std::uint64_t start = copy.tensor.map->address; scene_.global.constant(start)) {
            report_.constant_store(static_cast<int>(copy.bytes), scene_.global.place(start));
            return false;
        }
        if (const auto below = below_zero(*copy.tensor.map, copy.at)) {
            const auto [dimension, x] = *below;
            report_.fault(copy.at[static_cast<std::size_t>(dimension)] == x
                              ? rules::stored_box_below_zero(x, dimension)
                              : rules::stored_pixel_below_zero(x, dimension));
            return false;
        }
        return copy.somewhere || units_in_memory(copy);
    }
    copy.bytes = copy.span = asked.bytes;
    if (asked.bytes % unit != 0 || asked.bytes == 0 || asked.global % unit != 0) {
        report_.fault({rules::WG_TMA_01,
                       fmt::format("a copy of {} at {:#x}: size and addresses are multiples of 16",
                                   count_of(asked.bytes, "byte"), asked.global),
                       "copy whole units of 16 bytes, and what remains by the threads"});
        return false;
    }
    if (asked.direction == Direction::to_cluster) return true;
    copy.global_address = asked.global;
    copy.global = scene_.global.find(asked.global, static_cast<int>(asked.bytes));
    if (copy.global != nullptr) {
        if (asked.direction != Direction::to_global || !scene_.global.constant(asked.global)) return true;
        report_.constant_store(static_cast<int>(asked.bytes), scene_.global.place(asked.global));
        return false;
    }
    if (scene_.makes_up_memory()) return copy.somewhere = true;
    report_.global_out_of_bounds(asked.direction == Direction::to_global, static_cast<int>(asked.bytes),
                                 scene_.global.describe(asked.global, static_cast<int>(asked.bytes)));
    return false;
}

/// Returns whether the elements that the copy names are memory; else reports it. The maps of a launch were
/// compared with their tensors, those in memory describe what programs have written there.
bool BulkEngine::in_memory(const Copy& copy) {
    const TensorMap& map = *copy.tensor.map;
    if (isa::space_of(map.handle) == isa::Space::param || copy.somewhere) return true;
    if (scene_.global.in_buffer(map.address, bytes_of(map))) return true;
    const bool write = copy.direction == Direction::to_global;
    bool inside = true;
    for_each_run(copy.tensor, copy.at, reached_by(copy),
                 [&](std::uint64_t address, const std::byte*, std::uint64_t bytes) {
                     const auto size = static_cast<int>(bytes);
                     if (!inside || (scene_.global.in_buffer(address, size) && copy.tensor.data != nullptr))
                         return;
                     inside = false;
                     report_.global_out_of_bounds(write, size, scene_.global.describe(address, size));
                 });
    return inside;
}

/// Returns whether all memory that the copy of a box writes is the tensor's; else reports it.
bool BulkEngine::units_in_memory(const Copy& copy) {
    const TensorMap& map = *copy.tensor.map;
    const std::int64_t line = map.extents[0] * bits(map.box->dtype) / 8;
    if (line % std::int64_t{unit} == 0) return true;
    bool inside = true;
    for_each_run(copy.tensor, copy.at, Reached::units,
                 [&](std::uint64_t address, const std::byte*, std::uint64_t bytes) {
                     if (!inside || scene_.global.find(address, static_cast<int>(bytes)) != nullptr) return;
                     inside = false;
                     report_.fault(rules::unit_behind_memory(line));
                 });
    return inside;
}

/// Tells what global memory the copy reads or writes, for launches that overlap.
void BulkEngine::touch_global(const Copy& copy, int lane) {
    if (copy.somewhere) return;
    const bool write = copy.direction == Direction::to_global;
    if (copy.tensor.map != nullptr)
        for_each_run(copy.tensor, copy.at, reached_by(copy),
                     [&](std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
                         scene_.dependents.access(write, lane, data, address, bytes);
                     });
    else if (copy.global != nullptr)
        scene_.dependents.access(write, lane, copy.global, copy.global_address, copy.bytes);
}

/// Calls f(address, data, bytes) for the watched global memory that the copy reads or writes.
template <class F>
void BulkEngine::for_each_global_run(const Copy& copy, F f) {
    if (copy.somewhere) return;
    if (copy.tensor.map != nullptr) {
        const std::uint64_t start = copy.tensor.map->address;
        if (const std::uint64_t at = scene_.global_shadow.watched(start))
            for_each_run(copy.tensor, copy.at, reached_by(copy),
                         [&](std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
                             f(address - start + at, data, bytes);
                         });
    } else if (copy.global != nullptr) {
        if (const std::uint64_t at = scene_.global_shadow.watched(copy.global_address))
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
bool BulkEngine::check_shared_side(Cta& cta, std::uint64_t address, std::uint32_t bytes,
                                   std::uint32_t align) {
    if (address % align != 0) {
        report_.fault(rules::copy_misaligned(
            report_.place(static_cast<std::uint32_t>(address) - SharedMemory::base), align));
        return false;
    }
    const std::uint32_t offset = static_cast<std::uint32_t>(address) - SharedMemory::base;
    const Mbarrier* hit = cta.mbarriers.touched(offset, bytes);
    const bool declared = cta.shared.declared(address, static_cast<int>(bytes));
    if (hit != nullptr && (declared || offset >= hit->offset()))
        report_.mbarrier_touched(offset, *hit, "copies");
    else if (!declared)
        report_.shared_out_of_bounds(true, static_cast<int>(bytes), address, hit);
    return declared;
}

// Returns the end of the copy, as the mbarrier tells it.
Epoch BulkEngine::load_bulk(std::uint64_t shared, std::uint64_t mbarrier_address, Copy copy) {
    const int lane = copy.issuer % lanes;
    Cta* cta = scene_.peer(shared, lane, false);
    if (cta == nullptr || !check_shared_side(*cta, shared, copy.span,
                                             copy.tensor.map != nullptr || copy.unsized ? box_align : unit))
        return report_.copy_refused(), Epoch();
    const Mbarriers::Found found = mbarriers_.count(*cta, mbarrier_address, Mbarriers::User::engine, lane);
    if (found.object == nullptr) return report_.copy_refused(), Epoch();
    const Mbarrier& mbarrier = *found.object;
    copy.shared = static_cast<std::uint32_t>(shared);
    const SwizzleMode swizzle =
        copy.tensor.map != nullptr ? copy.tensor.map->box->swizzle : SwizzleMode::none;
    if (swizzle != SwizzleMode::none || !cta->boxes.empty()) {
        const std::uint32_t begin = copy.shared - SharedMemory::base;
        cta->boxes.copied(begin, begin + copy.span, swizzle, scene_.pc);
    }
    Epoch epoch;
    if (scene_.launch.detect_races) {
        epoch = Epoch(mbarrier.next(), scene_.pc, mbarrier.actor(), lane);
        const Report::Copying copying(report_, mbarrier.actor(), epoch.clock());
        const bool reduces = copy.reduction != isa::BulkCopy::Reduction::none;
        if (reduces) report_.reduces(scene_.pc);
        for_each_shared_run(copy, copy.shared, [&](std::uint32_t offset, std::uint32_t bytes) {
            if (reduces) cta->shadow.check_written(offset, bytes);
            cta->shadow.copy_in(scene_.actor(lane), epoch, offset, bytes);
        });
        cta->owe(epoch);
        if (copy.direction == Direction::to_cluster) {
            // Bytes between rows may have no value. A finding names who reads them at the other end.
            const std::uint32_t source = copy.source - SharedMemory::base;
            scene_.cta->shadow.copy_out(scene_.actor(lane), epoch, source, copy.span, false);
            cta->shadow.take_lack(scene_.cta->shadow, source, copy.shared - SharedMemory::base, copy.span);
            scene_.cta->owe(epoch);
        }
    }
    count_for(found, std::move(copy));
    return epoch;
}

namespace {

/// Returns the kernel's address of the global side of the copy; 0 where there is none.
std::uint64_t global_name(const Copy& copy) {
    return copy.tensor.map != nullptr ? copy.tensor.map->handle : copy.global_address;
}

}  // namespace

// The mbarrier counts the bytes of the copy when it lands.
void BulkEngine::count_for(const Mbarriers::Found& found, Copy copy) {
    Mbarrier& mbarrier = *found.object;
    copy.cta = scene_.rank(*found.cta);
    copy.mbarrier = mbarrier.offset();
    copy.serial = mbarrier.phase();
    const std::optional<std::int64_t> bytes =
        copy.unsized ? std::nullopt : std::optional<std::int64_t>(copy.bytes);
    mbarriers_.begin_copy(mbarrier, copy.issuer % lanes, bytes, found.cta != scene_.cta);
    scene_.signal({Signal::Kind::copy, copy.cta, copy.mbarrier, copy.serial, copy.bytes, global_name(copy)});
    (copy.unsized ? unsized_ : copies_).push_back(std::move(copy));
}

/// Returns whether a lane of the current step has just issued the same store.
bool BulkEngine::stores_again(const Copy& before, const Copy& copy) const {
    const int lane = before.issuer % lanes;
    return copy.reduction == isa::BulkCopy::Reduction::none && before.pc == copy.pc &&
           before.direction == Direction::to_global && scene_.thread(lane) == before.issuer &&
           lane < copy.issuer % lanes && (scene_.active >> lane & 1U) != 0 && before.shared == copy.shared &&
           before.bytes == copy.bytes && before.global_address == copy.global_address &&
           before.tensor.map == copy.tensor.map && before.at == copy.at;
}

void BulkEngine::store_bulk(const isa::BulkCopy& asked, Copy copy) {
    const std::uint32_t align = copy.tensor.map != nullptr ? box_align : unit;
    if (!check_shared_side(*scene_.cta, asked.shared, copy.span, align)) return;
    if (copy.reduction != isa::BulkCopy::Reduction::none && !copy.unsized &&
        !reduce(copy.reduction, copy.tensor.map != nullptr ? element_type(copy.tensor) : copy.type, nullptr,
                nullptr, 0))
        return report_.fault({rules::WG_TMA_01, "the tensor map's element type has no such reduction",
                              "wgrun isa cp.reduce.async.bulk.tensor lists the types of each"});
    copy.cta = scene_.rank(*scene_.cta);
    copy.shared = asked.shared;
    if (copy.handle != 0)
        boxes_.stored(copy.handle, static_cast<std::size_t>(copy.cta), copy.shared - SharedMemory::base);
    Storer& storer = this->storer(asked.lane);
    copy.serial = groups().issue();
    if (scene_.launch.detect_races) {
        const Epoch epoch(copy.serial, scene_.pc, storer.actor, asked.lane);
        // What a launch passes decides which elements lie inside the tensor.
        const bool all = copy.tensor.map == nullptr || !scene_.launch.synthetic;
        const auto read = [&](std::uint32_t address, std::uint32_t bytes) {
            scene_.cta->shadow.copy_out(scene_.actor(asked.lane), epoch, address - SharedMemory::base, bytes,
                                        all);
        };
        if (copy.tensor.map != nullptr)
            for_each_stored_run(copy.tensor, copy.at, copy.shared, read);
        else
            read(copy.shared, copy.bytes);
        scene_.cta->owe(epoch);
        if (in_global_memory(asked))
            scene_.global_shadow.reads_until(scene_.actor(asked.lane), asked.lane, {epoch});
    }
    // Lanes that store the same bytes to the same place in one step do no harm to each other.
    const bool again = !copies_.empty() && stores_again(copies_.back(), copy);
    std::optional<Actor> issuer;
    for_each_global_run(copy, [&](std::uint64_t address, const std::byte*, std::uint64_t bytes) {
        if (again) return;
        if (storer.writer < 0) storer.writer = clocks_.add_actor();
        if (!issuer) issuer = scene_.global_shadow.issuer(scene_.actor(asked.lane), asked.lane);
        scene_.global_shadow.copy_to(*issuer, Epoch(copy.serial, scene_.pc, storer.writer, asked.lane),
                                     address, bytes, copy.reduction != isa::BulkCopy::Reduction::none);
    });
    scene_.signal({Signal::Kind::store, copy.cta, 0, 0, copy.bytes, global_name(copy)});
    copies_.push_back(std::move(copy));
}

// --- landing -------------------------------------------------------------------------------------------

void BulkEngine::land(std::size_t index) {
    scene_.landed();
    Copy& next = copies_[index];
    Cta& cta = scene_.ctas[static_cast<std::size_t>(next.cta)];
    const std::byte* shared = cta.shared.at(next.shared);
    if (next.direction == Direction::to_global) scene_.wake_all(&cta, Warp::Wait::copies);
    if (next.direction == Direction::to_global && next.read.empty())
        return next.read.assign(shared, shared + next.span);
    const Copy copy = std::move(next);
    if (index + 1 != copies_.size()) copies_[index] = std::move(copies_.back());
    copies_.pop_back();
    if (copy.direction == Direction::to_global)
        write_global(copy);
    else
        write_shared(copy, cta);
    scene_.signal_landed(copy.pc, copy.issuer);
}

bool BulkEngine::land_unsized() {
    if (unsized_.empty()) return false;
    scene_.landed();
    const Copy& first = unsized_.front();
    const auto together = std::ranges::stable_partition(unsized_, [&](const Copy& copy) {
        return copy.cta != first.cta || copy.mbarrier != first.mbarrier || copy.serial != first.serial;
    });
    const std::vector<Copy> landing(together.begin(), together.end());
    unsized_.erase(together.begin(), unsized_.end());
    compare_boxes(landing);
    for (const Copy& copy : landing) {
        write_shared(copy, scene_.ctas[static_cast<std::size_t>(copy.cta)]);
        scene_.signal_landed(copy.pc, copy.issuer);
    }
    return true;
}

/// Reports copies of one phase, about to land, whose boxes were of other sizes before.
void BulkEngine::compare_boxes(std::span<const Copy> phase) {
    const Copy& first = phase.front();
    const Mbarrier* mbarrier =
        scene_.ctas[static_cast<std::size_t>(first.cta)].mbarriers.find(first.mbarrier);
    if (mbarrier == nullptr || !mbarrier->live() || mbarrier->phase() != first.serial) return;
    std::vector<std::uint64_t> maps;
    for (const Copy& copy : phase) maps.push_back(copy.handle);
    const std::int64_t bytes = mbarrier->tx() - mbarrier->in_flight();
    const std::uint32_t told_at = mbarrier->expected_at();
    if (bytes <= 0 || told_at == machine::no_pc || std::ranges::find(maps, 0U) != maps.end()) return;
    if (const auto other = phases_.brought(std::move(maps), {bytes, told_at}))
        report_.fault_at(
            told_at,
            rules::phase_of_other_bytes(report_.place(*mbarrier), mbarrier->phase(), bytes, other->bytes),
            other->pc, "expected here");
}

void BulkEngine::write_global(const Copy& copy) {
    if (copy.somewhere) return;
    const std::byte* from = copy.read.data();
    std::unique_lock lock(scene_.turns.global_memory(), std::defer_lock);
    if (copy.reduction != isa::BulkCopy::Reduction::none) {
        scene_.turns.await(scene_.index);
        lock.lock();
    }
    if (copy.tensor.map != nullptr)
        store_box(copy.tensor, copy.at, {from, copy.shared, copy.shared}, copy.reduction);
    else if (copy.reduction == isa::BulkCopy::Reduction::none)
        std::memcpy(copy.global, from, copy.bytes);
    else
        reduce(copy.reduction, copy.type, copy.global, from, copy.bytes * 8 / isa::bits(copy.type));
    scene_.wrote = true;
    for_each_global_run(copy, [&](std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
        scene_.global_shadow.landed(address, data, bytes);
    });
}

namespace {

/// Copies or reduces from one CTA's shared memory to another's.
void move_between(const std::byte* from, const Copy& copy, std::byte* to) {
    if (copy.reduction == isa::BulkCopy::Reduction::none)
        std::memmove(to, from, copy.bytes);
    else
        reduce(copy.reduction, copy.type, to, from, copy.bytes * 8 / isa::bits(copy.type));
}

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

void BulkEngine::write_shared(const Copy& copy, Cta& cta) {
    std::byte* to = cta.shared.at(copy.shared);
    if (copy.tensor.map != nullptr)
        load_box(copy.tensor, copy.at, {to, copy.shared, copy.shared});
    else if (!copy.read.empty())
        store_value(copy, to);
    else if (copy.direction == Direction::to_shared && copy.global == nullptr)
        for (std::uint32_t at = 0; at < copy.bytes; at += unit)
            std::memcpy(to + at, scene_.nowhere(unit), unit);
    else if (copy.direction == Direction::to_shared)
        std::memcpy(to, copy.global, copy.bytes);
    else
        move_between(scene_.ctas[static_cast<std::size_t>(copy.source_cta)].shared.at(copy.source), copy, to);
    report_.at(copy.pc, copy.issuer, Subject::copy);
    const std::optional<std::int64_t> bytes =
        copy.unsized ? std::nullopt : std::optional<std::int64_t>(copy.bytes);
    mbarriers_.land(cta, copy.mbarrier, bytes, copy.serial, copy.pc);
}

// --- groups --------------------------------------------------------------------------------------------

const BulkEngine::Storer* BulkEngine::find_storer(int lane) const {
    if (storer_of_thread_.empty()) return nullptr;
    const std::uint32_t at = storer_of_thread_[static_cast<std::size_t>(scene_.thread(lane))];
    return at == 0 ? nullptr : &storers_[at - 1];
}

BulkEngine::Storer& BulkEngine::storer(int lane) {
    storer_of_thread_.resize(scene_.warps.size() * lanes);
    std::uint32_t& at = storer_of_thread_[static_cast<std::size_t>(scene_.thread(lane))];
    if (at == 0) {
        storers_.push_back({scene_.launch.detect_races ? clocks_.add_actor() : 0});
        at = static_cast<std::uint32_t>(storers_.size());
    }
    return storers_[at - 1];
}

bool BulkEngine::stores_as(int actor) const {
    return std::ranges::find(storers_, actor, &Storer::actor) != storers_.end();
}

void BulkEngine::bulk_commit() {
    groups().commit(scene_.active);
    scene_.signal({Signal::Kind::commit});
}

void BulkEngine::bulk_wait(int pending, bool read) {
    for (isa::Mask left = scene_.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint32_t last = groups().awaited(lane, pending);
        if (last == 0) continue;
        const auto runs = [&](const Copy& copy) {
            return copy.direction == Direction::to_global && copy.issuer == scene_.thread(lane) &&
                   copy.serial <= last && !(read && !copy.read.empty());
        };
        if (std::ranges::any_of(copies_, runs)) return scene_.sleep(Warp::Wait::copies);
        if (!read) groups().finish(lane, last);
        const Storer* storer = find_storer(lane);
        if (storer == nullptr) continue;
        const Lanes waiting = scene_.lanes(isa::Mask{1} << lane);
        if (scene_.launch.detect_races) clocks_.learn(scene_.current, waiting, storer->actor, last);
        if (!read && storer->writer >= 0) clocks_.learn(scene_.current, waiting, storer->writer, last);
    }
    scene_.signal({Signal::Kind::drained, 0, 0, static_cast<std::uint32_t>(pending), read ? 1U : 0U});
}

void BulkEngine::reset() {
    copies_.clear();
    unsized_.clear();
    boxes_.reset();
    phases_.reset();
    groups_.assign(scene_.warps.size(), {});
    storers_.clear();
    storer_of_thread_.clear();
}

}  // namespace wgrun::sim
