// Boxes of tensor maps: the limits of cuTensorMapEncodeTiled that do not depend on the tensor.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "wgrun/count_of.hpp"
#include "wgrun/program.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/target.hpp"

namespace wgrun {

std::int64_t TensorBox::bytes() const {
    std::int64_t out = bits(dtype) / 8;
    for (std::int64_t extent : extents) out *= extent;
    return out;
}

std::int64_t TensorBox::pitch() const {
    return swizzle == SwizzleMode::none ? extents[0] * bits(dtype) / 8 : width(swizzle);
}

std::int64_t TensorBox::span() const {
    const std::int64_t line = extents[0] * bits(dtype) / 8;
    return line == 0 ? 0 : bytes() / line * pitch();
}

void TensorBox::for_each_run(std::uint32_t address,
                             const std::function<void(std::uint32_t, std::uint32_t)>& f) const {
    const auto unit = static_cast<std::uint32_t>(width(SwizzleMode::none));  // what a swizzle keeps together
    const auto line = static_cast<std::uint32_t>(extents[0] * bits(dtype) / 8);
    const auto step = static_cast<std::uint32_t>(pitch()), end = address + static_cast<std::uint32_t>(span());
    if (line == step) return f(address, end - address);
    for (; address != end; address += step)
        for (std::uint32_t at = 0; at < line; at += unit) f(swizzled(swizzle, address + at), unit);
}

namespace {

/// The limits of cuTensorMapEncodeIm2col.
void check_pixels(const TensorBox& box, const std::function<void(const std::string&)>& refuse) {
    const std::size_t rank = box.extents.size();
    if (rank < 3) refuse("an im2col map has 3 to 5 dimensions: channels, one to three of pixels, images");
    const std::size_t corner = rank - 2;
    if (box.pixels->lower.size() != corner || box.pixels->upper.size() != corner)
        refuse(fmt::format("`lower` and `upper` have {} offsets each for {}", corner,
                           count_of(rank, "dimension")));
    // Of 16 bits for one dimension of pixels, of 8 for two, of 5 for three.
    const std::int64_t most = corner == 1 ? 1 << 15 : corner == 2 ? 1 << 7 : 1 << 4;
    for (const auto* offsets : {&box.pixels->lower, &box.pixels->upper})
        for (const std::int64_t offset : *offsets)
            if (offset < -most || offset >= most)
                refuse(fmt::format("offsets of corners are {} to {} for {}", -most, most - 1,
                                   count_of(rank, "dimension")));
}

}  // namespace

void check_box(const TensorBox& box) {
    const auto refuse = [&](const std::string& why) {
        throw rules::refusal(rules::WG_TMA_04,
                             fmt::format("tensor map: box {{{}}} of {}: {}", fmt::join(box.extents, ", "),
                                         to_string(box.dtype), why));
    };
    if (bits(box.dtype) < 8) refuse("elements are at least one byte");
    constexpr Target::TensorMaps limits = sm_90a.tensor_maps;
    if (box.extents.empty() || box.extents.size() > limits.dims)
        refuse(fmt::format("1 to {} dimensions are possible", limits.dims));
    for (std::size_t d = 0; d < box.extents.size(); ++d) {
        const bool column = box.pixels && d == 1;
        const std::int64_t most = column ? limits.pixels : limits.side;
        if (box.extents[d] < 1 || box.extents[d] > most)
            refuse(column ? fmt::format("a column has 1 to {} pixels", most)
                          : fmt::format("each extent is 1 to {} elements", most));
    }
    if (!box.steps.empty() && box.steps.size() != box.extents.size())
        refuse(fmt::format("{} for {}", count_of(box.steps.size(), "step"),
                           count_of(box.extents.size(), "dimension")));
    for (const std::int64_t step : box.steps)
        if (step < 1 || step > limits.step) refuse(fmt::format("each step is 1 to {} elements", limits.step));
    for (std::size_t d = 1; d < box.steps.size() && !box.pixels; ++d)
        if (box.extents[d] * box.steps[d] > limits.side)
            refuse(fmt::format("with steps of {} dimension {} spans more than {} elements", box.steps[d], d,
                               limits.side));
    if (box.pixels) check_pixels(box, refuse);
    const std::int64_t inner = box.extents[0] * bits(box.dtype) / 8;
    if (inner % limits.unit != 0)
        refuse(fmt::format("{} wide, which is not a multiple of {}", count_of(inner, "byte"), limits.unit));
    if (box.swizzle != SwizzleMode::none && inner > width(box.swizzle))
        refuse(fmt::format("{} wide: at most {} with the {} swizzle", count_of(inner, "byte"),
                           width(box.swizzle), to_string(box.swizzle)));
    if (box.nan_fill && !is_float(box.dtype)) refuse("only floats can be filled with NaN");
}

}  // namespace wgrun
