// wgrun doctor: what this machine can compile and run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bindings/cli/command.hpp"
#include "gpu/disassemble.hpp"
#include "kernel/assembler_faults.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::cli {
namespace doctor_detail {
namespace {

std::string describe(const gpu::Part& part) {
    if (!part) return "missing: " + part.missing;
    return part.version.empty() ? part.path : part.version + ", " + part.path;
}

nlohmann::ordered_json to_object(const gpu::Part& part) {
    if (!part) return {{"missing", part.missing}};
    return {{"version", part.version}, {"path", part.path}};
}

std::string describe(const gpu::DeviceInfo& device) {
    return fmt::format("{}, sm_{}{}, {} SMs, {:.0f} GiB", device.name, device.major, device.minor,
                       device.sm_count, static_cast<double>(device.memory_bytes) / (1 << 30));
}

std::string describe(const gpu::CacheInfo& cache) {
    if (!cache.missing.empty()) return "off: " + cache.missing;
    return fmt::format(
        "{}, {}, {:.1f} of {:.0f} MiB", cache.folder, count_of(cache.entries, "entry", "entries"),
        static_cast<double>(cache.bytes) / (1 << 20), static_cast<double>(cache.limit) / (1 << 20));
}

/// The faults that this ptxas has.
std::vector<const AssemblerFault*> faults_of(const gpu::Part& ptxas) {
    std::vector<const AssemblerFault*> out;
    if (const auto version = assembler_version_of(ptxas.version))
        for (const AssemblerFault& fault : assembler_faults())
            if (fault.in(*version)) out.push_back(&fault);
    return out;
}

/// The PTX that it reads: "9.0"; empty: nobody knows.
std::string newest_of(const gpu::Part& ptxas) {
    const auto version = assembler_version_of(ptxas.version);
    const auto newest = version ? newest_ptx(*version) : std::nullopt;
    return newest ? fmt::format("{}.{}", newest->major, newest->minor) : std::string();
}

std::string about(const gpu::Part& ptxas) {
    std::string out;
    if (const std::string newest = newest_of(ptxas); !newest.empty())
        out += fmt::format("                reads PTX up to .version {}\n", newest);
    for (const AssemblerFault* fault : faults_of(ptxas))
        out += fmt::format("                known fault ({}): {}{}; {}\n", fault->reports, fault->what,
                           fault->shape.empty() ? "" : fmt::format(", with {}", fault->shape), fault->remedy);
    return out;
}

std::string to_text(const gpu::MachineReport& report, const BackendChoice& choice) {
    std::string text = fmt::format("kernels run on  {} ({})\n", to_string(choice.backend), choice.why);
    text += fmt::format("driver          {}\n", describe(report.driver));
    for (const gpu::DeviceInfo& device : report.devices) {
        text += fmt::format("device {}        {}\n", device.ordinal, describe(device));
    }
    if (!report.no_device.empty()) text += fmt::format("device          none: {}\n", report.no_device);
    text += report.worker ? fmt::format("GPU runs in     a worker process of {}\n", report.worker.path)
                          : fmt::format("GPU runs in     this process: {}\n", report.worker.missing);
    text += fmt::format("NVRTC           {}\n", describe(report.nvrtc));
    text += fmt::format("ptxas           {}\n", describe(report.ptxas)) + about(report.ptxas);
    // Tools that are switched off may be installed.
    const bool off = report.ptxas.missing.starts_with("switched off");
    if (!(report.ptxas && report.nvrtc) && !off)
        text +=
            "                pip install nvidia-cuda-nvcc nvidia-cuda-nvrtc provides both without a "
            "toolkit\n";
    text += fmt::format("nvdisasm        {}\n", describe(gpu::find_nvdisasm()));
    text += fmt::format("cuBLAS          {}\n", describe(report.cublas));
    text += fmt::format("cache           {}\n", describe(report.cache));
    return text;
}

nlohmann::ordered_json to_object(const gpu::MachineReport& report, const BackendChoice& choice) {
    nlohmann::ordered_json json = {
        {"backend", to_string(choice.backend)},
        {"why", choice.why},
        {"driver", to_object(report.driver)},
        {"devices", nlohmann::ordered_json::array()},
        {"no_device", report.no_device},
        {"worker", to_object(report.worker)},
        {"nvrtc", to_object(report.nvrtc)},
        {"ptxas", to_object(report.ptxas)},
        {"nvdisasm", to_object(gpu::find_nvdisasm())},
        {"cublas", to_object(report.cublas)},
        {"cache", {{"folder", report.cache.folder}, {"bytes", report.cache.bytes}}}};
    if (report.ptxas) json["ptxas"]["ptx"] = newest_of(report.ptxas);
    for (const AssemblerFault* fault : faults_of(report.ptxas))
        json["ptxas"]["faults"].push_back({{"reports", fault->reports},
                                           {"what", fault->what},
                                           {"shape", fault->shape},
                                           {"fix", fault->remedy}});
    for (const gpu::DeviceInfo& device : report.devices) {
        json["devices"].push_back({{"name", device.name},
                                   {"capability", fmt::format("{}.{}", device.major, device.minor)},
                                   {"sm_count", device.sm_count},
                                   {"memory_bytes", device.memory_bytes}});
    }
    return json;
}

int doctor(const Request& request) {
    Results results(false);
    const gpu::MachineReport report = gpu::doctor();
    const BackendChoice choice = choose_backend(Backend::automatic);
    results.write(request.json ? to_object(report, choice).dump(2) + "\n" : to_text(report, choice));
    return results.finish() ? Exit::ok : Exit::failed;
}

}  // namespace
}  // namespace doctor_detail

const Command doctor_command{"doctor", "Describe what this machine can compile and run", Takes::nothing,
                             [](Arguments&) -> Command::Run { return doctor_detail::doctor; }};

}  // namespace wgrun::cli
