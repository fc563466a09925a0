#include "wgrun/dtype.hpp"

#include <array>

#include "number/codec.hpp"
#include "number/element.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

using Kind = Element::Kind;
using codec::floating, codec::narrow, codec::integer;

// In the order of the enumeration. A tolerance that is not zero is what torch.testing.assert_close takes.
constexpr std::array rows{
    Element{.dtype = Dtype::f64,
            .name = "f64",
            .kind = Kind::floating,
            .bits = 64,
            .precision = 53,
            .coding = floating<double>,
            .absolute = 1e-7,
            .relative = 1e-7,
            .npy = "<f8",
            .dlpack = 2,
            .safetensors = "F64",
            .tensor_map = 8,
            .cuda = "double"},
    Element{.dtype = Dtype::f32,
            .name = "f32",
            .kind = Kind::floating,
            .bits = 32,
            .precision = 24,
            .coding = floating<float>,
            .absolute = 1e-5,
            .relative = 1.3e-6,
            .npy = "<f4",
            .dlpack = 2,
            .safetensors = "F32",
            .tensor_map = 7,
            .cuda = "float"},
    Element{.dtype = Dtype::tf32,
            .name = "tf32",
            .kind = Kind::floating,
            .bits = 32,
            .precision = 11,
            .coding = narrow<tf32_format, std::uint32_t>,
            .absolute = 1e-5,
            .relative = 1e-3,
            .npy = "<f4",
            .dlpack = 2,
            .tensor_map = 11,
            .cuda = "float"},
    Element{.dtype = Dtype::f16,
            .name = "f16",
            .kind = Kind::floating,
            .bits = 16,
            .precision = 11,
            .coding = narrow<f16_format, std::uint16_t>,
            .absolute = 1e-5,
            .relative = 1e-3,
            .npy = "<f2",
            .dlpack = 2,
            .safetensors = "F16",
            .tensor_map = 6,
            .cuda = "__half",
            .cuda_header = "cuda_fp16.h"},
    Element{.dtype = Dtype::bf16,
            .name = "bf16",
            .kind = Kind::floating,
            .bits = 16,
            .precision = 8,
            .coding = narrow<bf16_format, std::uint16_t>,
            .absolute = 1e-5,
            .relative = 1.6e-2,
            .npy = "<V2",
            .dlpack = 4,
            .safetensors = "BF16",
            .tensor_map = 9,
            .cuda = "__nv_bfloat16",
            .cuda_header = "cuda_bf16.h"},
    Element{.dtype = Dtype::e4m3,
            .name = "e4m3",
            .kind = Kind::floating,
            .bits = 8,
            .precision = 4,
            .coding = narrow<e4m3_format, std::uint8_t>,
            .absolute = 0x1p-9,
            .relative = 0x1p-3,
            .npy = "<V1",
            .dlpack = 10,
            .safetensors = "F8_E4M3",
            .cuda = "__nv_fp8_e4m3",
            .cuda_header = "cuda_fp8.h"},
    Element{.dtype = Dtype::e5m2,
            .name = "e5m2",
            .kind = Kind::floating,
            .bits = 8,
            .precision = 3,
            .coding = narrow<e5m2_format, std::uint8_t>,
            .absolute = 0x1p-16,
            .relative = 0x1p-2,
            .npy = "<V1",
            .dlpack = 12,
            .safetensors = "F8_E5M2",
            .cuda = "__nv_fp8_e5m2",
            .cuda_header = "cuda_fp8.h"},
    Element{.dtype = Dtype::s8,
            .name = "s8",
            .kind = Kind::signed_integer,
            .bits = 8,
            .precision = 7,
            .coding = integer<std::int8_t>,
            .absolute = 0,
            .relative = 0,
            .npy = "|i1",
            .dlpack = 0,
            .safetensors = "I8",
            .cuda = "signed char"},
    Element{.dtype = Dtype::u8,
            .name = "u8",
            .kind = Kind::unsigned_integer,
            .bits = 8,
            .precision = 8,
            .coding = integer<std::uint8_t>,
            .absolute = 0,
            .relative = 0,
            .npy = "|u1",
            .dlpack = 1,
            .safetensors = "U8"},
    Element{.dtype = Dtype::s32,
            .name = "s32",
            .kind = Kind::signed_integer,
            .bits = 32,
            .precision = 31,
            .coding = integer<std::int32_t>,
            .absolute = 0,
            .relative = 0,
            .npy = "<i4",
            .dlpack = 0,
            .safetensors = "I32",
            .tensor_map = 3,
            .cuda = "int"},
    Element{.dtype = Dtype::u32,
            .name = "u32",
            .kind = Kind::unsigned_integer,
            .bits = 32,
            .precision = 32,
            .coding = integer<std::uint32_t>,
            .absolute = 0,
            .relative = 0,
            .npy = "<u4",
            .dlpack = 1,
            .safetensors = "U32",
            .tensor_map = 2,
            .cuda = "unsigned"},
    Element{.dtype = Dtype::s64,
            .name = "s64",
            .kind = Kind::signed_integer,
            .bits = 64,
            .precision = 63,
            .coding = integer<std::int64_t>,
            .absolute = 0,
            .relative = 0,
            .npy = "<i8",
            .dlpack = 0,
            .safetensors = "I64",
            .tensor_map = 5,
            .cuda = "long long"},
    Element{.dtype = Dtype::u64,
            .name = "u64",
            .kind = Kind::unsigned_integer,
            .bits = 64,
            .precision = 64,
            .coding = integer<std::uint64_t>,
            .absolute = 0,
            .relative = 0,
            .npy = "<u8",
            .dlpack = 1,
            .safetensors = "U64",
            .tensor_map = 4,
            .cuda = "unsigned long long"},
    Element{.dtype = Dtype::b1,
            .name = "b1",
            .kind = Kind::bit,
            .bits = 1,
            .precision = 1,
            .coding = codec::bits,
            .absolute = 0,
            .relative = 0,
            .npy = "",
            .dlpack = -1},
};

static_assert([] {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].dtype != static_cast<Dtype>(i)) return false;
    return true;
}());

constexpr auto names = [] {
    std::array<std::string_view, rows.size()> out;
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = rows[i].name;
    return out;
}();

constexpr auto dtypes = [] {
    std::array<Dtype, rows.size()> out{};
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = rows[i].dtype;
    return out;
}();

}  // namespace

std::span<const Element> elements() { return rows; }

std::string_view to_string(Dtype dtype) { return element(dtype).name; }
int bits(Dtype dtype) { return element(dtype).bits; }
bool is_float(Dtype dtype) { return element(dtype).kind == Kind::floating; }
std::span<const Dtype> all_dtypes() { return dtypes; }

std::optional<Dtype> parse_dtype(std::string_view name) {
    for (const Element& r : rows)
        if (r.name == name) return r.dtype;
    return std::nullopt;
}

Dtype dtype_named(std::string_view name) {
    if (auto dtype = parse_dtype(name)) return *dtype;
    // Names in other languages.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 17> others{{{"float", "f32"},
                                                                                    {"float32", "f32"},
                                                                                    {"fp32", "f32"},
                                                                                    {"double", "f64"},
                                                                                    {"float64", "f64"},
                                                                                    {"half", "f16"},
                                                                                    {"float16", "f16"},
                                                                                    {"fp16", "f16"},
                                                                                    {"bfloat16", "bf16"},
                                                                                    {"int", "s32"},
                                                                                    {"int32", "s32"},
                                                                                    {"uint32", "u32"},
                                                                                    {"int8", "s8"},
                                                                                    {"uint8", "u8"},
                                                                                    {"int64", "s64"},
                                                                                    {"uint64", "u64"},
                                                                                    {"fp8", "e4m3"}}};
    for (const auto& [other, here] : others)
        if (other == name)
            throw ArgumentError(std::string("unknown dtype `")
                                    .append(name)
                                    .append("`: here it is `")
                                    .append(here)
                                    .append("`"));
    std::string list;
    for (std::string_view n : names) list += (list.empty() ? "" : ", ") + std::string(n);
    throw ArgumentError("unknown dtype `" + std::string(name) + "`" + nearest(name, names), "one of " + list);
}

}  // namespace wgrun
