#include "bindings/cli/tune_worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bindings/lua/guard.hpp"

namespace wgrun::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* step_names[] = {"trace", "model", "compile", "time"};

// Called as (the script's result, rounds or nil, next step, answer). A candidate is built once for the steps
// that follow each other. An interrupt ends the worker.
constexpr const char* server = R"lua(
local given, rounds, next_step, answer = ...
local tuning = require "wgrun".tuning(given)
tuning.rounds = rounds or tuning.rounds
local built, kernel, launch
local steps = {}
local of_machine = { ENODEV = true, ENOENT = true, ENOMEM = true, EIO = true }
local function build(i)
  if built == i then return end
  built, kernel, launch = nil, nil, nil
  collectgarbage()
  kernel, launch = tuning:build(i)
  if kernel == nil then error({ message = launch }, 0) end
  built = i
end
function steps.trace(i) build(i) return 0, tuning:content(kernel, launch) end
function steps.model(i) build(i) return tuning:model(kernel, launch) end
function steps.compile(i) build(i) kernel:resident_clusters() return 0 end
function steps.time(i) build(i) return tuning:time(kernel, launch, i) end
while true do
  local step, i = next_step()
  if not step then return end
  local good, us, text = pcall(steps[step], i)
  if good then
    answer(i, true, us, text or "", false, false)
  else
    local problem = type(us) == "table" and us or { message = tostring(us) }
    if problem.code == "EINTR" then error(us, 0) end
    answer(i, false, 0, tostring(problem.message), (problem.rule or "") ~= "",
      of_machine[problem.code] or false)
  end
end
)lua";

struct Channel {
    int rounds;
    std::FILE* steps;
    Results& results;
};

Channel& channel_of(lua_State* L) { return *static_cast<Channel*>(lua_touserdata(L, lua_upvalueindex(1))); }

// The name of a step and the number of a candidate; nothing when there are no more.
int next_step(lua_State* L) {
    std::array<char, 64> line{};
    std::array<char, 16> step{};
    long long candidate = 0;
    std::FILE* steps = channel_of(L).steps;
    if (std::fgets(line.data(), static_cast<int>(line.size()), steps) == nullptr ||
        std::sscanf(line.data(), "%15s %lld", step.data(), &candidate) != 2)
        return 0;
    lua_pushstring(L, step.data());
    lua_pushinteger(L, candidate);
    return 2;
}

int answer(lua_State* L) {
    Channel& channel = channel_of(L);
    const lua_Integer candidate = luaL_checkinteger(L, 1);
    const bool good = lua_toboolean(L, 2) != 0, finding = lua_toboolean(L, 5) != 0,
               machine = lua_toboolean(L, 6) != 0;
    const double microseconds = luaL_checknumber(L, 3);
    std::size_t length = 0;
    const char* text = luaL_checklstring(L, 4, &length);
    bool written = false;
    lua::guarded(L, [&] {
        const Json json{{"candidate", candidate}, {"good", good},
                        {"us", microseconds},     {"text", std::string(text, length)},
                        {"finding", finding},     {"machine", machine}};
        channel.results.write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
        written = channel.results.finish();
    });
    return written ? 0 : luaL_error(L, "the search has ended");
}

void body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    const auto& channel = *static_cast<Channel*>(context);
    if (!run_scripts(L, request, outcome, 1)) return;
    if (luaL_loadbufferx(L, server, std::char_traits<char>::length(server), "=[wgrun]/tune", "t") != LUA_OK)
        lua_error(L);
    lua_insert(L, -2);
    if (channel.rounds > 0)
        lua_pushinteger(L, channel.rounds);
    else
        lua_pushnil(L);
    for (const lua_CFunction function : {next_step, answer}) {
        lua_pushlightuserdata(L, context);
        lua_pushcclosure(L, function, 1);
    }
    lua_call(L, 4, 0);
}

std::string how(int status) {
    if (!WIFSIGNALED(status)) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

/// The command line of a worker, and its environment.
class Words {
  public:
    explicit Words(std::vector<std::string> words) : words_(std::move(words)) {
        for (std::string& word : words_) pointers_.push_back(word.data());
        pointers_.push_back(nullptr);
    }
    char* const* get() const { return pointers_.data(); }

  private:
    std::vector<std::string> words_;
    std::vector<char*> pointers_;
};

std::vector<std::string> worker_command_line() {
    std::vector<std::string> words = own_command_line();
    const auto command = std::find(words.begin(), words.end(), "tune");
    if (command != words.end()) words.insert(command + 1, "--worker");
    return words;
}

std::vector<std::string> environment_for(const std::optional<std::string>& device) {
    constexpr std::string_view variable = "CUDA_VISIBLE_DEVICES=";
    std::vector<std::string> out;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (!device || !std::string_view(*entry).starts_with(variable)) out.emplace_back(*entry);
    if (device) out.push_back(std::string(variable) + *device);
    return out;
}

}  // namespace

std::vector<std::string> own_command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty()) throw EnvironmentError("EIO", "/proc/self/cmdline cannot be read");
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size(); at += words.back().size() + 1)
        words.emplace_back(text.c_str() + at);
    return words;
}

int serve_tuning(const Request& request, int rounds) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the thread that started it is the search's only one
    // The script reads and writes elsewhere.
    std::FILE* steps = ::fdopen(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "r");
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (steps == nullptr || nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) return Exit::failed;
    Results results(true);
    Channel channel{rounds, steps, results};
    const Outcome outcome = with_state(request, lua::Mode::run, body, &channel);
    print_findings(request, outcome.findings);
    return outcome.code;
}

TuneWorker::TuneWorker(const std::optional<std::string>& device) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw EnvironmentError("EIO", fmt::format("cannot make a socket: {}", std::strerror(errno)));
    channel_ = file::Descriptor(ends[0]);
    const file::Descriptor theirs(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
    // What the script says, this process has said.
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // A group of its own: a Ctrl-C is this process's to answer, and what a worker starts is killed with it.
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    const Words words(worker_command_line()), environment(environment_for(device));
    const file::Starting starting;
    const int error =
        ::posix_spawn(&process_, "/proc/self/exe", &actions, &attributes, words.get(), environment.get());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
        process_ = -1;
        throw EnvironmentError("EIO", fmt::format("cannot start wgrun again: {}", std::strerror(error)));
    }
    leftover_ = file::Leftover::processes(process_);
}

void TuneWorker::begin(Step step, std::size_t candidate, std::chrono::milliseconds limit) {
    const std::string line =
        fmt::format("{} {}\n", step_names[static_cast<std::size_t>(step)], candidate + 1);
    // If it has ended, that is seen when its answer is read.
    [[maybe_unused]] const ssize_t sent = ::send(channel_.get(), line.data(), line.size(), MSG_NOSIGNAL);
    step_ = step;
    candidate_ = candidate;
    deadline_ = Clock::now() + limit;
}

std::optional<Answer> TuneWorker::read(bool& gone) {
    std::array<char, 16384> buffer{};
    const ssize_t got = ::recv(channel_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
    gone = got <= 0;
    if (gone) return std::nullopt;
    received_.append(buffer.data(), static_cast<std::size_t>(got));
    if (received_.back() != '\n') return std::nullopt;
    const Json json = Json::parse(received_, nullptr, false);
    received_.clear();
    step_.reset();
    Answer answer{candidate_, false, 0, "its process gave no answer", false, true};
    if (!json.is_object() || json.value("candidate", std::size_t{0}) != candidate_ + 1) return answer;
    answer.good = json.value("good", false);
    answer.microseconds = json.value("us", 0.0);
    answer.text = json.value("text", std::string());
    answer.finding = json.value("finding", false);
    answer.machine = json.value("machine", false);
    return answer;
}

std::string TuneWorker::end() {
    if (process_ < 0) return {};
    // An end by itself is seen on the socket before the process can be reaped.
    int status = 0;
    pid_t reaped = 0;
    for (int i = 0; i < 100 && reaped == 0; ++i) {
        pollfd life{channel_.get(), POLLIN, 0};
        if (::poll(&life, 1, 0) <= 0) break;
        reaped = ::waitpid(process_, &status, WNOHANG);
        if (reaped == 0) ::usleep(1000);
    }
    ::kill(-process_, SIGKILL);
    while (reaped <= 0 && ::waitpid(process_, &status, 0) < 0)
        if (errno != EINTR) break;
    leftover_.forget();
    process_ = -1;
    return how(status);
}

}  // namespace wgrun::cli
