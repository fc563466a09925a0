// The rows of the catalogue, by family: a file each.
#pragma once

#include <span>

#include "wgrun/rules.hpp"

namespace wgrun::check {

std::span<const Rule> wgmma_rules();        // rules_wgmma.cpp
std::span<const Rule> async_rules();        // rules_async.cpp
std::span<const Rule> memory_rules();       // rules_memory.cpp
std::span<const Rule> threads_rules();      // rules_threads.cpp
std::span<const Rule> performance_rules();  // rules_performance.cpp

}  // namespace wgrun::check
