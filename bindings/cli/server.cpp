#include "bindings/cli/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <thread>

#include "bindings/cli/cli.hpp"
#include "bindings/cli/json_value.hpp"

namespace wgrun::cli {
namespace {

using Clock = Job::Clock;

constexpr std::size_t longest_line = std::size_t{64} << 20;
/// Messages that wait. Nothing more is read while there are so many.
constexpr std::size_t most_waiting = 1024;
/// Bytes of answers that a peer has not read. Nothing more is read from it while there are so many.
constexpr std::size_t most_unsent = std::size_t{8} << 20;

/// Milliseconds until then, for poll; -1: never.
int until(Clock::time_point when) {
    if (when == Clock::time_point::max()) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(when - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 1000000));
}

}  // namespace

void Server::add(file::Descriptor in, file::Descriptor out) {
    peers_.push_back({std::move(in), std::move(out)});
}

void Server::read(Peer& peer) {
    std::array<char, 1 << 16> part;
    const ssize_t got = ::read(peer.in.get(), part.data(), part.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got > 0) peer.unread.append(part.data(), static_cast<std::size_t>(got));
    if (got < 0) count(Exit::failed);
    if (got <= 0) {
        peer.ended = true;
        if (!peer.unread.empty()) peer.unread += '\n';
    }
    std::size_t begin = 0;
    for (std::size_t end; (end = peer.unread.find('\n', begin)) != std::string::npos; begin = end + 1)
        take(peer, peer.unread.substr(begin, end - begin));
    peer.unread.erase(0, begin);
    if (peer.unread.size() > longest_line) {
        send(peer, job_error(nullptr, "EINVAL",
                             fmt::format("line {}: longer than {} MiB", peer.lines + 1, longest_line >> 20)));
        peer.ended = true;
        peer.unread.clear();
    }
}

void Server::take(Peer& peer, const std::string& line) {
    ++peer.lines;
    if (line.find_first_not_of(" \t\r") == std::string::npos) return;
    nlohmann::json message;
    nlohmann::ordered_json id;
    try {
        message = JsonValue::parse(line);
        if (message.is_discarded()) throw ArgumentError("no JSON");
        if (message.is_object() && message.contains("id")) id = message.at("id");
        if (message.is_object() && message.contains("cancel")) return cancel(peer, message);
        waiting_.push_back({&peer, JobRequest(message, how_)});
        ++peer.jobs;
    } catch (const ArgumentError& error) {
        count(Exit::failed);
        send(peer, job_error(id, "EINVAL", fmt::format("line {}: {}", peer.lines, error.what())));
    }
}

void Server::cancel(Peer& peer, const nlohmann::json& message) {
    const nlohmann::ordered_json id = message.at("cancel");
    for (Running& one : running_)
        if (one.peer == &peer && one.job.id() == id) one.job.stop("ECANCELED", "cancelled");
    for (auto one = waiting_.begin(); one != waiting_.end();) {
        if (one->peer != &peer || one->request.id != id) {
            ++one;
            continue;
        }
        --peer.jobs;
        send(peer, job_error(id, "ECANCELED", "cancelled"));
        one = waiting_.erase(one);
    }
}

/// Nobody reads the answers.
void Server::give_up(Peer& peer) {
    std::erase_if(waiting_, [&](const Waiting& one) { return one.peer == &peer; });
    std::erase_if(running_, [&](const Running& one) { return one.peer == &peer; });
    peer.jobs = 0;
    peer.unsent.clear();
    peer.ended = peer.broken = true;
}

void Server::send(Peer& peer, const nlohmann::ordered_json& answer) {
    peer.unsent += answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    write(peer);
}

/// Writes what can be written without waiting: a pipe that is ready takes PIPE_BUF bytes.
void Server::write(Peer& peer) {
    std::size_t sent = 0;
    while (sent < peer.unsent.size() && !peer.broken) {
        pollfd ready{peer.out.get(), POLLOUT, 0};
        if (poll(&ready, 1, 0) == 0) break;
        const std::size_t part = std::min<std::size_t>(peer.unsent.size() - sent, PIPE_BUF);
        const ssize_t written = ::write(peer.out.get(), peer.unsent.data() + sent, part);
        if (written >= 0)
            sent += static_cast<std::size_t>(written);
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            peer.broken = true;
    }
    peer.unsent.erase(0, sent);
    if (peer.broken) count(Exit::failed);
}

void Server::start() {
    while (!waiting_.empty() && running_.size() < static_cast<std::size_t>(how_.jobs)) {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        const nlohmann::ordered_json id = next.request.id;
        try {
            running_.push_back({next.peer, Job(std::move(next.request), how_.seconds)});
        } catch (const EnvironmentError& error) {
            --next.peer->jobs;
            count(Exit::failed);
            send(*next.peer, job_error(id, error.code(), error.what()));
        }
    }
}

/// Codes that differ make a failure.
void Server::count(int code) {
    if (code != Exit::ok) code_ = code_ == Exit::ok || code_ == code ? code : int{Exit::failed};
}

void Server::end(std::list<Running>::iterator done) {
    const nlohmann::ordered_json answer = done->job.answer();
    count(answer.contains("code") ? answer["code"].get<int>() : int{Exit::failed});
    --done->peer->jobs;
    accepting_ = true;
    send(*done->peer, answer);
    running_.erase(done);
}

void Server::accept() {
    file::Descriptor peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    accepting_ = static_cast<bool>(peer);  // without a descriptor to spare it waits until somebody leaves
    if (!peer) return;
    file::Descriptor out(fcntl(peer.get(), F_DUPFD_CLOEXEC, 0));
    if (out) add(std::move(peer), std::move(out));
}

bool Server::over() const {
    return !socket_ && waiting_.empty() && running_.empty() &&
           std::ranges::all_of(
               peers_, [](const Peer& peer) { return peer.ended && (peer.unsent.empty() || peer.broken); });
}

int Server::run() {
    std::signal(SIGPIPE, SIG_IGN);  // a peer that is gone is one that cannot be written to
    while (!over()) {
        start();
        std::vector<pollfd> all;
        std::vector<Peer*> of;
        Clock::time_point next = Clock::time_point::max();
        for (const Running& one : running_) {
            all.push_back({one.job.descriptor(), POLLIN, 0});
            next = std::min(next, one.job.end());
        }
        for (Peer& peer : peers_) {
            of.push_back(&peer);
            const bool reads =
                !peer.ended && waiting_.size() < most_waiting && peer.unsent.size() < most_unsent;
            all.push_back({reads ? peer.in.get() : -1, POLLIN, 0});
            all.push_back({peer.broken ? -1 : peer.out.get(),
                           static_cast<short>(peer.unsent.empty() ? 0 : POLLOUT), 0});
        }
        if (socket_) all.push_back({accepting_ ? socket_.get() : -1, POLLIN, 0});
        if (poll(all.data(), all.size(), until(next)) < 0 && errno != EINTR)
            throw EnvironmentError("EIO", fmt::format("poll: {}", std::strerror(errno)));
        const std::size_t jobs = running_.size();
        std::size_t at = 0;
        for (auto one = running_.begin(); one != running_.end(); ++at) {
            const auto job = one++;
            if (all[at].revents != 0)
                end(job);
            else if (Clock::now() >= job->job.end())
                job->job.stop("ETIMEDOUT", "it took longer than its time");
        }
        for (std::size_t i = 0; i < of.size(); ++i) {
            const pollfd &in = all[jobs + 2 * i], &out = all[jobs + 2 * i + 1];
            if ((out.revents & (POLLERR | POLLHUP)) != 0) of[i]->broken = true;
            if ((out.revents & POLLOUT) != 0) write(*of[i]);
            if (in.revents != 0) read(*of[i]);
        }
        if (socket_ && all.back().revents != 0) accept();
        for (Peer& peer : peers_)
            if (peer.broken) give_up(peer);
        accepting_ |= std::erase_if(peers_, [&](const Peer& peer) {
                          return peer.ended && peer.jobs == 0 && (peer.unsent.empty() || peer.broken);
                      }) > 0;
    }
    return code_;
}

int default_jobs() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_jobs); }

int serve_lines(file::Descriptor in, Serving how) {
    file::Descriptor out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!out) throw EnvironmentError("EIO", fmt::format("standard output: {}", std::strerror(errno)));
    Server server(std::move(how));
    server.add(std::move(in), std::move(out));
    return server.run();
}

}  // namespace wgrun::cli
