#include "kernel/shared_witness.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/peer_window.hpp"
#include "kernel/synthetic.hpp"
#include "sim/observer.hpp"
#include "wgrun/target.hpp"

namespace wgrun {
namespace {

class SharedWitness final : public sim::Observer {
  public:
    SharedUse seen;

    void after(sim::View view, int warp, std::uint32_t pc) override {
        const sim::Op& op = view.code().ops[pc];
        if (op.step == nullptr || op.step->op->effects == nullptr || view.executed() == 0) return;
        const NamedPlaces named(*op.step);
        const int lane = std::countr_zero(view.executed());
        for (const NamedPlaces::Mbarrier& mbarrier : named.mbarriers) {
            const std::optional<std::int64_t> offset = place(view, warp, lane, *mbarrier.address);
            if (!offset || seen.mbarriers.contains(*offset)) continue;
            for (int rank = 0; rank < view.ctas(); ++rank)
                for (const sim::View::Mbarrier& one : view.mbarriers(rank))
                    seen.mbarriers[one.offset] = one.expected;
        }
        for (const NamedPlaces::Matrix& matrix : named.matrices) {
            const std::optional<std::uint64_t> bits = value(view, warp, lane, *matrix.descriptor);
            if (!bits) continue;
            try {
                const Descriptor fields = Descriptor::decode(*bits);
                seen.matrices[{matrix.is_a, matrix.rows, fields.swizzle}].insert(fields.start -
                                                                                 sm_90a.shared_base);
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

}  // namespace

std::int64_t MatrixKind::bytes() const { return std::int64_t{rows} * std::max(32, width(swizzle)); }

void NamedPlaces::mbarrier(const isa::MbarrierAccess& access) {
    using Kind = isa::MbarrierAccess::Kind;
    mbarriers.push_back({access.address, access.kind == Kind::arrive || access.kind == Kind::expect,
                         access.bytes != nullptr, access.kind == Kind::init ? access.count : nullptr});
}

SharedUse seen_in_shared(const Program& program) {
    SharedWitness witness;
    (void)found_in_every_launch(program, check::Made::by_compiler, &witness);
    return std::move(witness.seen);
}

}  // namespace wgrun
