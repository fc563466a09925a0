// wgrun cache info|clear|verify: the cache of compiled kernels on disk.
#include "gpu/cache.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/command.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::cli {
namespace cache_detail {
namespace {

using Json = nlohmann::ordered_json;

double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// The output, for people and for programs, and the exit code.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON throws only in a function that asserts
struct Answer {
    std::string text;
    Json json;
    int code = Exit::ok;
};

/// The answer when the action failed for the reason `why`.
Answer refused(const std::string& folder, const std::string& why) {
    return {"", {{"folder", folder}, {"problem", why}}, Exit::failed};
}

Answer info(const gpu::Cache& cache) {
    const gpu::CacheInfo info = cache.info();
    Json json{
        {"folder", info.folder}, {"entries", info.entries}, {"bytes", info.bytes}, {"limit", info.limit}};
    if (!info.missing.empty()) {
        json["off"] = info.missing;
        return {fmt::format("nothing is cached: {}\n", info.missing), std::move(json)};
    }
    return {
        fmt::format("{}\n{}, {:.1f} of {:.0f} MiB\n", info.folder, count_of(info.entries, "entry", "entries"),
                    mebibytes(info.bytes), mebibytes(info.limit)),
        std::move(json)};
}

Answer clear(const gpu::Cache& cache) {
    const std::string folder = cache.info().folder;
    const gpu::CacheCleared done = cache.clear();
    if (!done.problem.empty()) return refused(folder, done.problem);
    return {fmt::format("{} removed, {:.1f} MiB\n", count_of(done.entries, "entry", "entries"),
                        mebibytes(done.bytes)),
            {{"folder", folder}, {"removed", done.entries}, {"bytes", done.bytes}}};
}

Answer verify(const gpu::Cache& cache) {
    const std::string folder = cache.info().folder;
    const gpu::CacheVerified found = cache.verify();
    if (!found.problem.empty()) return refused(folder, found.problem);
    Answer answer;
    answer.json = {{"folder", folder}, {"good", found.good}, {"removed", Json::array()}};
    for (const gpu::CacheVerified::Fault& fault : found.faults) {
        answer.text += fmt::format("{} removed: {}\n", fault.name, fault.why);
        answer.json["removed"].push_back({{"name", fault.name}, {"why", fault.why}});
    }
    answer.text += fmt::format("{} intact, {} damaged\n", count_of(found.good, "entry is", "entries are"),
                               count_of(found.faults.size(), "was", "were"));
    if (!found.faults.empty()) answer.code = Exit::failed;
    return answer;
}

int cache(const Request& request, const std::string& action) {
    const gpu::Cache cache = gpu::Cache::standard();
    Results results(false);
    const Answer answer = action == "clear" ? clear(cache) : action == "verify" ? verify(cache) : info(cache);
    if (answer.json.contains("problem"))
        remark(fmt::format("wgrun: the cache {} cannot be used: {}", answer.json["folder"].get<std::string>(),
                           answer.json["problem"].get<std::string>()));
    results.write(request.json ? answer.json.dump(2) + "\n" : answer.text);
    return results.finish() ? answer.code : Exit::failed;
}

Command::Run declare(Arguments& arguments) {
    const auto action = std::make_shared<std::string>();
    arguments.option("ACTION", *action, "info, clear (remove all entries) or verify (read all)")
        .one_of({"info", "clear", "verify"})
        .required();
    return [action](const Request& request) { return cache(request, *action); };
}

}  // namespace
}  // namespace cache_detail

const Command cache_command{"cache", "Describe the cache on disk, empty it, or check it for damage",
                            Takes::nothing, cache_detail::declare};

}  // namespace wgrun::cli
