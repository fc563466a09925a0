// Instructions that PTX spells in several ways, of which the builder has one.
#pragma once

#include <string>

#pragma GCC visibility push(default)

namespace wgrun::ptx {

/// Returns a method's name as the records spell it: barrier_cluster_wait of barrier_cluster_wait_acquire. It
/// has _ for the . and :: of PTX.
std::string usual_method(std::string method);

}  // namespace wgrun::ptx

#pragma GCC visibility pop
