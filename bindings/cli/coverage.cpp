#include "bindings/cli/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bindings/cli/cli.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {

std::string coverage_text(const Coverage& coverage) {
    // Variants that a loop or a library makes have one line.
    std::vector<std::pair<CoveredKernel, int>> kernels;
    for (const CoveredKernel& kernel : coverage.kernels()) {
        if (kernel.instructions.empty()) continue;
        const auto known = std::ranges::find_if(kernels, [&](const auto& other) {
            return other.first.where == kernel.where && other.first.name == kernel.name;
        });
        if (known == kernels.end()) {
            kernels.emplace_back(kernel, 1);
        } else {
            std::ranges::copy(kernel.instructions, std::back_inserter(known->first.instructions));
            ++known->second;
        }
    }
    std::string out;
    for (const auto& [kernel, count] : kernels)
        out += fmt::format("{}{}: coverage: {}\n", printable(kernel.name),
                           count == 1 ? "" : fmt::format(" ({} kernels)", count), kernel.text());
    return out;
}

nlohmann::ordered_json coverage_json(const Coverage& coverage) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const CoveredKernel& kernel : coverage.kernels()) {
        nlohmann::ordered_json one{{"kernel", kernel.name},
                                   {"file", kernel.where.file},
                                   {"line", kernel.where.line},
                                   {"executed", kernel.executed()},
                                   {"of", kernel.instructions.size()},
                                   {"lines", nlohmann::ordered_json::array()}};
        for (const auto& [file, lines] : kernel.missing())
            if (file == kernel.where.file)
                one["lines"] = lines;
            else
                one["elsewhere"].push_back({{"file", file}, {"lines", lines}});
        out.push_back(std::move(one));
    }
    return out;
}

bool lacks_coverage(const Coverage& coverage, int percent) {
    bool lacks = false;
    for (const CoveredKernel& kernel : coverage.kernels()) {
        if (kernel.percent() >= percent) continue;
        lacks = true;
        remark(fmt::format("wgrun: coverage of {} is {:.1f} %, less than --min-coverage {}",
                           printable(kernel.name), kernel.percent(), percent));
    }
    return lacks;
}

}  // namespace wgrun::cli
