#include "wgrun/simulation_limits.hpp"

namespace wgrun {
namespace {

thread_local SimulationLimits limits_of_thread;

}  // namespace

SimulationLimits SimulationLimits::current() { return limits_of_thread; }

SimulationLimits::Scope::Scope(SimulationLimits limits)
    : timeout_(limits_of_thread.timeout), steps_(limits_of_thread.steps) {
    limits_of_thread = limits;
}
SimulationLimits::Scope::~Scope() { limits_of_thread = {timeout_, steps_}; }

}  // namespace wgrun
