// Fragments: which thread holds which element of a matrix in which register.
//
// A fragment is a layout (thread, value) -> row + rows * column, as in CuTe's MMA traits; threads are those
// of a warpgroup (128) or of a warp (32). Values count elements: `per_register` of them share a 32-bit
// register, the first in the lowest bits. All functions are thread-safe. Formulas: PTX ISA 9.7.15.5.1
// (wgmma), 9.7.15.6 (sparse), 9.7.14.5 (mma.sync, ldmatrix).
#pragma once

#include <string>

#include "wgrun/dtype.hpp"
#include "wgrun/layout.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// A fragment of a rows x columns matrix. A plain value.
struct Fragment {
    /// An element of the matrix; rows and columns count elements from 0.
    struct Place {
        int row = 0;
        int column = 0;
        bool operator==(const Place&) const = default;
    };
    /// The thread and the value that hold an element; both count from 0.
    struct Owner {
        int thread = 0;  ///< within the warpgroup or warp
        int value = 0;   ///< counts the thread's elements, not its registers
        bool operator==(const Owner&) const = default;
    };

    std::string name;      ///< "wgmma D 64x128"
    Layout tv;             ///< (thread, value) -> row + rows * column
    int rows = 0;          ///< elements
    int columns = 0;       ///< elements
    int per_register = 1;  ///< values in a 32-bit register

    /// 128 or 32.
    int threads() const { return static_cast<int>(tv.mode(0).size()); }
    /// Elements of one thread.
    int values() const { return static_cast<int>(tv.mode(1).size()); }
    /// 32-bit registers of one thread.
    int registers() const { return values() / per_register; }

    /// The element that value `value` of thread `thread` is. Throws ArgumentError outside the fragment.
    Place at(int thread, int value) const;
    /// Who holds element (row, column); of several owners, the one with the lowest thread. Throws
    /// ArgumentError outside the matrix.
    Owner owner(int row, int column) const;
    /// (row, column) -> thread + threads * value. Throws ArgumentError if threads share an element.
    Layout inverse() const;
};

/// D of wgmma, 64 x n: one value per register for f32 and s32, two for f16. Throws ArgumentError unless n is
/// 8, 16, ... 256 and `d` is f32, s32 or f16.
Fragment wgmma_d(Dtype d, int n);
/// A of wgmma in registers, 64 x k: k is 8 for tf32, 16 for 16-bit, 32 for 8-bit types, 256 for b1. In a
/// sparse wgmma it holds the compressed columns. These four throw ArgumentError for types that wgmma lacks.
Fragment wgmma_a(Dtype a);
/// A of a sparse wgmma by logical columns, as CuTe counts them: 64 x 2k; value v stands for the logical
/// elements 2v and 2v+1, of which the compressed fragment keeps one half.
Fragment wgmma_sparse_a(Dtype a);
/// The metadata word of each thread of a sparse wgmma, by logical elements of A (CuTe's ELayout): every 4
/// (tf32: 2) consecutive values along K share 4 bits. It is broadcast to both lane pairs where the selector
/// picks one.
Fragment wgmma_metadata(Dtype a);
/// The same in chunks: (thread, nibble 0..7) -> row + 64 * chunk, a chunk being 4 (tf32: 2) logical columns.
Fragment wgmma_metadata_chunks(Dtype a);

/// A, B (n x k) and C/D of mma.sync m16n8k: k is 8 or 16 for f16 and bf16, 4 or 8 for tf32, 16 or 32 for
/// 8-bit types, 128 or 256 for b1. C is for 32-bit accumulators; f16 ones share registers in pairs. Other k
/// and types throw ArgumentError.
Fragment mma_sync_a(Dtype a, int k);
Fragment mma_sync_b(Dtype b, int k);
Fragment mma_sync_c();

/// The registers of ldmatrix and stmatrix .m8n8.x{1,2,4}.b16: row r of matrix i is row 8i + r, the 16 bytes
/// at the address from lane 8i + r; columns are its eight 16-bit elements. Other counts throw ArgumentError.
Fragment ldmatrix(int matrices, bool trans);
Fragment stmatrix(int matrices, bool trans);

}  // namespace wgrun

#pragma GCC visibility pop
