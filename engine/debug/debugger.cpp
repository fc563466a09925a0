// The debugger: its stops, its commands, and going back by running the kernel again.
#include "wgrun/debugger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "debug/stop_text.hpp"
#include "debug/stops.hpp"
#include "debug/writes.hpp"
#include "isa/device_print.hpp"
#include "wgrun/report.hpp"

namespace wgrun {
namespace {

using namespace debugging;

constexpr std::string_view help =
    "break LINE [cta=N,warp=N,lane=N,thread=N,nth=N]   stop when a warp reaches a line of the script\n"
    "break finding | delete [N] | info                 stop at findings of the simulator; delete stops; "
    "list them\n"
    "continue | step | stepi [N]                       continue; go to this warp's next line; by N of its "
    "instructions\n"
    "back | backi                                      go to this warp's previous line, or instruction\n"
    "goto TIME                                         go to a time that a stop has printed, in either "
    "direction\n"
    "print NAME | print/all NAME                       a register, acc[3], acc[ROW,COLUMN], a tile, "
    "tile[STAGE],\n"
    "                                                  a parameter and its tensor; all of a large matrix\n"
    "names                                             everything that print knows by its name\n"
    "where | list | warps | barriers                   this place; the script around it; all warps; the "
    "mbarriers\n"
    "warp N | cta N                                    look at another warp; a CTA of this cluster\n"
    "watch PLACE | who PLACE                           stop when it changes; who wrote it last. PLACE: "
    "acc[0,1],\n"
    "                                                  tile[3,5], D[0,7], a register, 0xADDRESS:BYTES\n"
    "quit                                              end the kernel here\n";

/// Thrown through the simulator, to run the kernel again from its beginning, or to end it.
struct RunAgain {};
struct Ended {};

std::vector<std::string> split(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

class Session final : public sim::Observer {
  public:
    Session(Kernel& kernel, const RunOptions& options, const DebugConsole& console)
        : program_(kernel.program()),
          options_(options),
          console_(console),
          symbols_(program_, options_),
          stops_(program_, options.grid) {
        options_.backend = Backend::sim;
        options_.unchecked = true;
        options_.observer = this;
        options_.simulation.timeout = {};  // a person's pauses are not limited
        if (console.interrupt != nullptr) options_.stop = nullptr;
        options_.print = [this](std::string_view line) { printed_.emplace_back(line); };
        clusters_ = options_.grid.volume() / program_.cluster().volume();
        for (const Argument& argument : options_.args)
            if (auto* const* tensor = std::get_if<Tensor*>(&argument)) {
                const std::span<const std::byte> bytes = std::as_const(**tensor).bytes();
                before_.emplace_back(*tensor, std::vector<std::byte>(bytes.begin(), bytes.end()));
            }
    }

    void run(Kernel& kernel) {
        for (const Diagnostic& finding : kernel.check()) say(to_text(finding));
        for (;;) {
            start_over();
            try {
                kernel.run(options_);
            } catch (const RunAgain&) {
                printed_.clear();
                continue;
            } catch (const Ended&) {
                restore();
                return;
            } catch (...) {
                print_messages();
                throw;
            }
            return print_messages();
        }
    }

    // --- events of the simulator ------------------------------------------------------------------

    void begin(sim::View view) override {
        ++cluster_;
        lines_.begin(view.warps());
        known_findings_ = 0;
        stops_.forget_visits();
        for (Stop& stop : stops_.all())
            if (stop.kind == Stop::Kind::watch && follows(stop.place, stop.cluster))
                stop.bytes = bytes_at(stop.place, view);
        if (query_ && query_->kind == Query::Kind::who && follows(query_->place, query_->cluster))
            query_->bytes = bytes_at(query_->place, view);
    }

    void before(sim::View view, int number) override {
        now_ = ++time_;
        const std::uint32_t pc = view.warp(number).pc;
        const sim::Op& op = view.code().ops[pc];
        const bool enters = lines_.enters(number, pc, op.where);
        if (query_ && query_->kind == Query::Kind::before) note_before(view, number, enters);
        if (target_ != 0) {
            if (enters) stops_.visit(view, number, op.where);
            if (time_ < target_) return;
            target_ = 0;
            const std::optional<Query> query = std::exchange(query_, std::nullopt);
            if (query && query->kind == Query::Kind::before) return go_to(query->last == 0 ? 1 : query->last);
            stop(view, query ? query->warp : number,
                 query && query->kind == Query::Kind::who ? answer(*query) : "");
            return;
        }
        if (console_.interrupt != nullptr && console_.interrupt->exchange(false))
            return stop(view, number, "interrupted");
        std::string why = enters ? stops_.visit(view, number, op.where) : "";
        if (detached_) return;
        if (fresh_) why = "before the first step";
        if (op.step != nullptr && op.step->op == &isa::device_print::breakpoint()) why = "k:breakpoint";
        if (stepping_ != Stepping::none && number == warp_ && cluster_ == step_cluster_ &&
            (stepping_ == Stepping::instruction ? --steps_left_ == 0 : enters))
            why = "step";
        if (!why.empty()) stop(view, number, why);
    }

    void after(sim::View view, int number, std::uint32_t pc) override {
        now_ = time_ + 1;
        look(view, {number, pc, -1, time_});
        if (view.findings().size() == known_findings_) return;
        const Diagnostic& finding = view.findings().back();
        known_findings_ = view.findings().size();
        if (stops_.at_findings() && !detached_ && target_ == 0) stop(view, number, to_text(finding));
    }

    void landed(sim::View view, std::uint32_t pc, int thread) override {
        now_ = time_ + 1;
        look(view, {-1, pc, thread, time_});
    }

    void ended(sim::View view) override {
        now_ = time_ + 1;
        const bool at_end = cluster_ == clusters_ || !view.findings().empty();  // later clusters do not run
        if (view.findings().size() != known_findings_ && !detached_ && target_ == 0)
            return stop(view, warp_in(view), to_text(view.findings().back()));
        if (target_ != 0 && at_end) {  // a time that is never reached
            target_ = 0;
            const std::optional<Query> query = std::exchange(query_, std::nullopt);
            if (query && query->kind == Query::Kind::before) return go_to(query->last == 0 ? 1 : query->last);
            return stop(view, warp_in(view), query ? answer(*query) : "the kernel has ended");
        }
        if (at_end && !detached_ && target_ == 0) stop(view, warp_in(view), "the kernel has ended");
    }

  private:
    enum class Stepping : std::uint8_t { none, line, instruction };

    /// What a run up to the present time has to find out.
    struct Query {
        enum class Kind : std::uint8_t { who, before } kind;
        int warp = 0;
        std::uint64_t cluster = 0;
        // who
        Place place;
        std::vector<std::byte> bytes;
        std::vector<std::string> writes;
        // before: the last time at which the warp reached a line, or executed an instruction
        bool lines = true;
        std::uint64_t last = 0;
    };

    void say(std::string_view text) {
        std::string out(text);
        if (!out.ends_with('\n')) out += '\n';
        console_.write(out);
    }

    void restore() {
        for (auto& [tensor, bytes] : before_) std::ranges::copy(bytes, tensor->bytes().begin());
    }

    void start_over() {
        restore();
        time_ = cluster_ = 0;
        known_findings_ = 0;
        stops_.forget_visits();
    }

    void print_messages() {
        for (const std::string& line : printed_) say(line);
        printed_.clear();
    }

    [[noreturn]] void go_to(std::uint64_t time) {
        target_ = time;
        throw RunAgain();
    }

    // --- stops -------------------------------------------------------------------------------------

    void note_before(sim::View, int number, bool enters) {
        if (time_ < target_ && cluster_ == query_->cluster && number == query_->warp &&
            (enters || !query_->lines))
            query_->last = time_;
    }

    /// Does a place that was named in that cluster exist now? Global memory exists in every cluster.
    bool follows(const Place& place, std::uint64_t cluster) const {
        return cluster_ == cluster || (place.rank < 0 && place.warp < 0);
    }

    /// Compares the watched places: a step, or a copy that has landed, may have changed them.
    void look(sim::View view, const Write& change) {
        if (query_ && query_->kind == Query::Kind::who && follows(query_->place, query_->cluster)) {
            std::vector<std::byte> now = bytes_at(query_->place, view);
            if (now != query_->bytes) {
                query_->writes.push_back(
                    words_of(change, view, query_->place, options_.grid) +
                    fmt::format(": {} -> {}", text_of_bytes(query_->bytes), text_of_bytes(now)));
                query_->bytes = std::move(now);
            }
        }
        std::string why;  // for all stops: the commands at a stop may add and delete stops
        for (Stop& watch : stops_.all()) {
            if (watch.kind != Stop::Kind::watch || !follows(watch.place, watch.cluster)) continue;
            std::vector<std::byte> now = bytes_at(watch.place, view);
            const std::vector<std::byte> was = std::exchange(watch.bytes, now);
            if (was == now || detached_ || target_ != 0) continue;
            if (!why.empty()) why += '\n';
            why +=
                fmt::format("stop {}: {} changed from {} to {}\n{}", watch.id, watch.text, text_of_bytes(was),
                            text_of_bytes(now), words_of(change, view, watch.place, options_.grid));
        }
        if (!why.empty()) stop(view, change.warp < 0 ? warp_in(view) : change.warp, why);
    }

    std::string answer(const Query& query) const {
        if (query.writes.empty()) return fmt::format("no thread has written {} yet", query.place.text);
        std::string out = fmt::format("{} was written", query.place.text);
        constexpr std::size_t shown = 8;
        const std::size_t first = query.writes.size() > shown ? query.writes.size() - shown : 0;
        if (first > 0) out += fmt::format(" {} times, the last ones", query.writes.size());
        for (std::size_t i = first; i < query.writes.size(); ++i) out += "\n  " + query.writes[i];
        return out;
    }

    int warp_in(sim::View view) const { return std::min(warp_, view.warps() - 1); }

    // --- at a stop ---------------------------------------------------------------------------------

    std::string place(sim::View view, int number) const {
        return place_of(view, number, options_.grid, now_);
    }

    void stop(sim::View view, int number, const std::string& why) {
        fresh_ = false;
        stepping_ = Stepping::none;
        warp_ = number;
        if (!why.empty()) say(why);
        say(place(view, number));
        for (;;) {
            std::optional<std::string> command = console_.read();
            if (!command && console_.interrupt != nullptr && console_.interrupt->exchange(false)) continue;
            if (!command) {
                detached_ = true;
                return;
            }
            const std::vector<std::string> words = split(*command);
            if (words.empty() || words.front().starts_with('#')) continue;
            try {
                if (execute(words, view)) return;
            } catch (const ArgumentError& error) {
                say(to_report({&error.finding(), 1}, "", false));
            }
        }
    }

    std::uint64_t count(const std::vector<std::string>& words, std::uint64_t otherwise) const {
        if (words.size() < 2) return otherwise;
        std::uint64_t value = 0;
        const std::string& text = words[1];
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem != std::errc() || end != text.data() + text.size())
            throw ArgumentError(fmt::format("`{}` is not a number", text));
        return value;
    }

    const std::string& name(const std::vector<std::string>& words) const {
        if (words.size() != 2) throw ArgumentError(fmt::format("`{}` takes one name", words.front()));
        return words[1];
    }

    Where here(sim::View view) const { return view.code().where(view.warp(warp_).pc); }

    /// True if the kernel continues.
    bool execute(const std::vector<std::string>& words, sim::View view) {
        const std::string& command = words.front();
        const auto is = [&](std::string_view full, std::string_view brief) {
            return command == full || command == brief;
        };
        if (is("continue", "c")) return true;
        if (is("step", "s") || is("stepi", "si")) {
            stepping_ = is("step", "s") ? Stepping::line : Stepping::instruction;
            steps_left_ = count(words, 1);
            step_cluster_ = cluster_;
            return true;
        }
        if (is("back", "b") || is("backi", "bi")) {
            query_ = Query{};
            query_->kind = Query::Kind::before;
            query_->warp = warp_;
            query_->cluster = cluster_;
            query_->lines = is("back", "b");
            go_to(now_);
        }
        if (command == "goto") {
            const std::uint64_t time = count(words, 0);
            if (time == 0) throw ArgumentError("goto TIME, from 1 on");
            if (time < now_) go_to(time);
            target_ = time;
            return true;
        }
        if (is("quit", "q")) throw Ended();
        if (command == "break") return add_stop(words), false;
        if (command == "delete")
            return words.size() < 2 ? stops_.clear() : stops_.remove(count(words, 0)), false;
        if (command == "info") {
            for (const std::string& line : stops_.text()) say(line);
            return false;
        }
        if (is("print", "p") || is("print/all", "p/all")) {
            const auto lanes = [&](int warp, isa::Reg reg) { return view.lanes_of(warp, reg); };
            const Symbol symbol = symbols_.find(name(words), here(view));
            say(symbols_.show(symbol, view, warp_, lanes, command.ends_with("/all")));
            return tell_of_others(symbol, view), false;
        }
        if (is("names", "n")) return say(symbols_.names()), false;
        if (is("where", "w")) return say(place(view, warp_)), false;
        if (is("list", "l")) return say(listing(here(view))), false;
        if (command == "warps") return say(warps_of(view, warp_, options_.grid)), false;
        if (command == "barriers") return say(barriers_of(view, options_.grid)), false;
        if (command == "warp")
            return look_at(view, view.warp(warp_).rank, static_cast<int>(count(words, 0))), false;
        if (command == "cta") {
            const std::uint64_t wanted = count(words, 0);
            for (int rank = 0; rank < view.ctas(); ++rank)
                if (number_of(view.cta(rank), options_.grid) == wanted) return look_at(view, rank, 0), false;
            throw ArgumentError(fmt::format("cta {} is not in the cluster that is running", wanted));
        }
        if (command == "watch") {
            Place place = symbols_.place(name(words), here(view), view, warp_);
            std::vector<std::byte> bytes = bytes_at(place, view);
            const Stop& stop = stops_.add_watch(words[1], std::move(place), std::move(bytes), cluster_);
            return say(fmt::format("stop {}: when {} changes", stop.id, words[1])), false;
        }
        if (command == "who") {
            query_ = Query{};
            query_->kind = Query::Kind::who;
            query_->place = symbols_.place(name(words), here(view), view, warp_);
            query_->warp = warp_;
            query_->cluster = cluster_;
            go_to(now_);
        }
        if (is("help", "h")) return say(help), false;
        constexpr std::string_view known[] = {"continue", "step",  "stepi",  "back",     "backi", "goto",
                                              "quit",     "break", "delete", "info",     "names", "print",
                                              "where",    "list",  "warps",  "barriers", "warp",  "cta",
                                              "watch",    "who",   "help"};
        throw ArgumentError(fmt::format("no command `{}`{}", command, nearest(command, known)),
                            "help lists them");
    }

    void add_stop(const std::vector<std::string>& words) {
        std::string when;
        for (std::size_t i = 2; i < words.size(); ++i) when += (when.empty() ? "" : ",") + words[i];
        const Stop& stop =
            words.size() == 2 && words[1] == "finding"
                ? stops_.add_finding()
                : stops_.add_line(static_cast<int>(std::min<std::uint64_t>(count(words, 0), INT32_MAX)),
                                  when);
        say(fmt::format("stop {}: {}", stop.id, stop.text));
    }

    void tell_of_others(const Symbol& symbol, sim::View view) {
        const std::optional<Symbols::Holders> held = symbols_.holders(symbol, view, warp_);
        if (!held) return;
        for (int w = held->first; w < held->first + held->warps; ++w)
            if (view.warp(w).pc != view.warp(warp_).pc)
                return say("not all warps of the warpgroup are at this place: `warps` says where they are");
    }

    void look_at(sim::View view, int rank, int warp) {
        for (int w = 0; w < view.warps(); ++w)
            if (view.warp(w).rank == rank && view.warp(w).warp == warp) {
                warp_ = w;
                return say(place(view, w));
            }
        throw ArgumentError(fmt::format("the CTA has no warp {}", warp));
    }

    const Program& program_;
    RunOptions options_;
    const DebugConsole& console_;
    Symbols symbols_;
    std::vector<std::pair<Tensor*, std::vector<std::byte>>> before_;  ///< the tensors before the run
    std::uint64_t clusters_ = 0;                                      ///< of the grid

    // The state of the current run.
    std::uint64_t time_ = 0, cluster_ = 0;  ///< operations begun, clusters begun
    std::uint64_t now_ = 0;                 ///< time of the next operation
    std::size_t known_findings_ = 0;
    Lines lines_;
    std::vector<std::string> printed_;

    Stops stops_;
    bool fresh_ = true, detached_ = false;
    int warp_ = 0;  ///< the selected warp of the cluster
    Stepping stepping_ = Stepping::none;
    std::uint64_t steps_left_ = 0, step_cluster_ = 0;
    std::uint64_t target_ = 0;  ///< the time to stop at, without stops before it; 0: none
    std::optional<Query> query_;
};

}  // namespace

void debug(Kernel& kernel, const RunOptions& options, const DebugConsole& console) {
    Session(kernel, options, console).run(kernel);
}

}  // namespace wgrun
