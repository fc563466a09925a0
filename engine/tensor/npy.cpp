// .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "file/replacement.hpp"
#include "number/number.hpp"
#include "tensor/input_file.hpp"
#include "tensor/npy_header.hpp"
#include "tensor/shape.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun {
namespace {

namespace fs = std::filesystem;

/// Throws if `path` exists but is not a regular file: a device must not be replaced.
void check_regular(const fs::path& path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status))
        throw EnvironmentError("EIO", fmt::format("{}: not a regular file", path.string()));
}

/// A .npy file that is read from its beginning.
class Reader {
  public:
    explicit Reader(const fs::path& path) : file_(path) {}

    const std::string& name() const { return file_.name(); }
    /// Bytes read, and bytes not read yet.
    std::uint64_t offset() const { return offset_; }
    std::uint64_t left() const { return file_.size() - offset_; }

    void read(void* to, std::size_t bytes) {
        file_.read(offset_, {static_cast<std::byte*>(to), bytes});
        offset_ += bytes;
    }

    /// The whole file as memory.
    std::shared_ptr<std::byte> map() const { return file_.map(); }

    NpyHeader header() {
        std::array<unsigned char, 8> start{};
        if (left() < 10) throw not_npy();
        read(start.data(), start.size());
        if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0) throw not_npy();
        const int version = start[6];
        if (version < 1 || version > 3)
            throw ArgumentError(fmt::format("{}: .npy format {}.{}, but only 1.0, 2.0 and 3.0 exist", name(),
                                            version, start[7]));
        std::array<unsigned char, 4> digits{};
        const std::size_t width = version == 1 ? 2 : 4;
        if (left() < width) throw ArgumentError(fmt::format("{}: truncated in its header", name()));
        read(digits.data(), width);
        const std::uint32_t length =
            digits[0] | digits[1] << 8U | digits[2] << 16U | static_cast<std::uint32_t>(digits[3]) << 24U;
        constexpr std::uint32_t longest = 1U << 16;
        if (length > left() && length <= longest)
            throw ArgumentError(fmt::format("{}: truncated: a header of {} expected, {} found", name(),
                                            count_of(length, "byte"), left()));
        if (length > longest)
            throw ArgumentError(fmt::format("{}: a header of {} is too long for a plain array", name(),
                                            count_of(length, "byte")));
        std::string text(length, ' ');
        read(text.data(), text.size());
        return parse_npy_header(text, name());
    }

  private:
    ArgumentError not_npy() const {
        return ArgumentError(fmt::format("{}: not a .npy file (it does not start with \\x93NUMPY)", name()));
    }

    InputFile file_;
    std::uint64_t offset_ = 0;
};

/// Copies elements that stand in Fortran order, the first index fastest, to row-major order: for each
/// combination of the indices between, a transposition of the first index against the last one, in squares
/// that the cache holds.
template <std::size_t size>
void copy_transposed(const std::byte* from, std::byte* to, const TensorShape& shape) {
    constexpr std::int64_t square = 32;
    const std::size_t last = shape.size() - 1;
    const std::int64_t rows = shape[0], cols = shape[last];
    std::int64_t between = 1;
    for (std::size_t d = 1; d < last; ++d) between *= shape[d];

    for (std::int64_t middle = 0; middle < between; ++middle) {
        // `middle` counts the indices between in row-major order; in Fortran order they stand at `fortran`.
        std::int64_t fortran = 0, rest = middle, outer = between;
        for (std::size_t d = last - 1; d > 0; --d) {
            outer /= shape[d];
            fortran += rest % shape[d] * outer;
            rest /= shape[d];
        }
        const std::byte* const source = from + fortran * rows * static_cast<std::int64_t>(size);
        std::byte* const target = to + middle * cols * static_cast<std::int64_t>(size);
        for (std::int64_t i0 = 0; i0 < rows; i0 += square)
            for (std::int64_t j0 = 0; j0 < cols; j0 += square)
                for (std::int64_t i = i0; i < std::min(rows, i0 + square); ++i)
                    for (std::int64_t j = j0; j < std::min(cols, j0 + square); ++j)
                        std::memcpy(target + (i * between * cols + j) * static_cast<std::int64_t>(size),
                                    source + (j * between * rows + i) * static_cast<std::int64_t>(size),
                                    size);
    }
}

void copy_transposed(const Tensor& from, Tensor& to) {
    switch (bits(to.dtype())) {
        case 8: return copy_transposed<1>(from.data(), to.data(), to.shape());
        case 16: return copy_transposed<2>(from.data(), to.data(), to.shape());
        case 32: return copy_transposed<4>(from.data(), to.data(), to.shape());
        default: return copy_transposed<8>(from.data(), to.data(), to.shape());
    }
}

}  // namespace

Tensor Tensor::load(const fs::path& path, std::optional<Dtype> dtype, Loading loading) {
    Reader reader(path);
    NpyHeader header = reader.header();
    const Dtype read_as = npy_dtype(header.descr, dtype, reader.name());
    // Everything is checked before memory is allocated, since a damaged header may contain anything.
    std::int64_t expected = 0;
    try {
        expected = bytes_of(read_as, count_items(read_as, header.shape));
    } catch (const ArgumentError& error) {
        throw ArgumentError(fmt::format("{}: {}", reader.name(), error.what()));
    }
    if (reader.left() != static_cast<std::uint64_t>(expected))
        throw ArgumentError(
            fmt::format("{}: {}{} takes {}, but {} follow the header", reader.name(),
                        reader.left() < static_cast<std::uint64_t>(expected) ? "truncated: " : "",
                        describe(read_as, header.shape), count_of(expected, "byte"), reader.left()));
    const bool transposed = header.fortran_order && header.shape.size() > 1 && expected > 0;
    const std::uint64_t element = static_cast<std::uint64_t>(bits(read_as)) / 8;
    if (loading == Loading::map && !transposed && expected > 0 && reader.offset() % element == 0) {
        const std::uint64_t offset = reader.offset();
        std::shared_ptr<std::byte> file = reader.map();
        std::byte* const elements = file.get() + offset;
        return wrap(read_as, std::move(header.shape), elements, std::move(file));
    }
    Tensor tensor(read_as, std::move(header.shape));
    if (transposed) {
        Tensor as_stored(read_as, tensor.shape());
        reader.read(as_stored.data(), as_stored.size_bytes());
        copy_transposed(as_stored, tensor);
    } else {
        reader.read(tensor.data(), tensor.size_bytes());
    }
    return tensor;
}

void Tensor::save(const fs::path& path) const {
    const std::string preamble = npy_preamble(*this, path.string());
    check_file_name(path);
    check_regular(path);
    file::Replacement file(path);
    file.write(preamble);
    file.write({reinterpret_cast<const char*>(data()), size_bytes()});
    file.complete();
}

}  // namespace wgrun
