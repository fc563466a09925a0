#include "bindings/cli/tune_launcher.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <vector>

#include "bindings/cli/tune_worker.hpp"
#include "file/replacement.hpp"
#include "gpu/process.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::cli {
namespace {

namespace fs = std::filesystem;

constexpr int attempts = 3;                             // without a result that is new
constexpr std::chrono::hours queue_patience{24 * 365};  // the queue of a site

std::string shell_word(const std::string& word) {
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

/// The options of this command line that a shard takes too, quoted for a shell.
std::string options_of_shards(const Request& request) {
    constexpr std::array<std::string_view, 5> ours = {"--launcher", "--shards", "--launcher-args", "--hosts",
                                                      "--results"};
    const std::vector<std::string> words = own_command_line();
    const auto command = std::find(words.begin(), words.end(), "tune");
    const auto end = words.end() - static_cast<std::ptrdiff_t>(request.args.size()) - 1;
    std::string out;
    for (auto word = command + 1; word < end; ++word) {
        const auto matches = [&](std::string_view option) {
            return word->starts_with(option) &&
                   (word->size() == option.size() || (*word)[option.size()] == '=');
        };
        const auto option = std::find_if(ours.begin(), ours.end(), matches);
        if (option != ours.end()) {
            if (*word == *option) ++word;  // its value is the next word
        } else if (*word != "--json") {
            out += " " + shell_word(*word);
        }
    }
    return out;
}

class Shards {
  public:
    Shards(const Request& request, const LauncherOptions& options)
        : options_(options), results_(fs::absolute(options.results).string()), script_(results_ + ".sh") {
        for (int shard = 1; shard <= options.shards; ++shard) fs::remove(done(shard));
        std::string file = shell_word(request.file);
        for (const std::string& word : request.args) file += " " + shell_word(word);
        file::replace(
            script_,
            fmt::format(
                "#!/bin/sh\n"
                "# One shard of a search, written by wgrun tune: the first argument, or the task of a job "
                "array.\n"
                "shard=${{SLURM_ARRAY_TASK_ID:-$1}}\n"
                "cd {0} || exit 1\n"
                "{1} tune{2} --results {3} --shard \"$shard/{4}\" {5} && : >{3}.\"$shard\"-of-{4}.done\n",
                shell_word(fs::current_path().string()),
                shell_word(fs::read_symlink("/proc/self/exe").string()), options_of_shards(request),
                shell_word(results_), options.shards, file));
    }

    std::vector<int> missing() const {
        std::vector<int> out;
        for (int shard = 1; shard <= options_.shards; ++shard)
            if (!fs::exists(done(shard))) out.push_back(shard);
        return out;
    }

    /// Starts these shards and waits for all of them; what the launcher has said.
    std::string run(const std::vector<int>& shards) const {
        std::string command;
        if (options_.launcher == "slurm")
            command = fmt::format(
                "sbatch --wait --job-name=wgrun-tune --requeue --open-mode=append --array={}{} --output={} "
                "{} {}",
                fmt::join(shards, ","), options_.gpu ? " --gres=gpu:1" : "", shell_word(results_ + ".%a.log"),
                options_.arguments, shell_word(script_));
        else  // which gives its command to a shell, once more
            command =
                fmt::format("parallel --will-cite --jobs 1 {} {} sh {} ::: {}",
                            options_.hosts.empty() ? "" : "--sshloginfile " + shell_word(options_.hosts),
                            options_.arguments, shell_word(shell_word(script_)), fmt::join(shards, " "));
        const gpu::ProcessResult result = gpu::run_process({"/bin/sh", "-c", command}, queue_patience);
        constexpr int not_found = 127;
        if (result.status == not_found)
            throw EnvironmentError(
                "ENOENT", fmt::format("{} cannot be started: {}", options_.launcher, result.output),
                options_.launcher == "slurm" ? "install Slurm's clients" : "install GNU parallel");
        return result.output;
    }

    /// How many results there are, all together.
    std::size_t merge() const {
        std::vector<std::string> files;
        for (int shard = 1; shard <= options_.shards; ++shard)
            if (std::string file = shard_file(results_, shard, options_.shards); fs::exists(file))
                files.push_back(std::move(file));
        return merge_records(files, results_);
    }

    /// Removes what only the shards needed.
    void clear() const {
        for (int shard = 1; shard <= options_.shards; ++shard) {
            fs::remove(done(shard));
            fs::remove(shard_file(results_, shard, options_.shards));
            fs::remove(fmt::format("{}.{}.log", results_, shard));
        }
        fs::remove(script_);
    }

  private:
    std::string done(int shard) const { return shard_file(results_, shard, options_.shards) + ".done"; }

    const LauncherOptions& options_;
    std::string results_, script_;
};

}  // namespace

void launch_shards(const Request& request, const LauncherOptions& options) {
    if (options.results.empty())
        throw ArgumentError("--launcher needs --results FILE, on a file system that all machines share");
    const Progress progress(Progress::Is::work,
                            fmt::format("{} shards by {}", options.shards, options.launcher));
    const Shards shards(request, options);
    std::size_t known = shards.merge();
    std::string said;
    for (int in_vain = 0; in_vain < attempts;) {
        const std::vector<int> missing = shards.missing();
        if (missing.empty()) return shards.clear();
        said = shards.run(missing);
        const std::size_t now = shards.merge();
        in_vain = now > known || shards.missing().size() < missing.size() ? 0 : in_vain + 1;
        known = now;
    }
    const std::vector<int> missing = shards.missing();
    const bool one = missing.size() == 1;
    throw EnvironmentError(
        "EIO", fmt::format("the {} {} {}; {} in {}, what they said is beside it\n{}",
                           one ? "shard" : "shards", fmt::join(missing, ", "), one ? "fails" : "fail",
                           count_of(known, "result is", "results are"), options.results, said));
}

}  // namespace wgrun::cli
