// Guarded builds of a kernel with all kinds of waits: both texts are accepted, traced or not.
#include "program/guarded.hpp"

#include "emit/emit.hpp"
#include "tests/assemble/batch.hpp"
#include "tests/catch.hpp"
#include "wgrun/gpu.hpp"

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;

namespace {

Form of(Type type) { return Form().set(Field::type, type); }
Form with(Form form, Field field, std::string_view text) {
    return form.set(field, *isa::parse_value(field, text));
}

/// Waits for an mbarrier (with and without a step guard), for memory in both spaces and widths, at barriers.
Program program() {
    Builder b("waits", 256, {2, 1, 1}, Where::at("k.lua", 1));
    const auto add = [&](std::string_view op, const Form& form, std::vector<Operand> operands,
                         Reg guard = {}) {
        const Step& step = b.add(*isa::find(op), form, std::move(operands), guard);
        return step.operands.empty() ? Reg{} : step.operands[0].reg;
    };
    const int flags = b.param("flags", Type::u64, Dtype::u32);
    b.shared("tile", 1024, 128, {});
    const int full = b.shared("full", 32, 8, {});
    const Reg bar = add("mov", of(Type::u32), {{}, Operand::shared(full, 0)});
    const Reg odd =
        add("setp", with(of(Type::u32), Field::cmp, "gt"), {{}, Operand::of(bar), Operand::number(7)});
    for (const char* wait : {"mbarrier.try_wait.parity", "mbarrier.test_wait.parity"})
        for (const Reg guard : {Reg{}, odd}) {
            b.begin_loop();
            const Reg done = add(wait, {}, {{}, Operand::address(bar, 16), Operand::number(1)}, guard);
            b.loop_condition(add("not", of(Type::pred), {{}, Operand::of(done)}));
            b.end_loop();
        }
    const Reg at = add("ld.param", of(Type::u64), {{}, Operand::param(flags)});
    const auto poll = [&](Type type, std::string_view space, std::string_view sem, Reg address) {
        b.begin_loop();
        const Reg found = add("ld", with(with(of(type), Field::space, space), Field::sem, sem),
                              {{}, Operand::address(address, 8)});
        b.loop_condition(
            add("setp", with(of(type), Field::cmp, "eq"), {{}, Operand::of(found), Operand::number(0)}));
        b.end_loop();
    };
    poll(Type::u32, "global", "acquire.gpu", at);
    poll(Type::s64, "global", "relaxed.sys", at);
    poll(Type::u32, "shared", "acquire.cta", bar);
    poll(Type::f32, "global", "relaxed.gpu", at);
    add("st", with(of(Type::u32), Field::space, "global"), {Operand::address(at, 0), Operand::of(bar)});
    add("bar.sync", {}, {Operand::number(1), Operand::number(64)});
    add("bar.warp.sync", {}, {Operand::number(0xFFFFFFFFLL)});
    add("barrier.cluster.arrive", {}, {});
    add("barrier.cluster.wait", {}, {});
    add("griddepcontrol.wait", {}, {});
    return b.finish();
}

}  // namespace

TEST_CASE("guarded builds assemble") {
    if (test::no_ptxas()) return;
    const Program original = program();
    for (const bool traced : {false, true})
        CHECK_NOTHROW(gpu::ptxas_assemble(emit::ptx(guarded(original, traced).program).text));
}

TEST_CASE("guarded builds compile as CUDA C++") {
    if (test::no_nvrtc()) return;
    const Program original = program();
    for (const bool traced : {false, true})
        CHECK_NOTHROW(gpu::nvrtc_compile(emit::cuda(guarded(original, traced).program).text));
}
