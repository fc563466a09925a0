// Matrices in shared memory as wgmma reads them: checks that descriptors fit the tiles that they point into.
#pragma once

#include <set>
#include <tuple>

#include "check/findings.hpp"
#include "check/state.hpp"
#include "machine/mma_matrix.hpp"

namespace wgrun::check {

/// Divides shared buffers into cells: one per stage for a buffer of several tiles, else one.
class Cells {
  public:
    explicit Cells(const Program& program);

    int count() const { return count_; }
    /// Returns the region of bytes [lo, hi) of `buffer`; unless `all`, only some of them are accessed.
    Region access(int buffer, std::int64_t lo, std::int64_t hi, bool all) const;
    /// Returns the region of some unknown bytes of `buffer`.
    Region somewhere(int buffer) const;
    int buffer_of(int cell) const { return owners_[static_cast<std::size_t>(cell)]; }

  private:
    const Program& program_;
    int count_ = 0;
    std::vector<int> first_;   // cell of each buffer
    std::vector<int> owners_;  // buffer of each cell
};

using machine::Matrix;

/// Applies the DESC rules to the operands of wgmma.
class MatrixCheck {
  public:
    MatrixCheck(const Program& program, const Cells& cells, Findings& findings)
        : program_(program), cells_(cells), findings_(findings) {}

    /// Reports what does not fit, and returns the region that is read.
    Region operator()(const Step& step, const Matrix& matrix, const Known& descriptor);

  private:
    /// Reports the misfit; returns whether there is none.
    bool fits(const Step& step, const SharedBuffer& buffer, std::optional<machine::Misfit> misfit);
    Region footprint(const Step& step, const Matrix& matrix, int buffer, const Descriptor& fields);

    const Program& program_;
    const Cells& cells_;
    Findings& findings_;
    /// Positions known to be correct: buffer, offset, descriptor, rows, major.
    std::set<std::tuple<const SharedBuffer*, std::int64_t, std::uint64_t, int, bool>> right_;
};

}  // namespace wgrun::check
