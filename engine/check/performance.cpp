#include "check/performance.hpp"

#include <utility>

#include "check/walker.hpp"

namespace wgrun::check {

std::vector<Diagnostic> performance(const Program& program) {
    Findings laws, remarks;
    Walker walker(program, laws);
    walker.watch_speed(remarks);
    walker.run();
    return std::move(remarks).sorted(program.where().file);
}

}  // namespace wgrun::check
