#include "wgrun/safetensors.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "tensor/input_file.hpp"
#include "tensor/safetensors_header.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // bytes: what the format's own reader allows

std::string header_text(const InputFile& file) {
    const auto failure = [&](std::string_view what) {
        return ArgumentError(fmt::format("{}: {}", file.name(), what));
    };
    if (file.size() < length_bytes) throw failure("not a .safetensors file (it has no header)");
    std::array<std::byte, length_bytes> digits{};
    file.read(0, digits);
    std::uint64_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;)
        length = length << 8 | std::to_integer<std::uint64_t>(digits[i]);
    if (length > longest_header)
        throw failure(
            fmt::format("not a .safetensors file, or damaged: a header of {}, at most {} are possible",
                        count_of(length, "byte"), longest_header));
    if (length > file.size() - length_bytes)
        throw failure(fmt::format("truncated: a header of {} expected, {} found", count_of(length, "byte"),
                                  file.size() - length_bytes));
    std::string text(length, ' ');
    file.read(length_bytes, std::as_writable_bytes(std::span(text)));
    if (!text.starts_with('{')) throw failure("not a .safetensors file (its header does not start with {)");
    return text;
}

}  // namespace

Safetensors load_safetensors(const std::filesystem::path& path, Loading loading) {
    const InputFile file(path);
    const std::string text = header_text(file);
    const std::uint64_t start = length_bytes + text.size();
    SafetensorsHeader header = parse_safetensors_header(text, file.size() - start, file.name());
    Safetensors out;
    out.metadata = std::move(header.metadata);
    const std::shared_ptr<std::byte> mapped = loading == Loading::map ? file.map() : nullptr;
    for (SafetensorsEntry& entry : header.entries) {
        const std::uint64_t at = start + entry.begin,
                            element = static_cast<std::uint64_t>(bits(entry.dtype)) / 8;
        if (mapped && at % element == 0) {
            out.tensors.emplace_back(std::move(entry.name), Tensor::wrap(entry.dtype, std::move(entry.shape),
                                                                         mapped.get() + at, mapped));
        } else {
            Tensor tensor = Tensor::zeros(entry.dtype, std::move(entry.shape));
            file.read(at, tensor.bytes());
            out.tensors.emplace_back(std::move(entry.name), std::move(tensor));
        }
    }
    return out;
}

}  // namespace wgrun
