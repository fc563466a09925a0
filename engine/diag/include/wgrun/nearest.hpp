// Suggestions for names that do not exist. All functions are thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace wgrun {

/// The number of characters to insert, delete, replace, or swap with their neighbour to get from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

namespace isa {

/// The builder's method nearest to `method`, which is none, by correcting one part of its name
/// ("ld_globl_f32": "ld_global_f32"). Empty if no method is near.
std::string nearest_method(std::string_view method);

/// A completion of a method's name, and the summary of its instruction.
struct Continuation {
    std::string method;
    std::string_view summary;
};
/// The completions of the beginning of a method's name up to its next qualifier, if it has the whole name of
/// an instruction and an underscore: for "ld_global_", "ld_global_v2", "ld_global_f32" and more. Only legal
/// forms, sorted by method.
std::vector<Continuation> continuations(std::string_view beginning);

}  // namespace isa
}  // namespace wgrun

#pragma GCC visibility pop
