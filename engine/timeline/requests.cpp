#include "timeline/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "wgrun/bank.hpp"

namespace wgrun::timeline {
namespace {

constexpr std::uint64_t sector = sm_90a.sector;

/// The first access of a step: that of an atomic is the load.
class FirstAccess final : public isa::Effects {
  public:
    explicit FirstAccess(const isa::Step& step) { isa::visit_effects(step, *this); }
    std::optional<isa::MemoryAccess> access{};

  private:
    void memory(const isa::MemoryAccess& of) override {
        if (!access) access = of;
    }
};

std::int64_t sectors_between(std::uint64_t begin, std::uint64_t end) {
    return static_cast<std::int64_t>((end + sector - 1) / sector - begin / sector);
}
std::int64_t sectors_of(std::uint64_t bytes) { return sectors_between(0, bytes); }

Units sectors(std::span<const std::uint64_t> addresses, int bytes) {
    const auto size = static_cast<std::uint64_t>(bytes);
    const std::set<std::uint64_t> places(addresses.begin(), addresses.end());
    std::set<std::uint64_t> touched;
    for (const std::uint64_t place : places)
        for (std::uint64_t at = place / sector; at * sector < place + size; ++at) touched.insert(at);
    return {static_cast<std::int64_t>(touched.size()), sectors_of(places.size() * size)};
}

/// Lanes that are served together are those of a phase; some may be missing.
Units passes(std::span<const std::uint64_t> addresses, isa::Mask executed, int bytes) {
    const auto together =
        static_cast<std::size_t>(std::min(isa::lanes, sm_90a.banks * sm_90a.bank_bytes / bytes));
    Units out;
    for (std::size_t first = 0; first < addresses.size(); first += together) {
        std::vector<std::uint32_t> phase;
        for (std::size_t lane = first; lane < std::min(first + together, addresses.size()); ++lane)
            if ((executed >> lane & 1) != 0) phase.push_back(static_cast<std::uint32_t>(addresses[lane]));
        if (phase.empty()) continue;
        out.taken += bank_phases(phase, bytes).front().degree;
        ++out.needed;
    }
    return out;
}

}  // namespace

void Requests::begin(const sim::Code& code) {
    steps_.resize(code.ops.size());
    for (std::size_t pc = 0; pc < steps_.size(); ++pc) {
        const isa::Step* step = code.ops[pc].step;
        if (step == nullptr) continue;
        Step& to = steps_[pc];
        to.access = FirstAccess(*step).access;
        if (!to.access) continue;
        constexpr int rows = 8, widest = 16;
        const bool matrices = step->form.has(isa::Field::num);  // ldmatrix and stmatrix: a row from each lane
        if (matrices) to.lanes = rows * step->form.get(isa::Field::num);
        const bool counted = to.access->space == isa::Space::global || isa::is_shared(to.access->space);
        if (!counted || (step->op->taken_by != isa::Participants::thread && !matrices) ||
            to.access->bytes > widest)
            to.access.reset();
    }
}

void Requests::before(sim::View view, int warp, std::uint32_t pc) {
    pc_ = pc;
    const Step& step = steps_[pc];
    if (!step.access) return;
    const isa::Operand& address = *step.access->address;
    addresses_.fill(static_cast<std::uint64_t>(address.offset));
    if (!address.reg) return;
    const std::byte* base = view.lanes_of(warp, address.reg);
    const bool wide = isa::bits(view.program().registers()[address.reg.id].type) == 64;
    for (std::size_t lane = 0; lane < addresses_.size(); ++lane)
        addresses_[lane] += wide ? reinterpret_cast<const std::uint64_t*>(base)[lane]
                                 : reinterpret_cast<const std::uint32_t*>(base)[lane];
}

Units Requests::after(std::uint32_t pc, isa::Mask executed) {
    Step& step = steps_[pc];
    if (!step.access || executed == 0) return {};
    const int bytes = step.access->bytes;
    Units out;
    if (isa::is_shared(step.access->space)) {
        out = passes(std::span(addresses_).first(static_cast<std::size_t>(step.lanes)), executed, bytes);
    } else {
        std::vector<std::uint64_t> addresses;
        for (std::size_t lane = 0; lane < addresses_.size(); ++lane)
            if ((executed >> lane & 1) != 0) addresses.push_back(addresses_[lane]);
        out = sectors(addresses, bytes);
    }
    add(step, out);
    return out;
}

/// Each line of a box begins on a sector, where its strides and its place are such.
void Requests::copied(sim::View view, const sim::Signal& copy) {
    Step& step = steps_[pc_];
    const std::vector<Param>& params = view.program().params();
    Units units{sectors_between(copy.global, copy.global + copy.bytes), sectors_of(copy.bytes)};
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (params[i].type != isa::Type::tensormap || view.param(static_cast<int>(i)) != copy.global)
            continue;
        if (!params[i].box) return;
        step.box = &*params[i].box;
        std::int64_t lines = 1;
        for (std::size_t dim = 1; dim < step.box->extents.size(); ++dim) lines *= step.box->extents[dim];
        units.taken = lines * sectors_of(static_cast<std::uint64_t>(step.box->bytes() / lines));
    }
    add(step, units);
}

void Requests::add(Step& step, Units units) {
    ++step.count;
    step.sum.taken += units.taken;
    step.sum.needed += units.needed;
}

std::vector<Timeline::Requests> Requests::list(const sim::Code& code) const {
    std::vector<Timeline::Requests> out;
    for (std::size_t pc = 0; pc < steps_.size(); ++pc) {
        const Step& step = steps_[pc];
        if (step.count == 0) continue;
        Timeline::Requests of;
        of.where = code.ops[pc].where;
        const isa::Step& its = *code.ops[pc].step;
        of.what = its.op->name;
        if (its.form.has(isa::Field::space))
            of.what += fmt::format(".{}", isa::spelled(isa::Field::space, its.form.get(isa::Field::space)));
        if (step.box != nullptr) of.what += fmt::format(", swizzle {}", to_string(step.box->swizzle));
        of.shared = step.access && isa::is_shared(step.access->space);
        const auto same = std::ranges::find_if(out, [&](const Timeline::Requests& other) {
            return other.where == of.where && other.what == of.what && other.shared == of.shared;
        });
        Timeline::Requests& to = same == out.end() ? out.emplace_back(std::move(of)) : *same;
        to.count += step.count;
        to.units += static_cast<std::uint64_t>(step.sum.taken);
        to.needed += static_cast<std::uint64_t>(step.sum.needed);
    }
    return out;
}

}  // namespace wgrun::timeline
