// What threads do with registers: values, WG-REG, and accesses to registers that a wgmma still uses
// (WG-GROUP).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/walker.hpp"
#include "isa/registers.hpp"

namespace wgrun::check {

isa::Value Walker::value_of(const Operand& operand) const {
    isa::Value value;
    value.uniform = isa::Uniform::grid;
    const auto in_buffer = [&](int buffer) {
        value.buffer = buffer;
        value.offset = operand.offset;
    };
    switch (operand.kind) {
        case Operand::Kind::reg:
            value = state_.values[operand.reg.id].value;
            if (operand.negated) {
                value.thread_shift = -1;
                if (value.constant) value.constant = *value.constant ^ 1;
            }
            break;
        case Operand::Kind::list:
            for (Reg reg : operand.list)
                value.uniform = std::min(value.uniform, state_.values[reg.id].value.uniform);
            break;
        case Operand::Kind::address:
            if (operand.reg) {
                value = state_.values[operand.reg.id].value;
                if (value.offset) value.offset = *value.offset + operand.offset;
                if (value.constant) value.constant = *value.constant + operand.offset;
            } else if (operand.index >= 0) {
                in_buffer(operand.index);
            } else {
                value.constant = operand.offset;
            }
            break;
        case Operand::Kind::shared: in_buffer(operand.index); break;
        case Operand::Kind::imm: value.constant = operand.imm; break;
        case Operand::Kind::param:
        case Operand::Kind::number:
        case Operand::Kind::none: break;
    }
    return value;
}

/// Returns what is known of the destination of `step`.
Known Walker::result(const Step& step) {
    Known out;
    out.written = true;
    out.writer = &step;
    bool has_register = false;
    isa::Uniform least = isa::Uniform::grid;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        if (step.op->operands[i].access == isa::Access::out) continue;
        isa::for_each_register(operand, [&](Reg reg) {
            const Known& source = state_.values[reg.id];
            out.inputs |= source.inputs;
            least = std::min(least, source.value.uniform);
            has_register = true;
        });
        if (operand.kind == Operand::Kind::param) out.inputs |= roots::param(operand.index);
    }
    if (step.op->value) {
        out.value = step.op->value(step, value_of_);
        // (tid.x >> s) + c says which warp it is in CTAs of one dimension alone.
        if (program_.block().x != static_cast<std::uint32_t>(program_.threads()) &&
            std::exchange(out.value.thread_shift, -1) >= 0)
            out.value.constant.reset();
    } else if (has_register)
        out.value.uniform = least;
    if (reads_memory_) out.inputs |= roots::memory;

    if (auto folded = fold(program_, step, known_, fold_budget_)) {
        out.exact = std::move(folded->value);
        out.origin = folded->origin;
        if (!out.exact.uniform()) {
            out.value.uniform = out.exact.spread();
            out.inputs = roots::thread;
        }
    }
    if (const auto constant = out.constant()) {
        out.value.constant = constant;
        out.value.thread_shift = -1;
        out.value.uniform = isa::Uniform::grid;
        out.inputs = 0;
    } else if (!out.exact.known() && !has_register && out.inputs == 0) {
        out.inputs = out.value.uniform < isa::Uniform::cta ? roots::thread : roots::cta;
    }
    return out;
}

void Walker::read(Reg reg, Where where) {
    if (state_.values[reg.id].written) return;
    findings_.add(rules::WG_REG_01, where, "a register is read that nothing has written on any path to here",
                  fmt::format("write it {}", before(where)),
                  {{program_.registers()[reg.id].where, "the register is made here"}});
    state_.values.at(reg.id).written = true;
}

void Walker::read_operands(const Step& step) {
    if (step.guard) touch(step.guard, false);
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        if (plan_.is_async(operand)) continue;
        const isa::Access access = step.op->operands[i].access;
        isa::for_each_register(operand, [&](Reg reg) {
            if (access != isa::Access::out) read(reg, step.where);
            touch(reg, access != isa::Access::in);
        });
    }
}

void Walker::write_operands(const Step& step) {
    std::optional<Known> known;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        if (step.op->operands[i].access == isa::Access::in) continue;
        const Operand& operand = step.operands[i];
        if (!known) {
            if (plan_.is_async(operand)) {
                known.emplace();
                known->written = true;
                known->writer = &step;
                known->inputs = roots::memory;
            } else {
                known = result(step);
            }
        }
        isa::for_each_register(operand, [&](Reg reg) { state_.values.at(reg.id) = *known; });
    }
}

/// Handles a read or write of a register by a thread.
void Walker::touch(Reg reg, bool writes) {
    const int slot = plan_.slots[reg.id];
    if (slot < 0) return;
    drain_needed(reg);
    if (const Flight* flight = pending([&](const MmaRegisters& mma) { return mma.part(slot).has_value(); }))
        overtaken(*flight, *plan_.mmas.at(flight->mma).part(slot), writes ? "written" : "read");
    RegisterState& state = state_.registers.at(static_cast<std::size_t>(slot));
    state.touched = Fact::always();
    state.touched_by = step_;
}

/// Reports an access to a register of `flight`, which nothing has waited for.
void Walker::overtaken(const Flight& flight, Part part, std::string_view access) {
    const Where here = step_->where;
    if (flight.age == Flight::uncommitted && flight.waited) {
        uncommitted(flight, false,
                    {{flight.waited->where, "this wait_group does not cover it"},
                     {here, fmt::format("{} is {} here", name_of(part), access)}});
    } else {
        const Where issued = flight.mma->where;
        findings_.add(rules::accessed_in_flight(part, access, issued, here, flight.age), here,
                      {{issued, "issued here"}});
    }
    assume_waited(flight);
}

void Walker::uncommitted(const Flight& flight, bool at_end, std::vector<Note> notes) {
    const Where issued = flight.mma->where;
    findings_.add(rules::never_committed(issued, at_end), issued, std::move(notes));
}

/// Continues as if the fault of `flight` were fixed, so that one fault gives one finding.
void Walker::assume_waited(Flight covered) {
    for (Flight& flight : state_.flights) {
        if (!flight.pending || (covered.age != Flight::uncommitted && flight.age < covered.age)) continue;
        flight.pending = {};
    }
}

}  // namespace wgrun::check
