// What a debugger shows: things of a kernel that have a name, as values and as matrices.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isa/effects.hpp"
#include "sim/observer.hpp"
#include "wgrun/fragment.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun::debugging {

/// A matrix in the making: the text of each element.
struct Matrix {
    std::string title;
    int rows = 0, columns = 0;
    std::function<std::string(int, int)> at;
};

/// As lines. `whole`: all of it; else its beginning where it is large.
std::string to_text(const Matrix& matrix, bool whole);

/// Registers that are a fragment of a matrix, as a wgmma or mma.sync of the program has them.
struct FragmentUse {
    Fragment fragment;
    Dtype dtype;
    std::vector<isa::Reg> regs;  ///< one fragment, in order
};

/// The fragments that these registers are, in order; none where they are not all used so.
std::vector<FragmentUse> fragments_of(const Program& program, const std::vector<isa::Reg>& regs);

/// The lanes of one register: 32 of 4 or 8 bytes, copied out of the simulator, or where they are.
using LanesOf = std::function<const std::byte*(int warp, isa::Reg reg)>;

/// The fragments side by side (those of A) or below each other. `first`: warp of the first of its threads.
std::vector<Matrix> matrices_of(const std::vector<FragmentUse>& uses, int first, const LanesOf& lanes);

/// An element of memory as text.
std::string element_text(Dtype dtype, const std::byte* byte, int bit = 0);

/// Stage `stage` of a buffer with a tile, in the tile's logical coordinates.
Matrix matrix_of(const SharedBuffer& buffer, int stage, std::span<const std::byte> shared);
Matrix matrix_of(const std::string& name, const Tensor& tensor);

}  // namespace wgrun::debugging
