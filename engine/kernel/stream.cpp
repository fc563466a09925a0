#include "kernel/stream.hpp"

#include "isa/effects.hpp"

namespace wgrun {
namespace {

/// Which of the two instructions a program has.
struct Control final : isa::Effects {
    explicit Control(const Program& program) {
        for_each_step(program, [&](const Step& step) { isa::visit_effects(step, *this); });
    }
    void launch_dependents() override { lets_begin = true; }
    void wait_for_grids() override { waits = true; }
    bool lets_begin = false, waits = false;
};

}  // namespace

Stream& Stream::of_this_thread() {
    thread_local Stream in_flight;
    return in_flight;
}

void Stream::begin(const Program& program, sim::Overlap& overlap) {
    const Control control(program);
    if (!control.waits) wait();
    for (const Started& launch : started_)
        if (!launch.token.expired()) overlap.before.push_back(launch.touched);
    if (control.lets_begin) overlap.touched = std::make_shared<sim::Touched>(program.name());
}

void Stream::end(const sim::Overlap& overlap, const std::shared_ptr<const void>& token) {
    if (!overlap.early) wait();
    if (overlap.touched != nullptr) started_.push_back({token, overlap.touched});
}

}  // namespace wgrun
