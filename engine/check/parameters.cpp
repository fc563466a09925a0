#include "check/parameters.hpp"

#include <fmt/format.h>

#include "isa/parameter_read.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::check {

std::vector<Diagnostic> misread_parameters(const Program& program) {
    std::vector<Diagnostic> out;
    for_each_step(program, [&](const Step& step) {
        const std::optional<isa::ParameterRead> read = isa::parameter_read(step);
        if (!read) return;
        const Param& param = program.params()[static_cast<std::size_t>(read->parameter)];
        const std::int64_t at = program.param_offset(read->parameter) + read->offset;
        if (read->offset < 0 || read->offset + read->bytes > param.bytes())
            out.push_back(rules::finding(
                rules::WG_MEM_07, step.where,
                fmt::format("the kernel reads {} at byte {} of the parameter `{}`, which has {}",
                            count_of(read->bytes, "byte"), read->offset, param.name, param.bytes()),
                "check the offset, the type and the vector"));
        else if (at % read->bytes != 0)
            out.push_back(rules::finding(
                rules::WG_MEM_02, step.where,
                fmt::format("the kernel reads {} at byte {} of the parameters (byte {} of `{}`), which "
                            "is not a multiple of {}",
                            count_of(read->bytes, "byte"), at, read->offset, param.name, read->bytes),
                fmt::format("align the parameter to {}, or read less at a time",
                            count_of(read->bytes, "byte"))));
    });
    return out;
}

}  // namespace wgrun::check
