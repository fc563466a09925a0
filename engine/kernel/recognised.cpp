#include "kernel/recognised.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>

#include "isa/effects.hpp"
#include "isa/peer_window.hpp"
#include "kernel/made_up.hpp"
#include "sim/observer.hpp"
#include "wgrun/target.hpp"
#include "wgrun/tile.hpp"

namespace wgrun {
namespace {

/// What a step names, as it is written.
struct NamedPlaces final : isa::Effects {
    std::vector<const Operand*> mbarriers, descriptors;
    void mbarrier(const isa::MbarrierAccess& access) override { mbarriers.push_back(access.address); }
    void counted(const Operand& mbarrier) override { mbarriers.push_back(&mbarrier); }
    void arrive_copies(const Operand& mbarrier) override { mbarriers.push_back(&mbarrier); }
    void issue_mma(const isa::AsyncMma& mma) override {
        if (mma.a_descriptor != nullptr) descriptors.push_back(mma.a_descriptor);
        descriptors.push_back(mma.b_descriptor);
    }
};

class SharedWitness final : public sim::Observer {
  public:
    struct Matrix {
        std::int64_t start;
        SwizzleMode swizzle;
        auto operator<=>(const Matrix&) const = default;
    };
    struct Mbarrier {
        std::int64_t expected;
        int name = -1, stage = -1;
    };
    std::map<std::int64_t, Mbarrier> mbarriers;  ///< by their offset
    std::map<int, std::set<std::int64_t>> at;    ///< by line: mbarriers that its step names
    std::map<int, std::set<Matrix>> read;        ///< by line: matrices

    void after(sim::View view, int warp, std::uint32_t pc) override {
        const sim::Op& op = view.code().ops[pc];
        if (op.step == nullptr || op.step->op->effects == nullptr || view.executed() == 0) return;
        NamedPlaces named;
        isa::tell(*op.step, named);
        const int lane = std::countr_zero(view.executed());
        for (const Operand* const address : named.mbarriers) {
            const std::optional<std::int64_t> offset = place(view, warp, lane, *address);
            if (!offset) continue;
            at[op.where.line].insert(*offset);
            if (mbarriers.contains(*offset)) continue;
            for (int rank = 0; rank < view.ctas(); ++rank)
                for (const sim::View::Mbarrier& one : view.mbarriers(rank))
                    mbarriers[one.offset].expected = one.expected;
        }
        for (const Operand* const descriptor : named.descriptors) {
            const std::optional<std::uint64_t> bits = value(view, warp, lane, *descriptor);
            if (!bits) continue;
            try {
                const Descriptor fields = Descriptor::decode(*bits);
                read[op.where.line].insert({fields.start - sm_90a.shared_base, fields.swizzle});
            } catch (const Error&) {  // the checker tells of it
            }
        }
    }

  private:
    static std::optional<std::uint64_t> value(sim::View& view, int warp, int lane, const Operand& operand) {
        if (!operand.reg) return static_cast<std::uint64_t>(operand.imm);
        const std::byte* const lanes = view.lanes_of(warp, operand.reg);
        if ((view.written(warp, operand.reg) >> lane & 1U) == 0) return {};
        const bool wide = isa::bits(view.program().registers()[operand.reg.id].type) == 64;
        std::uint64_t out = 0;
        std::memcpy(&out, lanes + static_cast<std::ptrdiff_t>(lane) * (wide ? 8 : 4), wide ? 8 : 4);
        return out;
    }
    /// Of whichever CTA of the cluster.
    static std::optional<std::int64_t> place(sim::View& view, int warp, int lane, const Operand& address) {
        if (!address.reg) {
            if (address.index < 0) return {};
            return view.program().shared()[static_cast<std::size_t>(address.index)].offset + address.offset;
        }
        const std::optional<std::uint64_t> base = value(view, warp, lane, address);
        if (!base) return {};
        return static_cast<std::int64_t>((*base + static_cast<std::uint64_t>(address.offset)) &
                                         isa::peer_window) -
               sm_90a.shared_base;
    }
};

/// Mbarriers at one distance that expect the same arrivals are the stages of a ring.
void name_mbarriers(SharedWitness& seen, Recognised& out) {
    int rings = 0, single = 0;
    for (auto first = seen.mbarriers.begin(); first != seen.mbarriers.end(); ++first) {
        if (first->second.name >= 0) continue;
        std::vector<SharedWitness::Mbarrier*> stages;
        std::int64_t apart = 0;
        for (const std::int64_t stride : {8, 16}) {
            std::vector<SharedWitness::Mbarrier*> found{&first->second};
            for (auto next = seen.mbarriers.find(first->first + stride);
                 next != seen.mbarriers.end() && next->second.name < 0 &&
                 next->second.expected == first->second.expected;
                 next = seen.mbarriers.find(next->first + stride))
                found.push_back(&next->second);
            if (found.size() > stages.size()) stages = std::move(found), apart = stride;
        }
        const bool ring = stages.size() > 1;
        const int name = ring ? ++rings : ++single;
        for (std::size_t i = 0; i < stages.size(); ++i) {
            stages[i]->name = name;
            stages[i]->stage = ring ? static_cast<int>(i) : -1;
        }
        const std::int64_t expected = first->second.expected;
        const std::string arrivals = fmt::format("{} arrival{}", expected, expected == 1 ? "" : "s");
        out.things.push_back(ring ? fmt::format("ring_{}: {} mbarriers at byte {:#x} of shared memory, {} "
                                                "bytes apart, each of which expects {}",
                                                name, stages.size(), first->first, apart, arrivals)
                                  : fmt::format("mbarrier_{}: at byte {:#x} of shared memory, expects {}",
                                                name, first->first, arrivals));
    }
}

}  // namespace

Recognised recognised(const Program& program) {
    Recognised out;
    SharedWitness seen;
    (void)found_in_every_launch(program, &seen);
    name_mbarriers(seen, out);
    for (const auto& [line, offsets] : seen.at) {
        std::set<std::string> names;
        for (const std::int64_t offset : offsets) {
            const auto found = seen.mbarriers.find(offset);
            if (found == seen.mbarriers.end() || found->second.name < 0) continue;
            const auto& [expected, name, stage] = found->second;
            names.insert(stage < 0             ? fmt::format("mbarrier_{}", name)
                         : offsets.size() == 1 ? fmt::format("ring_{}[{}]", name, stage)
                                               : fmt::format("ring_{}", name));
        }
        for (const std::string& name : names) out.lines[line] += (out.lines[line].empty() ? "" : ", ") + name;
    }
    std::map<SharedWitness::Matrix, int> matrices;
    for (const auto& [line, places] : seen.read)
        for (const SharedWitness::Matrix& place : places) matrices.try_emplace(place);
    int count = 0;
    for (auto& [place, number] : matrices) {
        number = ++count;
        out.things.push_back(
            fmt::format("matrix_{}: at byte {:#x} of shared memory, swizzle {}, read by wgmma", number,
                        place.start, to_string(place.swizzle)));
    }
    for (const auto& [line, places] : seen.read)
        for (const SharedWitness::Matrix& place : places)
            out.lines[line] +=
                fmt::format("{}matrix_{}", out.lines[line].empty() ? "" : ", ", matrices[place]);
    return out;
}

}  // namespace wgrun
