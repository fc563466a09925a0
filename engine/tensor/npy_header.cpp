// numpy has no bf16 and no fp8. What ml_dtypes 0.2 to 0.6 make np.save write, and what we do:
//
//   dtype  ml_dtypes  we write  we read
//   bf16   <V2        <V2       V2 as bf16
//   e4m3   <V1        <V1       V1 as what the caller says: e4m3fn and other one-byte types look alike
//   e5m2   <f1        <V1       f1 as e5m2
//
// `<f1` is a descr that np.load itself refuses; `<V1` it loads, and .view(ml_dtypes.float8_e5m2) gives the
// values.
#include "tensor/npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "number/element.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

/// Which dtypes the caller may ask for, besides the file's.
enum class Reading : std::uint8_t {
    exact,     // not at all
    one_size,  // by any type of the same size: the bits are the caller's to interpret
};

struct NpyType {
    std::string_view code;       // descr without its byte order
    std::optional<Dtype> dtype;  // the type unless the caller names another
    Reading reading;
};

// Besides those that the element types have to themselves.
constexpr std::array other_codes{
    NpyType{"f1", Dtype::e5m2, Reading::one_size},
    NpyType{"V1", std::nullopt, Reading::one_size},
    NpyType{"b1", Dtype::u8, Reading::exact},
    NpyType{"u2", std::nullopt, Reading::one_size},
};

std::optional<NpyType> npy_type(std::string_view code) {
    if (const auto* const other = std::ranges::find(other_codes, code, &NpyType::code);
        other != other_codes.end())
        return *other;
    for (const Element& it : elements())
        if (!code.empty() && it.npy.ends_with(code) && it.npy.size() == code.size() + 1)
            return NpyType{code, it.dtype,
                           code.front() == 'u' || code.front() == 'V' ? Reading::one_size : Reading::exact};
    return std::nullopt;
}

/// "e4m3 or e5m2": those of the types that are written so.
std::string held_as(std::string_view code) {
    std::vector<std::string_view> names;
    for (const Element& it : elements())
        if (it.npy.ends_with(code)) names.push_back(it.name);
    return fmt::format("{}", fmt::join(names, " or "));
}

int bytes_of(const NpyType& type) { return type.code[1] - '0'; }

/// Reads the one Python literal that a header is: a dictionary of a string, a bool and a tuple of integers.
class Parser {
  public:
    Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    NpyHeader header() {
        NpyHeader header;
        bool descr = false, order = false, shape = false;
        expect('{');
        while (!take('}')) {
            const std::string key = string();
            expect(':');
            if (key == "descr" && !descr) {
                if (peek() == '[') throw failure("holds records, not plain elements");
                header.descr = string();
                descr = true;
            } else if (key == "fortran_order" && !order) {
                header.fortran_order = boolean();
                order = true;
            } else if (key == "shape" && !shape) {
                header.shape = tuple();
                shape = true;
            } else {
                throw failure(fmt::format("damaged header: key `{}` is unknown or repeated", key));
            }
            if (!take(',') && peek() != '}') throw damaged();
        }
        if (peek() != '\0') throw damaged();
        for (const auto& [there, key] :
             {std::pair(descr, "descr"), {order, "fortran_order"}, {shape, "shape"}})
            if (!there) throw failure(fmt::format("damaged header: key `{}` is missing", key));
        return header;
    }

  private:
    ArgumentError failure(std::string_view what) const {
        return ArgumentError(fmt::format("{}: {}", file_, what));
    }
    ArgumentError damaged() const {
        return failure(fmt::format("damaged header at byte {} of its text", at_));
    }

    /// The next character that is not a space; '\0' at the end.
    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    bool take(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }

    void expect(char c) {
        if (!take(c)) throw damaged();
    }

    std::string string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') throw damaged();
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) throw damaged();
        std::string result(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return result;
    }

    bool boolean() {
        for (const auto& [word, value] :
             {std::pair<std::string_view, bool>("True", true), {"False", false}}) {
            peek();
            if (!text_.substr(at_).starts_with(word)) continue;
            at_ += word.size();
            return value;
        }
        throw damaged();
    }

    TensorShape tuple() {
        TensorShape shape;
        expect('(');
        while (!take(')')) {
            peek();
            std::int64_t extent = 0;
            const auto [end, error] =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
            if (error == std::errc::result_out_of_range)
                throw failure("an extent of the shape does not fit 64 bits");
            if (error != std::errc{}) throw damaged();
            at_ = static_cast<std::size_t>(end - text_.data());
            take('L');  // Python 2 wrote 3L
            shape.push_back(extent);
            if (!take(',') && peek() != ')') throw damaged();
        }
        return shape;
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& file) {
    return Parser(text, file).header();
}

std::string npy_preamble(const Tensor& tensor, const std::string& file) {
    const std::string_view descr = element(tensor.dtype()).npy;
    if (descr.empty())
        throw ArgumentError(fmt::format("{}: .npy has no {} elements", file, to_string(tensor.dtype())),
                            "convert to u8 first");
    std::string dictionary =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                    fmt::join(tensor.shape(), ", "), tensor.rank() == 1 ? "," : "");
    constexpr std::size_t prefix = 10;  // magic, version, length
    dictionary.resize((prefix + dictionary.size() + 1 + 63) / 64 * 64 - prefix - 1, ' ');
    dictionary += '\n';
    const auto length = static_cast<std::uint16_t>(dictionary.size());
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 0xFF) +
           static_cast<char>(length >> 8) + dictionary;
}

Dtype npy_dtype(std::string_view descr, std::optional<Dtype> wanted, const std::string& file) {
    const std::string_view code = descr.empty() ? descr : descr.substr(1);
    const std::optional<NpyType> kind = npy_type(code);
    const bool known_order =
        !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
    if (!kind || !known_order)
        throw ArgumentError(fmt::format("{}: elements of numpy type '{}' are not supported", file, descr));
    if (descr[0] == '>' && bytes_of(*kind) > 1)
        throw ArgumentError(fmt::format("{}: elements of numpy type '{}' are big-endian", file, descr),
                            "in Python: np.save(path, a.astype(a.dtype.newbyteorder('<')))");
    if (!wanted) {
        if (kind->dtype) return *kind->dtype;
        throw ArgumentError(fmt::format("{}: '{}' does not determine the element type", file, descr),
                            "load with a dtype: " + (bytes_of(*kind) == 1 ? held_as(code) : "bf16 or f16"));
    }
    if (wanted == kind->dtype) return *wanted;
    const bool one_size = bits(*wanted) == 8 * bytes_of(*kind);
    const bool tf32_of_f32 = kind->dtype == Dtype::f32 && wanted == Dtype::tf32;
    if (tf32_of_f32 || (one_size && kind->reading == Reading::one_size)) return *wanted;
    if (!one_size)
        throw ArgumentError(fmt::format("{}: elements of '{}' have {} bits, those of {} have {}", file, descr,
                                        8 * bytes_of(*kind), to_string(*wanted), bits(*wanted)),
                            "load without a dtype, then convert");
    throw ArgumentError(
        fmt::format("{}: holds {} ('{}'), not {}", file, to_string(*kind->dtype), descr, to_string(*wanted)),
        "load without a dtype, then convert");
}

}  // namespace wgrun
