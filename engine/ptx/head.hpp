// What precedes the body of an entry: how many threads and CTAs, its parameters, and its shared memory.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ptx/lower.hpp"
#include "ptx/symbols.hpp"

namespace wgrun::ptx {

/// What the text or the launch says of CTAs and clusters.
struct Shape {
    Dim3 block{128, 1, 1};
    Dim3 cluster;
    bool threads_given = false, cluster_given = false;
};

/// The program that has no blocks yet, and what its names stand for.
struct Head {
    Program program;
    std::vector<std::pair<std::string_view, Symbol>> names;
    Shape shape;
};

/// Makes the head of `out`. Adds to its errors those of declarations.
Head head_of(const Module& module, const Function& function, const LaunchFacts& facts, Lowered& out);

/// The element type of a variable; none for one that registers do not have.
isa::Type declared_type(const Module& module, const Variable& variable);

/// Bytes of a variable; -1: an array without an extent.
std::int64_t bytes_of(const Module& module, const Variable& variable);

}  // namespace wgrun::ptx
