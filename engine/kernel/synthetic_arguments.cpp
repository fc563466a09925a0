#include "kernel/synthetic_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernel/synthetic.hpp"
#include "kernel/synthetic_params.hpp"

namespace wgrun {
namespace {

/// Of each tensor, in bytes: with numbers of 2048 a matrix of 64 bits has so many.
constexpr std::int64_t bytes_of_tensor = std::int64_t{1} << 25;

}  // namespace

SyntheticArguments::SyntheticArguments(const Program& program, const FoundIn& launch) : word_(launch.others) {
    const SyntheticParams params = synthetic_params(program, launch.others.value_or(1));
    for (std::size_t i = 0; i < program.params().size(); ++i) {
        const Param& param = program.params()[i];
        if (param.box) {
            std::vector<std::int64_t> shape = synthetic_extents(*param.box);
            std::ranges::reverse(shape);
            all_.emplace_back(&tensors_.emplace_back(Tensor::zeros(param.box->dtype, std::move(shape))));
        } else if (param.type == isa::Type::tensormap) {
            throw ArgumentError(
                fmt::format("kernel {}: the launch decides the box of tensor map `{}`, and the finding does "
                            "not name it",
                            program.name(), param.name),
                "describe a launch in a file, and find it there: check --dynamic --launch FILE");
        } else if (param.structure > 0) {
            all_.push_back(structure(params.structures[i]));
        } else if (param.pointee || param.variable || params.addresses[i]) {
            all_.emplace_back(memory());
        } else {
            all_.emplace_back(static_cast<std::int64_t>(params.values[i]));
        }
    }
}

Tensor* SyntheticArguments::memory() {
    Tensor& made = tensors_.emplace_back(Tensor::zeros(Dtype::u32, {bytes_of_tensor / 4}));
    if (word_) {
        const std::span<std::byte> bytes = made.bytes();
        for (std::size_t at = 0; at < bytes.size(); at += sizeof *word_)
            std::memcpy(bytes.data() + at, &*word_, sizeof *word_);
    }
    return &made;
}

Argument SyntheticArguments::structure(std::span<const std::byte> bytes) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    Structure out{static_cast<std::int64_t>(bytes.size()), {}};
    for (std::size_t at = 0; at < bytes.size(); at += word) {
        const std::span<const std::byte> part = bytes.subspan(at, std::min(word, bytes.size() - at));
        std::uint64_t value = 0;
        std::memcpy(&value, part.data(), part.size());
        const auto offset = static_cast<std::int64_t>(at);
        if (is_synthetic_address(value))
            out.parts.push_back({offset, TensorView{memory()}});
        else
            out.parts.push_back({offset, std::vector<std::byte>(part.begin(), part.end())});
    }
    return out;
}

}  // namespace wgrun
