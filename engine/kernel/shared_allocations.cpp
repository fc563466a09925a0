#include "kernel/shared_allocations.hpp"
#include "wgrun/count_of.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wgrun {
namespace {

std::optional<Descriptor> decoded(std::int64_t bits) try {
    return Descriptor::decode(static_cast<std::uint64_t>(bits));
} catch (const Error&) {
    return {};  // the checker tells of it
}

}  // namespace

std::optional<std::int64_t> start_of(std::int64_t descriptor) {
    const std::optional<Descriptor> fields = decoded(descriptor);
    if (!fields) return {};
    return fields->start;
}

SharedAllocations::SharedAllocations(const Program& program, const FirstValues& first, const SharedUse& seen,
                                     const std::vector<std::string>& params)
    : program_(program), first_(first), params_(params), matrices_(seen.matrices) {
    for (const auto& [offset, arrivals] : seen.mbarriers) mbarriers_[offset].arrivals = arrivals;
    for_each_step(program, [&](const Step& step) {
        if (step.op->effects != nullptr) collect(step);
    });
    add_mbarriers();
    add_matrices();
    add_copies();
}

void SharedAllocations::collect(const Step& step) {
    const NamedPlaces named(step);
    for (const NamedPlaces::Mbarrier& one : named.mbarriers) {
        if (!first_.points(*one.address)) continue;
        const std::optional<std::int64_t> offset = first_.of(*one.address);
        if (!offset) continue;
        Mbarrier& mbarrier = mbarriers_[*offset];
        (one.counts_bytes ? mbarrier.counts_bytes : mbarrier.counts_threads) |= one.arrives;
        if (one.address->reg && !first_.fixed(one.address->reg)) ring_begins_.insert(*offset);
        if (one.arrivals != nullptr && !mbarrier.arrivals) mbarrier.arrivals = first_.of(*one.arrivals);
    }
    for (const NamedPlaces::Matrix& one : named.matrices) {
        if (!first_.points(*one.descriptor)) continue;
        const std::optional<std::int64_t> bits = first_.of(*one.descriptor);
        const std::optional<Descriptor> fields = bits ? decoded(*bits) : std::nullopt;
        if (fields) matrices_[{one.is_a, one.rows, fields->swizzle}].insert(fields->start);
    }
    for (const NamedPlaces::Copy& one : named.copies) {
        if (!first_.points(*one.address)) continue;
        if (const std::optional<std::int64_t> byte = first_.of(*one.address))
            copies_[{origin(one.global), one.is_read}].insert(*byte);
    }
}

/// Returns what an address in global memory, or that of a tensor map, is computed from: a parameter, or
/// nothing.
std::string SharedAllocations::origin(const Operand* address) const {
    std::int64_t more = 0;
    Reg reg = address != nullptr ? address->reg : Reg{};
    constexpr int longest = 16;
    for (int i = 0; reg && i < longest; ++i) {
        const Step* const step = first_.writer(reg);
        if (step == nullptr) break;
        Reg source;
        for (std::size_t k = 0; k < step->operands.size(); ++k) {
            const Operand& operand = step->operands[k];
            if (step->op->operands[k].access != isa::Access::in) continue;
            if (operand.kind == Operand::Kind::param) {
                more += operand.offset;
                const std::string& name = params_[static_cast<std::size_t>(operand.index)];
                return more == 0 ? name : fmt::format("{}+{}", name, more);
            }
            isa::for_each_register(operand, [&](Reg one) { source = source ? Reg{} : one; });
        }
        // A conversion adds a window's address, which is no place in the parameter.
        constexpr std::int64_t longest_structure = 1 << 15;
        const std::int64_t added = source ? first_.result(*step, source, 0).value_or(0) : 0;
        if (added < longest_structure) more += added;
        reg = source;
    }
    return {};
}

/// Mbarriers at one distance that expect the same arrivals are the stages of a ring.
void SharedAllocations::add_mbarriers() {
    std::set<std::int64_t> left;
    for (const auto& [offset, mbarrier] : mbarriers_) left.insert(offset);
    while (!left.empty()) {
        const std::int64_t first = *left.begin();
        const Mbarrier& like = mbarriers_[first];
        std::vector<std::int64_t> ring;
        // The ring of the stages that are full may lie beside that of the empty ones.
        const auto is_other = [&](std::int64_t at) {
            const Mbarrier& next = mbarriers_[at];
            return ring_begins_.contains(at) &&
                   ((like.counts_bytes && next.counts_threads) || (like.counts_threads && next.counts_bytes));
        };
        for (const std::int64_t stride : {8, 16}) {
            if (ring.size() > 1) break;
            ring = {first};
            for (std::int64_t next = first + stride;
                 left.contains(next) && mbarriers_[next].arrivals == like.arrivals && !is_other(next);
                 next += stride)
                ring.push_back(next);
        }
        bool counts_bytes = false;
        for (const std::int64_t offset : ring) {
            counts_bytes = counts_bytes || mbarriers_[offset].counts_bytes;
            left.erase(offset);
        }
        const bool several = ring.size() > 1;
        std::string says = several ? fmt::format("{} mbarriers", ring.size()) : "an mbarrier";
        if (like.arrivals)
            says += fmt::format(", {} {}", several ? "each expects" : "expects",
                                count_of(*like.arrivals, "arrival"));
        if (counts_bytes) says += " and the bytes of copies";
        add({counts_bytes ? "full" : several ? "empty" : "mbarrier", std::move(says), 0, std::move(ring)}, 8);
    }
}

/// What begins within the rows of another matrix is a part of its K.
void SharedAllocations::add_matrices() {
    for (const auto& [kind, starts] : matrices_) {
        std::vector<std::int64_t> places;
        for (const std::int64_t start : starts) {
            if (start + 16 > program_.shared_bytes()) break;  // another thread's, where it is no such place
            if (places.empty() || start >= places.back() + kind.bytes()) places.push_back(start);
        }
        if (places.empty()) continue;
        std::string says = fmt::format("{} of wgmma, swizzle {}",
                                       places.size() == 1 ? "a matrix" : "matrices", to_string(kind.swizzle));
        add({kind.is_a ? "A" : "B", std::move(says), 0, std::move(places)}, kind.bytes());
    }
}

/// Where copies of a tensor write one matrix, they write its other stages, too.
void SharedAllocations::add_copies() {
    for (const auto& [copy, bytes] : copies_) {
        const auto& [origin, is_read] = copy;
        std::vector<std::int64_t> others;
        std::optional<std::size_t> matrix;
        for (const std::int64_t byte : bytes) {
            const std::optional<emit::LuaPlace> known = at(byte);
            if (!known)
                others.push_back(byte);
            else if (known->more == 0)
                matrix = known->allocation;
        }
        std::string says = is_read ? "read by copies" : "written by copies";
        if (!origin.empty()) says += (is_read ? " to " : " of ") + origin;
        if (matrix && !origin.empty()) {
            allocations_[*matrix].says += ", " + says;
            extend(*matrix, others);
        } else if (!others.empty()) {
            add({is_read ? "outgoing" : "incoming", std::move(says), 0, std::move(others)}, 16);
        }
    }
}

void SharedAllocations::extend(std::size_t allocation, const std::vector<std::int64_t>& bytes) {
    std::vector<std::int64_t>& places = allocations_[allocation].places;
    for (const std::int64_t byte : bytes) places.push_back(byte - allocations_[allocation].base);
    std::ranges::sort(places);
    std::int64_t part_bytes = 0;
    for (auto area = areas_.begin(); area != areas_.end();) {
        if (area->second.allocation != allocation) {
            ++area;
            continue;
        }
        part_bytes = area->second.end - area->first;
        area = areas_.erase(area);
    }
    mark(allocation, part_bytes);
}

void SharedAllocations::mark(std::size_t allocation, std::int64_t part_bytes) {
    for (std::size_t i = 0; i < allocations_[allocation].places.size(); ++i) {
        const std::int64_t begin = allocations_[allocation].places[i] + allocations_[allocation].base;
        areas_.try_emplace(begin, Area{begin + part_bytes, allocation, i});
    }
}

void SharedAllocations::add(emit::LuaAllocation allocation, std::int64_t part_bytes) {
    for (const SharedBuffer& buffer : program_.shared())
        if (buffer.offset <= allocation.places.front()) allocation.base = buffer.offset;
    for (std::int64_t& place : allocation.places) place -= allocation.base;
    const int count = ++named_[allocation.name];
    if (count > 1) allocation.name += fmt::format("_{}", count);
    allocations_.push_back(std::move(allocation));
    mark(allocations_.size() - 1, part_bytes);
}

std::optional<emit::LuaPlace> SharedAllocations::at(std::int64_t byte) const {
    auto found = areas_.upper_bound(byte);
    if (found == areas_.begin()) return {};
    --found;
    const auto& [begin, area] = *found;
    if (byte >= area.end) return {};
    return emit::LuaPlace{area.allocation, area.part, byte - begin};
}

}  // namespace wgrun
