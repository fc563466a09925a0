// What attempts to wait for an mbarrier that are in vain lead to, by the loops that they are made in.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "flow/graph.hpp"

namespace wgrun::sim {

/// Of the innermost loop around an attempt.
enum class Attempts : std::uint8_t {
    until_success,  ///< nothing but a success is seen to end it, or there is none
    counted,        ///< it ends at some time, and the kernel goes on
    trapped,        ///< it, or a way out of it, traps: the kernel ends instead of going on
};

/// Returns this for the steps that wait for mbarriers, where it is not `until_success`.
std::unordered_map<const isa::Step*, Attempts> attempts_in_loops(const flow::Graph& graph);

}  // namespace wgrun::sim
