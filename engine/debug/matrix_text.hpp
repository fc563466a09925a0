// Named objects of a kernel as the debugger shows them: as values and as matrices.
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

/// A matrix of texts, one per element.
struct Matrix {
    std::string title;
    int rows = 0, columns = 0;
    std::function<std::string(int, int)> at;
};

/// The matrix as lines of text. `whole`: all of it; else only the beginning of a large one.
std::string to_text(const Matrix& matrix, bool whole);

/// Registers that hold a fragment of a matrix, by a wgmma or mma.sync of the program.
struct FragmentUse {
    Fragment fragment;
    Dtype dtype;
    std::vector<isa::Reg> regs;  ///< one fragment, in order
};

/// The fragments that these registers hold, in order; none unless all of them are used so.
std::vector<FragmentUse> fragments_of(const Program& program, const std::vector<isa::Reg>& regs);

/// The lanes of one register: 32 values of 4 or 8 bytes, a copy or a view of the simulator's.
using LanesOf = std::function<const std::byte*(int warp, isa::Reg reg)>;

/// The fragments side by side (of A) or below each other. `first`: the warp of the first thread.
std::vector<Matrix> matrices_of(const std::vector<FragmentUse>& uses, int first, const LanesOf& lanes);

/// An element of memory as text.
std::string element_text(Dtype dtype, const std::byte* byte, int bit = 0);

/// Stage `stage` of a buffer with a tile, as a matrix in the tile's logical coordinates.
Matrix matrix_of(const SharedBuffer& buffer, int stage, std::span<const std::byte> shared);
Matrix matrix_of(const std::string& name, const Tensor& tensor);

}  // namespace wgrun::debugging
