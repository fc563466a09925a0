#include "kernel/granted.hpp"

#include <fmt/format.h>

#include <cstring>

#include "check/gaps.hpp"
#include "check/metadata.hpp"
#include "kernel/arguments.hpp"

namespace wgrun {
namespace {

std::optional<std::uint32_t> illegal_word(const Tensor& tensor, const isa::Codes& codes) {
    std::uint32_t word = 0;
    const std::span<const std::byte> bytes = tensor.bytes();
    for (std::size_t at = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if (!codes.all_of(word)) return word;
    }
    return {};
}

}  // namespace

std::optional<Gap> illegal_metadata(const Program& program, const std::vector<Argument>& args) {
    for (const check::LegalWords& words : check::prove_metadata(program, check::Made::by_author).words) {
        const auto param = static_cast<std::size_t>(words.param);
        if (param >= args.size()) continue;
        for (const PassedTensor& passed : passed_tensors(args[param]))
            if (passed.host != nullptr)
                if (const auto word = illegal_word(*passed.host, words.codes))
                    return Gap{
                        Property::descriptors, program.where(),
                        fmt::format("a launch passes 0x{:08x}, and the proof holds if {}", *word, words.text),
                        std::string(check::run_it)};
    }
    return {};
}

}  // namespace wgrun
