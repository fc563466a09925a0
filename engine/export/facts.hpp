// Facts about a kernel for host code, with names that are legal in C and C++.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wgrun/export.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::exporting {

/// One argument of the launch functions.
struct Argument {
    const Param* param;
    std::string name;  ///< in C: the parameter's, changed if C reserves it
    std::vector<std::string>
        extents;       ///< of a tensor map: what the tensor's extents are called, outermost first
    std::string note;  ///< what to pass, in the script's words; may be empty
};

struct Facts {
    const Program& program;
    const LaunchRule& rule;
    std::string script;  ///< "gemm.lua:12"
    std::vector<Argument> arguments;
    gpu::LaunchConfig launch;  ///< all but the grid
    std::string entry;         ///< the kernel's name in the PTX
    std::string ptx_version;   ///< "8.0"

    const std::string& name() const { return program.name(); }
    bool has_maps() const;
};

/// Both must outlive the facts.
Facts facts_of(const Program& program, const LaunchRule& rule,
               const std::optional<Kernel::TextLaunch>& text = {});

/// The name in C of the script's parameter `name`.
const std::string& name_of(const Facts& facts, std::string_view name);

/// The dynamic shared memory of a CTA, in bytes, that needs no attribute.
inline constexpr std::int64_t default_dynamic_shared = 48 << 10;

/// `text` with each @KEY@ replaced.
std::string fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values);

/// "const bf16*", "f32", "tensor map of bf16": the parameter as the script wrote it.
std::string script_type(const Param& param);

/// Comment lines about the grid and the arguments of a launch, each beginning with `prefix`.
std::string launch_comment(const Facts& facts, std::string_view prefix);

/// The enumerators of cuda.h for a tensor map.
struct MapEnumerators {
    std::string_view type, swizzle, fill;
};
MapEnumerators enumerators_of(const TensorBox& box);

/// The declarations with commas between them, in lines of readable width that begin with `indent`.
std::string wrapped(const std::vector<std::string>& declarations, std::string_view indent);

/// "64, 128": numbers as an initializer.
std::string listed(const std::vector<std::int64_t>& numbers);

/// The extents of a tensor as cuTensorMapEncodeTiled has them, the contiguous one first: "A_columns, A_rows".
std::string contiguous_first(const Argument& argument);

}  // namespace wgrun::exporting
