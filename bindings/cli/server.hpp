// Messages in, answers out: lines of JSON on descriptors, each message a process (job.hpp).
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bindings/cli/job.hpp"
#include "file/descriptor.hpp"

namespace wgrun::cli {

/// Each has a place in the table of what a signal ends (file/leftovers.hpp).
constexpr int most_jobs = 100;
/// Of a message in a batch: it has limits of its own.
constexpr double batch_seconds = 3600;
/// As many processes as the machine has cores.
int default_jobs();

class Server {
  public:
    explicit Server(Serving how) : how_(std::move(how)) {}

    /// Serves who connects to this listening socket, until the process ends.
    void listen(file::Descriptor socket) { socket_ = std::move(socket); }
    /// Serves who writes to `in`; answers go to `out`.
    void add(file::Descriptor in, file::Descriptor out);

    /// Works until nobody can send any more and everything is answered. Returns Exit::ok, the exit code of
    /// all answers that have another, or Exit::failed.
    int run();

  private:
    /// Who sends messages and gets answers. `in` and `out` may be the same.
    struct Peer {
        file::Descriptor in, out;
        std::string unread{}, unsent{};
        bool ended = false;   ///< nothing more comes
        bool broken = false;  ///< it cannot be written to
        std::size_t lines = 0;
        std::size_t jobs = 0;  ///< that are waiting or running
    };
    struct Waiting {
        Peer* peer;
        JobRequest request;
    };
    struct Running {
        Peer* peer;
        Job job;
    };

    void read(Peer& peer);
    void take(Peer& peer, const std::string& line);
    void cancel(Peer& peer, const nlohmann::json& message);
    void give_up(Peer& peer);
    void send(Peer& peer, const nlohmann::ordered_json& answer);
    void write(Peer& peer);
    void start();
    void count(int code);
    void end(std::list<Running>::iterator done);
    void accept();
    bool over() const;

    Serving how_;
    file::Descriptor socket_;
    std::list<Peer> peers_;
    std::deque<Waiting> waiting_;
    std::list<Running> running_;
    bool accepting_ = true;
    int code_ = 0;
};

/// Serves the lines of `in`; answers go to standard output. Returns the exit code, as Server::run().
int serve_lines(file::Descriptor in, Serving how);

}  // namespace wgrun::cli
