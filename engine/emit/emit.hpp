// A program as text: PTX for the driver and ptxas, CUDA C++ for NVRTC.
#pragma once

#include <string>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::emit {

/// The text and, for each of its lines (from 1), the line of the script that it came from.
struct Text {
    std::string text;
    std::vector<Where> lines;  ///< lines[i] belongs to line i + 1
};

/// Returns PTX for `.target sm_90a`, in the lowest PTX ISA version that has all its forms, with one entry,
/// named like the program.
Text ptx(const Program& program);

/// Returns the same with .file and .loc, so that each line of PTX belongs to its line of the script.
Text ptx_with_lines(const Program& program);

/// Returns the kernel as CUDA C++ (extern "C" __global__): plain C++ where a form has the same meaning,
/// inline assembly elsewhere. The text needs no header. `entry` is the kernel's name there; empty: the
/// program's.
Text cuda(const Program& program, std::string_view entry = {});

/// Returns the same with #line, so that each line belongs to its line of the script.
Text cuda_with_lines(const Program& program);

}  // namespace wgrun::emit
