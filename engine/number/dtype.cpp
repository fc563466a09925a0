#include "wgrun/dtype.hpp"

#include <array>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

struct Row {
    Dtype dtype;
    std::string_view name;
    int bits;
    bool is_float;
};

// In the order of the enumeration.
constexpr std::array rows{
    Row{Dtype::f64, "f64", 64, true},  Row{Dtype::f32, "f32", 32, true},   Row{Dtype::tf32, "tf32", 32, true},
    Row{Dtype::f16, "f16", 16, true},  Row{Dtype::bf16, "bf16", 16, true}, Row{Dtype::e4m3, "e4m3", 8, true},
    Row{Dtype::e5m2, "e5m2", 8, true}, Row{Dtype::s8, "s8", 8, false},     Row{Dtype::u8, "u8", 8, false},
    Row{Dtype::s32, "s32", 32, false}, Row{Dtype::u32, "u32", 32, false},  Row{Dtype::s64, "s64", 64, false},
    Row{Dtype::u64, "u64", 64, false}, Row{Dtype::b1, "b1", 1, false},
};

const Row& row(Dtype dtype) { return rows[static_cast<std::size_t>(dtype)]; }

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

std::string_view to_string(Dtype dtype) { return row(dtype).name; }
int bits(Dtype dtype) { return row(dtype).bits; }
bool is_float(Dtype dtype) { return row(dtype).is_float; }
std::span<const Dtype> all_dtypes() { return dtypes; }

std::optional<Dtype> parse_dtype(std::string_view name) {
    for (const Row& r : rows)
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
