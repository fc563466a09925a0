#include "bindings/cli/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bindings/cli/check_ptx.hpp"
#include "bindings/cli/gather.hpp"
#include "bindings/cli/input.hpp"
#include "bindings/cli/json_value.hpp"
#include "bindings/lua/types.hpp"
#include "program/wait_words.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/printable.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::cli {
namespace replay_detail {
namespace {

/// A finding that is to show again.
struct Asked {
    std::string rule;
    int line = 0;
    FoundIn launch;
    /// A hang names everybody who waits: the likeliest cause by itself, the others in notes.
    bool operator()(const Diagnostic& found) const {
        const auto here = [&](const Note& note) { return note.where.line == line; };
        if (found.rule == rule && found.where.line == line) return true;
        return hangs() && wait_words::is_law(found.rule) &&
               (found.where.line == line || std::ranges::any_of(found.notes, here));
    }
    bool hangs() const { return wait_words::is_law(rule); }
};

FoundIn launch_of(const JsonValue& value) {
    value.has_only(
        {"by", "kernel", "grid", "block", "cluster", "numbers", "others", "first", "seed", "file"});
    FoundIn out;
    const std::string by = value.at("by").string();
    if (by == "script")
        out.by = FoundIn::By::script;
    else if (by == "file")
        out.by = FoundIn::By::file;
    else if (by != "wgrun")
        value.at("by").refuse(R"("wgrun", "script" or "file")");
    out.kernel = value.at("kernel").string();
    const auto extents = [&](const char* name, std::array<std::uint32_t, 3>& to) {
        const Dim3 all = value.at(name).extents();
        to = {all.x, all.y, all.z};
    };
    extents("grid", out.grid);
    extents("block", out.block);
    extents("cluster", out.cluster);
    const JsonValue numbers = value.at("numbers");
    if (!numbers.json().is_object()) numbers.refuse("an object: names and numbers");
    for (const auto& [name, number] : numbers.json().items())
        out.numbers.emplace_back(name, JsonValue(number, numbers.place() + "." + name).integer());
    const auto count = [&](const char* name, std::int64_t most) {
        const std::int64_t number = value.at(name).integer();
        if (number < 0 || number > most) value.at(name).refuse(fmt::format("0 to {}", most));
        return static_cast<std::uint64_t>(number);
    };
    if (value.has("others")) out.others = static_cast<std::uint32_t>(count("others", UINT32_MAX));
    out.first = count("first", INT64_MAX);
    out.seed = count("seed", INT64_MAX);
    if (value.has("file")) out.file = value.at("file").string();
    return out;
}

std::vector<Asked> read(const std::string& file) {
    const nlohmann::json json = JsonValue::parse(contents(file));
    if (json.is_discarded()) throw ArgumentError(file + ": no JSON");
    const JsonValue whole(json, std::filesystem::path(file).filename().string());
    std::vector<Asked> out;
    const auto add = [&](const JsonValue& finding) {
        if (!finding.has("launch")) return;
        const std::string rule = finding.at("rule").string();
        if (find_rule(rule) == nullptr) finding.at("rule").refuse("the id of a rule (wgrun rules)");
        const std::int64_t line = finding.at("line").integer();
        if (line < 0 || line > INT32_MAX) finding.at("line").refuse("a line");
        out.push_back({rule, static_cast<int>(line), launch_of(finding.at("launch"))});
    };
    if (whole.has("findings"))
        for (const JsonValue& finding : whole.at("findings").list()) add(finding);
    else
        add(whole);
    if (out.empty())
        throw ArgumentError(file + ": no finding that names a launch: a check shows it without one");
    return out;
}

/// A kernel of a script, and what its launch breaks.
struct Again {
    const Asked& asked;
    ReplayOptions how;
    bool known = false;
    std::vector<Diagnostic> findings{};
};

void replay_kernel(Kernel& kernel, void* context) {
    auto& again = *static_cast<Again*>(context);
    if (kernel.program().name() != again.asked.launch.kernel) return;
    again.known = true;
    std::ranges::move(kernel.replay(again.asked.launch, again.asked.rule, again.how),
                      std::back_inserter(again.findings));
}

void replay_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    static_cast<Again*>(context)->how.stop = &lua::session(L).stop;
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    for_each_kernel(L, outcome, replay_kernel, context);
}

/// Runs the script with the guarded builds of its kernels on the GPU.
void guarded_body(lua_State* L, const Request& request, Outcome& outcome, void* /*context*/) {
    lua::guarded(L, [&] {
        lua::session(L).debug = [backend = request.backend](Kernel& kernel, const RunOptions& options) {
            run_or_guard(backend, kernel, options);
        };
    });
    run_scripts(L, request, outcome);
}

/// Ends the replay with what ended the script, unless that was a finding.
std::vector<Diagnostic> findings_of(Outcome outcome) {
    if (outcome.code == Exit::no_device) throw EnvironmentError("ENODEV", outcome.findings.front().message);
    return std::move(outcome.findings);
}

std::vector<Diagnostic> replay_script(const Request& request, const Asked& asked) {
    const bool simulated = request.backend == Backend::sim;
    if (asked.launch.by == FoundIn::By::script && asked.launch.numbers.empty()) {
        if (simulated) return explore(request, asked.launch.seed, nullptr).findings;
        return findings_of(with_state(request, lua::Mode::run, guarded_body, nullptr));
    }
    if (asked.launch.by == FoundIn::By::script)
        return sweep_sizes(request, {.only = &asked.launch, .backend = request.backend}).findings.list();
    Again again{asked, {.backend = request.backend, .isolation = request.isolation}};
    const Outcome outcome = with_state(request, lua::Mode::trace, replay_body, &again);
    if (outcome.code != Exit::ok && !outcome.findings.empty()) throw ArgumentError(outcome.findings.front());
    if (!again.known)
        throw ArgumentError(fmt::format("{} has no kernel `{}`", request.file, asked.launch.kernel));
    return std::move(again.findings);
}

}  // namespace
}  // namespace replay_detail

int replay(Request request, const std::optional<std::string>& text, const std::string& file,
           Results& results) {
    using replay_detail::Asked;
    const std::vector<Asked> all = replay_detail::read(file);
    if (request.backend == Backend::automatic) request.backend = Backend::sim;
    const bool simulated = request.backend == Backend::sim;
    for (const Asked& asked : all)
        if (!simulated && !asked.hangs())
            throw ArgumentError(
                fmt::format("{}: {} is seen on the simulator alone: a GPU shows kernels that hang", file,
                            asked.rule),
                "leave --backend out");
    choose_backend(request.backend, request.isolation);
    FindingSet shown;
    std::size_t again = 0;
    for (const Asked& asked : all) {
        bool has = false;
        for (const Diagnostic& found : text ? replay_ptx(request, *text, asked.launch, asked.rule)
                                            : replay_detail::replay_script(request, asked)) {
            if (!asked(found)) {
                if (!simulated) remark("on the GPU: " + to_line(found));
                continue;
            }
            shown.add(found);
            has = true;
        }
        again += has ? 1 : 0;
    }
    if (request.json) {
        results.write(to_json(shown.list()) + "\n");
    } else {
        print_findings(request, shown.list());
        results.write(fmt::format("{}: {} of {} shown again\n", printable(request.file), again,
                                  count_of(all.size(), "finding")));
    }
    if (!results.finish()) return Exit::failed;
    return shown.empty() ? Exit::ok : Exit::failed;
}

}  // namespace wgrun::cli
