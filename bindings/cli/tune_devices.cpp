#include "bindings/cli/tune_devices.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <sstream>

#include "wgrun/diagnostic.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::cli {
namespace {

std::vector<std::string> parts_of(const std::string& list) {
    std::vector<std::string> parts;
    std::istringstream text(list);
    for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
    return parts;
}

std::size_t number_of(const std::string& part) {
    std::size_t number = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    if (part.empty() || read.ec != std::errc() || read.ptr != part.data() + part.size())
        throw ArgumentError(
            fmt::format("--devices: `{}` is no number of a GPU (all, or a list as in 0,2)", part));
    return number;
}

}  // namespace

std::vector<std::string> devices_named(const std::string& list) {
    if (list.empty()) return {""};
    const gpu::MachineReport report = gpu::doctor();
    if (report.devices.empty())
        throw ArgumentError("--devices " + list + ": there is no GPU: " + report.no_device);
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    const std::vector<std::string> named = parts_of(visible == nullptr ? "" : visible);
    std::vector<std::size_t> numbers;
    if (list == "all")
        for (std::size_t i = 0; i < report.devices.size(); ++i) numbers.push_back(i);
    else
        for (const std::string& part : parts_of(list)) numbers.push_back(number_of(part));
    std::vector<std::string> out;
    for (const std::size_t number : numbers) {
        if (number >= report.devices.size())
            throw ArgumentError(fmt::format("--devices {}: there is no GPU {}: the last one is {}", list,
                                            number, report.devices.size() - 1));
        if (report.devices[number].name != report.devices[numbers.front()].name)
            throw ArgumentError(
                fmt::format("--devices {}: the GPUs differ: {} and {}; name those of one kind", list,
                            report.devices[numbers.front()].name, report.devices[number].name));
        out.push_back(number < named.size() ? named[number] : std::to_string(number));
    }
    return out;
}

}  // namespace wgrun::cli
