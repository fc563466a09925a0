#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>

#include "gpu/context.hpp"
#include "gpu/tensor_map.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/target.hpp"

namespace wgrun::gpu {

namespace {

constexpr int interleave_none = 0;
// A line of a swizzled box; 256 bytes made products of 16 rows 4 percent slower, and nothing faster.
constexpr int l2_promotion_128b = 2;

struct TypeFacts {
    std::int64_t bytes;
    bool is_float;
};

// In the order of TensorMapType, which is that of CUtensorMapDataType.
constexpr std::array<TypeFacts, 13> facts = {{{1, false},
                                              {2, false},
                                              {4, false},
                                              {4, false},
                                              {8, false},
                                              {8, false},
                                              {2, true},
                                              {4, true},
                                              {8, true},
                                              {2, true},
                                              {4, true},
                                              {4, true},
                                              {4, true}}};

template <class... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    throw rules::refusal(rules::WG_TMA_04,
                         "tensor map: " + fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace

void check_tensor_map(const TensorMapSpec& spec) {
    const std::size_t rank = spec.extents.size();
    const TypeFacts type = facts.at(static_cast<std::size_t>(spec.type));
    constexpr Target::TensorMaps limits = sm_90a.tensor_maps;
    constexpr std::int64_t unit = limits.unit;
    if (rank < 1 || rank > limits.dims) fail("{} dimensions: must be 1 to {}", rank, limits.dims);
    if (spec.strides.size() != rank - 1)
        fail("{} strides for {} dimensions: each but the first needs one", spec.strides.size(), rank);
    if (spec.box.size() != rank)
        fail("a box of {} for a tensor of {}", count_of(spec.box.size(), "dimension"), rank);
    if (spec.address == 0 || spec.address % static_cast<std::uint64_t>(unit) != 0)
        fail("address {:#x}: it must be a multiple of {}", spec.address, unit);
    for (const std::int64_t extent : spec.extents)
        if (extent < 1 || extent > limits.extent)
            fail("extents {{{}}}: each must be 1 to 2^32", fmt::join(spec.extents, ", "));
    for (const std::int64_t stride : spec.strides)
        if (stride < 1 || stride % unit != 0 || stride >= limits.stride)
            fail("strides {{{}}} bytes: each must be a multiple of {} below 2^40",
                 fmt::join(spec.strides, ", "), unit);
    const bool pixels = !spec.lower.empty();
    if (spec.lower.size() != spec.upper.size() || (pixels && spec.lower.size() + 2 != rank))
        fail("corners of {} and {} offsets for {} dimensions", spec.lower.size(), spec.upper.size(), rank);
    if (!spec.steps.empty() && spec.steps.size() != rank)
        fail("{} steps for {} dimensions", spec.steps.size(), rank);
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t most = pixels && d == 1 ? limits.pixels : limits.side;
        if (spec.box[d] < 1 || spec.box[d] > most)
            fail("box {{{}}}: side {} must be 1 to {} elements", fmt::join(spec.box, ", "), d, most);
    }
    const std::int64_t inner = spec.box[0] * type.bytes;
    if (inner % unit != 0) fail("the box is {} bytes wide: it must be a multiple of {}", inner, unit);
    const std::int64_t span =
        spec.swizzle == TensorMapSwizzle::none ? 0 : 16 << static_cast<int>(spec.swizzle);
    if (span != 0 && inner > span)
        fail("the box is {} bytes wide: at most {} with the {}B swizzle", inner, span, span);
    if (spec.nan_fill && !type.is_float) fail("elements out of bounds can be NaN only for float types");
}

abi::Result encode(const Driver& driver, const TensorMapSpec& spec, TensorMap& map) {
    const auto rank = static_cast<std::uint32_t>(spec.extents.size());
    const std::vector<std::uint64_t> extents(spec.extents.begin(), spec.extents.end());
    std::vector<std::uint64_t> strides(spec.strides.begin(), spec.strides.end());
    strides.resize(rank);  // one dimension has none, but the driver requires an address
    std::vector<std::uint32_t> box(spec.box.begin(), spec.box.end());
    std::vector<std::uint32_t> element_strides(rank, 1);
    std::ranges::copy(spec.steps, element_strides.begin());
    if (!spec.lower.empty()) {
        const std::vector<int> lower(spec.lower.begin(), spec.lower.end()),
            upper(spec.upper.begin(), spec.upper.end());
        return driver.tensor_map_encode_im2col(
            map.bytes, static_cast<int>(spec.type), rank, std::bit_cast<void*>(spec.address), extents.data(),
            strides.data(), lower.data(), upper.data(), box[0], box[1], element_strides.data(),
            interleave_none, static_cast<int>(spec.swizzle), l2_promotion_128b, spec.nan_fill ? 1 : 0);
    }
    // The driver's box is what the copied elements span.
    for (std::size_t d = 1; d < rank; ++d) box[d] *= element_strides[d];
    return driver.tensor_map_encode_tiled(
        map.bytes, static_cast<int>(spec.type), rank, std::bit_cast<void*>(spec.address), extents.data(),
        strides.data(), box.data(), element_strides.data(), interleave_none, static_cast<int>(spec.swizzle),
        l2_promotion_128b, spec.nan_fill ? 1 : 0);
}

TensorMap encode_tensor_map(const Device& device, const TensorMapSpec& spec) {
    check_tensor_map(spec);
    const Context::Entered cuda = device.context().enter();
    TensorMap map{};
    cuda.check(encode(cuda.driver(), spec, map), "encoding a tensor map");
    return map;
}

}  // namespace wgrun::gpu
