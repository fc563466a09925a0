// The stops of the debugger: at lines of the script, at findings, at places that change.
#pragma once

#include <map>

#include "debug/debug_symbols.hpp"
#include "debug/when.hpp"

namespace wgrun::debugging {

struct Stop {
    enum class Kind : std::uint8_t { line, finding, watch };
    int id = 0;
    Kind kind = Kind::line;
    std::string text;  ///< as `info` lists it
    int line = 0;
    DebugWhen when{};
    std::map<int, std::uint64_t> times{};  ///< how often each warp has reached it
    Place place{};                         ///< of a watch
    std::vector<std::byte> bytes{};        ///< contents at the last comparison
    std::uint64_t cluster = 0;             ///< the cluster in which the watch was set
};

class Stops {
  public:
    /// At first there is one stop, at findings.
    Stops(const Program& program, Dim3 grid);

    /// Both throw ArgumentError if the kernel has no such line or `when` is malformed.
    const Stop& add_line(int line, const std::string& when);
    const Stop& add_finding();
    const Stop& add_watch(const std::string& text, Place place, std::vector<std::byte> bytes,
                          std::uint64_t cluster);
    /// Throws ArgumentError if there is no such stop.
    void remove(std::uint64_t id);
    void clear() { list_.clear(); }
    std::vector<std::string> text() const;  ///< lines

    bool at_findings() const;
    std::vector<Stop>& all() { return list_; }

    /// The run begins again: resets all counts.
    void forget_visits();
    /// A warp has reached a line: returns the stop that applies, in words, or nothing.
    std::string visit(sim::View view, int warp, Where where);

  private:
    const Stop& add(Stop stop);

    const Program& program_;
    const Dim3 grid_;
    std::vector<Stop> list_;
    int next_ = 1;
};

}  // namespace wgrun::debugging
