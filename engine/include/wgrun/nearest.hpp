// What somebody may have meant who wrote a name that does not exist.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace wgrun {

/// How many characters have to be inserted, left out, replaced, or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

namespace isa {

/// The builder's method that is meant by `method`, which is none: one misspelt part of the name mended
/// ("ld_globl_f32": "ld_global_f32"). Empty when none is near.
std::string nearest_method(std::string_view method);

/// A method that is being typed, and the summary of its instruction.
struct Continuation {
    std::string method;
    std::string_view summary;
};
/// What the beginning of a method may go on as, up to its next qualifier, where it has the whole name of an
/// instruction and an underscore: "ld_global_" as "ld_global_v2", "ld_global_f32" and more. Only legal forms,
/// by method.
std::vector<Continuation> continuations(std::string_view beginning);

}  // namespace isa
}  // namespace wgrun

#pragma GCC visibility pop
