#include "check/own_maps.hpp"

#include "check/findings.hpp"
#include "check/only_from.hpp"
#include "isa/effects.hpp"
#include "isa/generic.hpp"
#include "rules/copy_words.hpp"

namespace wgrun::check {
namespace {

using isa::Operand;

/// Gives the step an address of that memory, or one that it computes from such?
bool gives(const Step& step, isa::Space space, const std::vector<bool>& elsewhere) {
    if (const auto made = isa::own_space(step)) return *made == space;
    if (step.op->effects != nullptr) return false;
    bool any = false;
    isa::for_each_read(step, [&](isa::Reg reg) { any |= !elsewhere[reg.id]; });
    return any;
}

struct Copies final : isa::Effects {
    const Operand* map = nullptr;
    void bulk_copy(const isa::BulkAccess& copy) override {
        if (copy.coordinates != nullptr) map = copy.global;
    }
};

}  // namespace

std::vector<Diagnostic> through_own_maps(const Program& program) {
    Findings out;
    for (const isa::Space space : {isa::Space::local, isa::Space::shared}) {
        const OnlyFrom own(program, [&](const Step& step, const std::vector<bool>& elsewhere) {
            return gives(step, space, elsewhere);
        });
        for_each_step(program, [&](const Step& step) {
            Copies copies;
            isa::visit_effects(step, copies);
            if (copies.map == nullptr || !copies.map->reg || !own.has(copies.map->reg)) return;
            out.add(rules::map_in_own_memory(space == isa::Space::local ? "local" : "shared"), step.where);
        });
    }
    return std::move(out).sorted(program.where().file);
}

}  // namespace wgrun::check
