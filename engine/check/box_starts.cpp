#include "check/box_starts.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "isa/effects.hpp"
#include "isa/known_bits.hpp"
#include "isa/registers.hpp"

namespace wgrun::check {
namespace {

/// How many low bits of each register are 0 whichever step has written it, at most `most`.
class LowZeros {
  public:
    explicit LowZeros(const Outline& outline) : of_(outline.program().registers().size(), most) {
        for (bool changed = true; changed;) {
            changed = false;
            for_each_step(outline.program(), [&](const Step& step) {
                const int zeros = result(step);
                isa::for_each_written(step, [&](Reg reg) {
                    if (zeros >= of_[reg.id]) return;
                    of_[reg.id] = zeros;
                    changed = true;
                });
            });
        }
    }
    int operator()(Reg reg) const { return of_[reg.id]; }

  private:
    static constexpr int most = 16;

    int result(const Step& step) const {
        if (step.op->known_bits == nullptr || isa::is_float(step.form.type())) return 0;
        const isa::KnownBits bits = step.op->known_bits(step, [this](const Operand& operand) {
            if (operand.kind == Operand::Kind::imm)
                return isa::KnownBits::of(static_cast<std::uint64_t>(operand.imm));
            isa::KnownBits out;
            if (operand.kind == Operand::Kind::reg && operand.reg) out.unknown <<= of_[operand.reg.id];
            return out;
        });
        return std::min(most, std::countr_zero(bits.greatest()));
    }

    std::vector<int> of_;
};

struct Coordinates final : isa::Effects {
    void bulk_copy(const isa::BulkAccess& copy) override {
        coordinates = copy.coordinates;
        global = copy.global;
    }
    const Operand *coordinates = nullptr, *global = nullptr;
};

}  // namespace

std::optional<Where> maybe_misaligned_box(const Outline& outline) {
    constexpr int unit = 4;  // 16 bytes, of elements of one
    std::optional<Where> out;
    std::optional<LowZeros> zeros;
    for_each_step(outline.program(), [&](const Step& step) {
        if (step.op->effects == nullptr || out) return;
        Coordinates found;
        isa::visit_effects(step, found);
        if (found.coordinates == nullptr || found.coordinates->list.empty()) return;
        if (!zeros) zeros.emplace(outline);
        int needed = unit;
        if (found.global != nullptr && found.global->kind == Operand::Kind::param) {
            const Param& map = outline.program().params()[static_cast<std::size_t>(found.global->index)];
            if (map.box) needed = std::countr_zero(static_cast<unsigned>(16 * 8 / bits(map.box->dtype)));
        }
        if ((*zeros)(found.coordinates->list.front()) < needed) out = step.where;
    });
    return out;
}

}  // namespace wgrun::check
