// Host tensors: typed arrays in row-major order, random data, .npy files, and comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wgrun/dtype.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Extents of a tensor, in elements, the slowest one first. Empty for a single element (rank 0).
using TensorShape = std::vector<std::int64_t>;

/// How a tensor comes by the elements of a file: `read` copies them; `map` uses the file's pages as its
/// memory: each is read when it is first touched and copied when it is first written, so that the file never
/// changes. If a mapped file is shortened, touching the lost pages ends the process with SIGBUS. Replacing a
/// file by renaming, as save() does, is safe. See docs/tensors.md.
enum class Loading : std::uint8_t { read, map };

/// A contiguous row-major array in host memory: its own, aligned to 64 bytes, or the caller's (wrap). It can
/// be moved, and copied only by copy(). Different tensors may be used by different threads; one tensor may be
/// read by several threads at a time, but must be written by one alone.
///
/// From 1 MiB on, its memory is in pages that a worker process maps in place (engine/memory), and that a
/// forked child shares with its parent.
///
/// Elements are little-endian. b1 is packed eight to a byte, the first element in the lowest bit, without
/// padding between rows. tf32 takes 32 bits.
///
/// Running a kernel that writes a tensor counts as writing it: no other thread may use the tensor meanwhile.
/// Different tensors are independent of each other.
class Tensor {
  public:
    static constexpr int max_rank = 8;
    static constexpr std::size_t alignment = 64;
    /// Larger tensors are refused, as a mistake: 1 TiB.
    static constexpr std::int64_t max_bytes = std::int64_t{1} << 40;

    /// All zeros. Large tensors take memory only as they are written. Throws ArgumentError for a rank above
    /// 8, a negative extent, or more than max_bytes; EnvironmentError ENOMEM if there is not enough memory.
    /// All functions that make tensors throw the same.
    static Tensor zeros(Dtype dtype, TensorShape shape);

    /// `values` in row-major order, as many as the shape has elements. Floats round to nearest even.
    /// Throws ArgumentError if the count differs, or an integer dtype cannot represent a value (300 or 0.5
    /// in u8).
    static Tensor from_values(Dtype dtype, TensorShape shape, std::span<const double> values);

    /// Standard normal random numbers, the same for a seed on every machine and for any number of threads.
    /// Element i depends on (seed, i) only. Throws ArgumentError if dtype is not a floating-point type.
    static Tensor randn(TensorShape shape, Dtype dtype, std::uint64_t seed);

    /// Uniform random integers lo..hi, both included, the same for a seed on every machine. A floating-point
    /// dtype must represent every integer of the range exactly. Throws ArgumentError if lo > hi or dtype
    /// cannot hold the range.
    static Tensor randint(TensorShape shape, Dtype dtype, std::int64_t lo, std::int64_t hi,
                          std::uint64_t seed);

    /// The caller's memory, used in place: nothing is copied, and writes to either are seen in both. `owner`
    /// is kept as long as anything of the tensor is in use, a launch's copy on the device too, and is
    /// released exactly once, by the last thread that uses it; it may be empty if the memory outlives them
    /// all. Throws ArgumentError, besides what zeros throws, if `data` is null though the shape has elements,
    /// or is not aligned to the size of an element.
    static Tensor wrap(Dtype dtype, TensorShape shape, void* data, std::shared_ptr<void> owner);

    /// The same for memory that must not be written: whatever would write to the tensor throws ArgumentError,
    /// also a launch that takes it for a parameter that is not `const`. It can be read and copied.
    static Tensor wrap_read_only(Dtype dtype, TensorShape shape, const void* data,
                                 std::shared_ptr<const void> owner);

    /// Reads a .npy file (format 1.0, 2.0, 3.0; little-endian; C or Fortran order, the result is row-major).
    ///
    /// The file states the dtype, except where numpy has none: a 2-byte void (`V2`) is bf16 unless `dtype`
    /// says otherwise, `<f1` is e5m2; a 1-byte void (`V1`) needs `dtype` (e4m3 or e5m2). `dtype` may also
    /// give another meaning to voids and unsigned integers of the same size (`<u2` as bf16, `|u1` as e4m3)
    /// and read `<f4` as tf32; it never converts. Bools load as u8. Throws EnvironmentError ENOENT (no such
    /// file) or EIO; ArgumentError if it is not a .npy file. Messages begin with the file's name.
    ///
    /// Loading::map maps the file if its elements are in C order and aligned (numpy and save() align them),
    /// and reads it otherwise.
    static Tensor load(const std::filesystem::path& path, std::optional<Dtype> dtype = std::nullopt,
                       Loading loading = Loading::read);

    /// Writes a .npy file (format 1.0, C order) through a temporary file in the same folder that is renamed
    /// at the end: `path` holds the old file or the whole new one, never a part.
    ///
    /// tf32 is written as `<f4`, bf16 as `<V2` and the 8-bit floats as `<V1`, which numpy loads as bare
    /// bytes: .view(ml_dtypes.bfloat16) and so on gives the values. Throws ArgumentError for b1,
    /// EnvironmentError (ENOENT for a missing folder, else EIO) if writing fails.
    void save(const std::filesystem::path& path) const;

    Tensor(Tensor&& other) noexcept;
    Tensor& operator=(Tensor&& other) noexcept;
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;
    ~Tensor() = default;

    /// A tensor with memory of its own and the same contents.
    Tensor copy() const;

    /// The same values in another dtype: one rounding, to nearest even (s64 and u64 pass through binary64,
    /// which rounds those beyond 2^53). Throws ArgumentError if an integer dtype cannot represent a value.
    Tensor convert(Dtype dtype) const;

    Dtype dtype() const { return dtype_; }
    const TensorShape& shape() const { return shape_; }
    int rank() const { return static_cast<int>(shape_.size()); }
    /// Number of elements: 1 for rank 0, 0 if an extent is zero or the tensor was moved from.
    std::int64_t items() const { return items_; }
    std::size_t size_bytes() const { return bytes_; }
    /// True if it wraps memory that must not be written.
    bool read_only() const { return read_only_; }
    /// For writing: throws ArgumentError for a read-only tensor. For reading: std::as_const(t).data().
    std::byte* data();
    const std::byte* data() const { return data_.get(); }
    std::span<std::byte> bytes() { return {data(), bytes_}; }
    std::span<const std::byte> bytes() const { return {data_.get(), bytes_}; }
    /// Identifies the tensor's memory, by std::owner_less: it differs from that of every other tensor, also
    /// of a later one at the same address.
    std::weak_ptr<const void> owner() const { return data_; }

    /// The element at `index` (zero-based, one coordinate a dimension). The value is exact, but s64 and u64
    /// are rounded to double. Throws ArgumentError if the index does not fit the shape.
    double get(std::span<const std::int64_t> index) const;

    /// Rounds to nearest even. Throws ArgumentError if the index does not fit the shape, or an integer dtype
    /// cannot represent the value.
    void set(std::span<const std::int64_t> index, double value);

    /// The same by position in row-major order, 0 .. items() - 1, with the same errors.
    double get(std::int64_t position) const;
    void set(std::int64_t position, double value);

    /// The row-major position of `index`, and back. Both throw ArgumentError outside the tensor.
    std::int64_t position(std::span<const std::int64_t> index) const;
    std::vector<std::int64_t> index(std::int64_t position) const;

  private:
    struct Uninitialised {};
    Tensor(Uninitialised, Dtype dtype, TensorShape shape);
    Tensor(Dtype dtype, TensorShape shape);

    Dtype dtype_;
    TensorShape shape_;
    std::int64_t items_ = 0;
    std::size_t bytes_ = 0;
    bool read_only_ = false;
    std::shared_ptr<std::byte[]> data_;
};

/// "bf16 {128, 64}"
std::string to_string(const Tensor& tensor);

/// An element passes if |got - want| <= absolute + relative * |want|.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

/// The tolerance for one rounding in `dtype`: for f64 to bf16 the values of torch.testing.assert_close, for
/// the 8-bit floats one unit in the last place, for integers 0.
Tolerance default_tolerance(Dtype dtype);

/// NaN against NaN and infinity against the same infinity are equal. NaN against anything else, and an
/// infinity against anything else, are mismatches with an infinite error.
struct Comparison {
    bool ok = true;
    /// Elements beyond the tolerance.
    std::int64_t mismatches = 0;
    /// The largest |got - want|, among the mismatches if there are any; 0 if all are equal.
    double worst = 0;
    /// The largest |got - want| / |want| over all elements whose `want` is not zero.
    double worst_relative = 0;
    /// The index of `worst` (the first, if there are several); `got` and `want` are the values there. Empty
    /// if the tensors have no elements or are of rank 0.
    std::vector<std::int64_t> index;
    double got = 0;
    double want = 0;
};

/// Compares element by element; s64 and u64 exactly.
/// Throws ArgumentError if the dtypes or the shapes differ, or a tolerance is negative or NaN.
Comparison compare(const Tensor& got, const Tensor& want, std::optional<Tolerance> tolerance = std::nullopt);

/// Elements first, first + stride, ... of a tensor, by row-major position.
struct StridedVector {
    std::int64_t first = 0;
    std::int64_t stride = 1;
};

/// The sum of the products of `count` elements of each tensor, in binary64: the reference of a product's
/// element. Throws ArgumentError if an element lies outside its tensor.
double dot(const Tensor& a, const StridedVector& of_a, const Tensor& b, const StridedVector& of_b,
           std::int64_t count);

}  // namespace wgrun

#pragma GCC visibility pop
