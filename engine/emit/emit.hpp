// A program as text: PTX for the driver and ptxas, CUDA C++ for NVRTC.
#pragma once

#include <string>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::emit {

/// Text and, for each of its lines (from 1), the line of the script that it came from.
struct Text {
    std::string text;
    std::vector<Where> lines;  ///< lines[i] belongs to line i + 1
};

/// PTX for `.target sm_90a`, in the least PTX ISA version that has all its forms. One entry, named as the
/// program.
Text ptx(const Program& program);

/// The same with .file and .loc: each line of PTX belongs to the line of the script that it came from.
Text ptx_with_lines(const Program& program);

/// The same kernel as CUDA C++ (extern "C" __global__): plain C++ where there is a form with the same
/// meaning, inline assembly elsewhere. Needs no header. `entry` is what it is called there, if not as the
/// program.
Text cuda(const Program& program, std::string_view entry = {});

/// The same with #line: each line belongs to the line of the script that it came from.
Text cuda_with_lines(const Program& program);

}  // namespace wgrun::emit
