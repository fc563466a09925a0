// The debugger: where it stops, its commands, and going back by running again.
#include "wgrun/debugger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

#include "debug/things.hpp"
#include "debug/when.hpp"
#include "isa/say.hpp"
#include "sim/memory.hpp"
#include "wgrun/report.hpp"

namespace wgrun {
namespace {

using namespace debugging;

constexpr std::string_view help =
    "break LINE [cta=N,warp=N,lane=N,thread=N,nth=N]   stop when a warp comes to a line of the script\n"
    "break finding | delete [N] | info                 stop at what the simulator finds; take stops away; "
    "list them\n"
    "continue | step | stepi [N]                       go on; to this warp's next line; N of its "
    "instructions\n"
    "back | backi                                      to this warp's line, or instruction, before\n"
    "goto TIME                                         to a time, as stops name it, before or after now\n"
    "print NAME | print/all NAME                       a register, acc[3], acc[ROW,COLUMN], a tile, "
    "tile[STAGE],\n"
    "                                                  a parameter and its tensor; all of a large matrix\n"
    "names                                             what has a name\n"
    "where | list | warps | barriers                   this place; the script around it; all warps; the "
    "mbarriers\n"
    "warp N | cta N                                    look at another warp; a CTA of this cluster\n"
    "watch PLACE | who PLACE                           stop when it changes; who wrote it last. PLACE: "
    "acc[0,1],\n"
    "                                                  tile[3,5], D[0,7], a register, 0xADDRESS:BYTES\n"
    "quit                                              end the kernel here\n";

/// Thrown through the simulator: it is run again from its beginning, or ended.
struct RunAgain {};
struct Ended {};

struct Stop {
    int id = 0;
    enum class Kind : std::uint8_t { line, finding, watch } kind = Kind::line;
    int line = 0;
    DebugWhen when;
    std::map<int, std::uint64_t> times;  ///< that each warp has come
    std::string text;
    Place place;  ///< of a watch
    std::vector<std::byte> bytes;
    std::uint64_t cluster = 0;  ///< in which the watch was set
};

/// What a step writes to memory through the generic proxy.
class WritesOf final : public Deaf {
  public:
    explicit WritesOf(const Step& step) {
        if (step.op->effects) step.op->effects(step, *this);
    }
    const std::vector<isa::MemoryAccess>& writes() const { return writes_; }
    void memory(const isa::MemoryAccess& access) override {
        if (access.write) writes_.push_back(access);
    }

  private:
    std::vector<isa::MemoryAccess> writes_;
};

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

class Session final : public sim::Observer {
  public:
    Session(Kernel& kernel, const RunOptions& options, const DebugConsole& console)
        : program_(kernel.program()), options_(options), console_(console), things_(program_, options_) {
        options_.backend = Backend::sim;
        options_.unchecked = true;
        options_.observer = this;
        options_.simulation.timeout = {};  // people think
        if (console.interrupt != nullptr) options_.stop = nullptr;
        options_.print = [this](std::string_view line) { printed_.emplace_back(line); };
        stops_.push_back({next_id_++, Stop::Kind::finding, 0, {}, {}, "finding", {}, {}, 0});
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

    // --- what the simulator tells ------------------------------------------------------------------

    void begin(sim::View view) override {
        ++cluster_;
        lines_.begin(view.warps());
        known_findings_ = 0;
        for (Stop& stop : stops_) {
            stop.times.clear();
            if (stop.kind == Stop::Kind::watch && follows(stop.place, stop.cluster))
                stop.bytes = bytes_at(stop.place, view);
        }
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
            count_visits(view, number, op, enters);
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
        std::string why = count_visits(view, number, op, enters);
        if (detached_) return;
        if (fresh_) why = "before the first step";
        if (op.step != nullptr && op.step->op == &isa::say::breakpoint()) why = "k:breakpoint";
        if (stepping_ != Stepping::none && number == warp_ && cluster_ == step_cluster_ &&
            (stepping_ == Stepping::instruction ? --steps_left_ == 0 : enters))
            why = "step";
        if (!why.empty()) stop(view, number, why);
    }

    void after(sim::View view, int number, std::uint32_t pc) override {
        now_ = time_ + 1;
        changed(view, number, pc, -1);
        if (view.findings().size() == known_findings_) return;
        const Diagnostic& finding = view.findings().back();
        known_findings_ = view.findings().size();
        const bool wanted =
            std::ranges::any_of(stops_, [](const Stop& s) { return s.kind == Stop::Kind::finding; });
        if (wanted && !detached_ && target_ == 0) stop(view, number, to_text(finding));
    }

    void landed(sim::View view, std::uint32_t pc, int thread) override {
        now_ = time_ + 1;
        changed(view, -1, pc, thread);
    }

    void ended(sim::View view) override {
        now_ = time_ + 1;
        const bool at_end = cluster_ == clusters_ || !view.findings().empty();  // later ones do not run
        if (view.findings().size() != known_findings_ && !detached_ && target_ == 0)
            return stop(view, warp_in(view), to_text(view.findings().back()));
        if (target_ != 0 && at_end) {  // a time that never comes
            target_ = 0;
            const std::optional<Query> query = std::exchange(query_, std::nullopt);
            if (query && query->kind == Query::Kind::before) return go_to(query->last == 0 ? 1 : query->last);
            return stop(view, warp_in(view), query ? answer(*query) : "the kernel has ended");
        }
        if (at_end && !detached_ && target_ == 0) stop(view, warp_in(view), "the kernel has ended");
    }

  private:
    enum class Stepping : std::uint8_t { none, line, instruction };

    /// What a run up to the present is to find out.
    struct Query {
        enum class Kind : std::uint8_t { who, before } kind;
        int warp = 0;
        std::uint64_t cluster = 0;
        // who
        Place place;
        std::vector<std::byte> bytes;
        std::vector<std::string> writes;
        // before: the last time when the warp has come to a line, or executed an instruction
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
        for (Stop& stop : stops_) {
            stop.times.clear();
        }
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

    /// Which of the stops at lines is for this warp now: its words, or nothing.
    std::string count_visits(sim::View view, int number, const sim::Op& op, bool enters) {
        if (!enters) return {};
        std::string why;
        for (Stop& stop : stops_) {
            if (stop.kind != Stop::Kind::line || stop.line != op.where.line ||
                !fits(stop.when, view.warp(number), options_.grid))
                continue;
            const std::uint64_t time = ++stop.times[number];
            if (!stop.when.nth || *stop.when.nth == time) why = fmt::format("stop {}", stop.id);
        }
        return why;
    }

    void note_before(sim::View, int number, bool enters) {
        if (time_ < target_ && cluster_ == query_->cluster && number == query_->warp &&
            (enters || !query_->lines))
            query_->last = time_;
    }

    /// Does the place exist now that was named in that cluster? Global memory does in all of them.
    bool follows(const Place& place, std::uint64_t cluster) const {
        return cluster_ == cluster || (place.rank < 0 && place.warp < 0);
    }

    /// Which lanes of a step that has just been executed have written to the place.
    std::string lanes_of(sim::View view, int number, const sim::Op& op, const Place& place) const {
        if (op.step == nullptr || place.warp >= 0) return {};
        isa::Mask lanes = 0;
        const WritesOf heard(*op.step);
        for (const isa::MemoryAccess& write : heard.writes()) {
            const Operand& address = *write.address;
            const bool global = write.space == isa::Space::global;
            if (!address.reg || global != (place.rank < 0)) continue;
            for (int lane = 0; lane < isa::lanes; ++lane) {
                std::uint64_t at = 0;
                const std::size_t wide = global ? 8 : 4;
                std::memcpy(&at, view.lanes_of(number, address.reg) + static_cast<std::size_t>(lane) * wide,
                            wide);
                at += static_cast<std::uint64_t>(address.offset);
                if (!global) at = (at & own_window) - sim::SharedMemory::base;
                if (at + static_cast<std::uint64_t>(write.bytes) > place.address &&
                    at < place.address + static_cast<std::uint64_t>(place.bytes))
                    lanes |= 1U << lane;
            }
        }
        lanes &= view.warp(number).running;
        if (lanes == 0) return {};
        std::string out;
        const int first = view.warp(number).warp * isa::lanes;
        const auto writes = [&](int lane) { return lane < isa::lanes && (lanes >> lane & 1U) != 0; };
        for (int lane = 0; lane < isa::lanes; ++lane) {
            if (!writes(lane)) continue;
            const int begin = lane;
            while (writes(lane + 1)) ++lane;
            out += fmt::format("{}{}", out.empty() ? "" : ", ", first + begin);
            if (lane > begin) out += fmt::format("-{}", first + lane);
        }
        return fmt::format(", thread{} {}", lanes == (lanes & -lanes) ? "" : "s", out);
    }

    std::string words_of_write(sim::View view, int number, std::uint32_t pc, int thread,
                               const Place& place) const {
        const Where where = view.code().where(pc);
        const std::string line = fmt::format("{}:{}", where.file, where.line);
        if (number < 0) {
            const int warps = view.warps() / view.ctas();
            const int warp = thread / isa::lanes;
            return fmt::format("time {}: the copy of {}, issued by cta {} thread {}, landed", time_, line,
                               number_of(view.cta(warp / warps), options_.grid),
                               thread - warp / warps * warps * isa::lanes);
        }
        const sim::View::Warp warp = view.warp(number);
        return fmt::format("time {}: {}, cta {} warp {}{}", time_, line, number_of(warp.cta, options_.grid),
                           warp.warp, lanes_of(view, number, view.code().ops[pc], place));
    }

    std::string text_of_bytes(const std::vector<std::byte>& bytes) const {
        constexpr std::size_t shown = 16;
        std::string out = "0x";
        for (std::size_t i = std::min(bytes.size(), shown); i > 0; --i)
            out += fmt::format("{:02x}", static_cast<unsigned>(bytes[i - 1]));
        return bytes.size() > shown ? "..." + out.substr(2) : out;
    }

    /// A step of warp `number`, or a copy that a thread has issued, may have changed what is watched.
    void changed(sim::View view, int number, std::uint32_t pc, int thread) {
        if (query_ && query_->kind == Query::Kind::who && follows(query_->place, query_->cluster)) {
            std::vector<std::byte> now = bytes_at(query_->place, view);
            if (now != query_->bytes) {
                query_->writes.push_back(
                    words_of_write(view, number, pc, thread, query_->place) +
                    fmt::format(": {} -> {}", text_of_bytes(query_->bytes), text_of_bytes(now)));
                query_->bytes = std::move(now);
            }
        }
        for (Stop& watch : stops_) {
            if (watch.kind != Stop::Kind::watch || !follows(watch.place, watch.cluster)) continue;
            std::vector<std::byte> now = bytes_at(watch.place, view);
            const std::vector<std::byte> was = std::exchange(watch.bytes, now);
            if (was == now || detached_ || target_ != 0) continue;
            stop(
                view, number < 0 ? warp_in(view) : number,
                fmt::format("stop {}: {} changed from {} to {}\n{}", watch.id, watch.text, text_of_bytes(was),
                            text_of_bytes(now), words_of_write(view, number, pc, thread, watch.place)));
        }
    }

    std::string answer(const Query& query) const {
        if (query.writes.empty()) return fmt::format("nobody has written {} yet", query.place.text);
        std::string out = fmt::format("{} was written", query.place.text);
        constexpr std::size_t shown = 8;
        const std::size_t first = query.writes.size() > shown ? query.writes.size() - shown : 0;
        if (first > 0) out += fmt::format(" {} times, the last ones", query.writes.size());
        for (std::size_t i = first; i < query.writes.size(); ++i) out += "\n  " + query.writes[i];
        return out;
    }

    int warp_in(sim::View view) const { return std::min(warp_, view.warps() - 1); }

    // --- at a stop ---------------------------------------------------------------------------------

    std::string place_of(sim::View view, int number) const {
        const sim::View::Warp warp = view.warp(number);
        const Where where = view.code().where(warp.waits_at != sim::no_pc ? warp.waits_at : warp.pc);
        std::string out = fmt::format("{}:{}, cta {} warp {}, time {}", where.file, where.line,
                                      number_of(warp.cta, options_.grid), warp.warp, now_);
        if (warp.state == sim::View::State::ended)
            return fmt::format("cta {} warp {} has ended, time {}", number_of(warp.cta, options_.grid),
                               warp.warp, now_);
        if (warp.running != warp.all) out += fmt::format(", lanes {:#010x}", warp.running);
        if (warp.state == sim::View::State::waits) out += ", waits " + warp.waits_for;
        if (const std::string line = source_line(where); !line.empty())
            out += fmt::format("\n{:>5} | {}", where.line, line);
        return out;
    }

    void stop(sim::View view, int number, const std::string& why) {
        fresh_ = false;
        stepping_ = Stepping::none;
        warp_ = number;
        if (!why.empty()) say(why);
        say(place_of(view, number));
        for (;;) {
            std::optional<std::string> command = console_.read();
            if (!command && console_.interrupt != nullptr && console_.interrupt->exchange(false)) continue;
            if (!command) {
                detached_ = true;
                return;
            }
            const std::vector<std::string> words = words_of(*command);
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
            throw ArgumentError(fmt::format("`{}` is no number", text));
        return value;
    }

    const std::string& name(const std::vector<std::string>& words) const {
        if (words.size() != 2) throw ArgumentError(fmt::format("`{}` takes one name", words.front()));
        return words[1];
    }

    Where here(sim::View view) const { return view.code().where(view.warp(warp_).pc); }

    /// True when the kernel goes on.
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
        if (command == "delete") return delete_stop(words), false;
        if (command == "info") return list_stops(), false;
        if (is("print", "p") || is("print/all", "p/all")) {
            const auto lanes = [&](int warp, isa::Reg reg) { return view.lanes_of(warp, reg); };
            const Thing thing = things_.find(name(words), here(view));
            say(things_.show(thing, view, warp_, lanes, command.ends_with("/all")));
            return tell_of_others(thing, view), false;
        }
        if (is("names", "n")) return say(things_.names()), false;
        if (is("where", "w")) return say(place_of(view, warp_)), false;
        if (is("list", "l")) return list(view), false;
        if (command == "warps") return warps(view), false;
        if (command == "barriers") return barriers(view), false;
        if (command == "warp")
            return look_at(view, view.warp(warp_).rank, static_cast<int>(count(words, 0))), false;
        if (command == "cta") {
            const std::uint64_t wanted = count(words, 0);
            for (int rank = 0; rank < view.ctas(); ++rank)
                if (number_of(view.cta(rank), options_.grid) == wanted) return look_at(view, rank, 0), false;
            throw ArgumentError(fmt::format("cta {} is not of the cluster that runs", wanted));
        }
        if (command == "watch") {
            Place place = things_.place(name(words), here(view), view, warp_);
            std::vector<std::byte> bytes = bytes_at(place, view);
            stops_.push_back({next_id_++,
                              Stop::Kind::watch,
                              0,
                              {},
                              {},
                              words[1],
                              std::move(place),
                              std::move(bytes),
                              cluster_});
            return say(fmt::format("stop {}: when {} changes", stops_.back().id, words[1])), false;
        }
        if (command == "who") {
            query_ = Query{};
            query_->kind = Query::Kind::who;
            query_->place = things_.place(name(words), here(view), view, warp_);
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
        if (words.size() == 2 && words[1] == "finding") {
            stops_.push_back({next_id_++, Stop::Kind::finding, 0, {}, {}, "finding", {}, {}, 0});
        } else {
            const auto line = static_cast<int>(std::min<std::uint64_t>(count(words, 0), INT32_MAX));
            bool there = false;
            for_each_step(program_.body(),
                          [&](const Step& step) { there = there || step.where.line == line; });
            if (!there)
                throw ArgumentError(fmt::format("kernel {} has no step at line {}", program_.name(), line));
            std::string when;
            for (std::size_t i = 2; i < words.size(); ++i) when += (when.empty() ? "" : ",") + words[i];
            stops_.push_back({next_id_++,
                              Stop::Kind::line,
                              line,
                              DebugWhen::parse(when),
                              {},
                              fmt::format("line {}{}{}", line, when.empty() ? "" : ", ", when),
                              {},
                              {},
                              0});
        }
        say(fmt::format("stop {}: {}", stops_.back().id, stops_.back().text));
    }

    void delete_stop(const std::vector<std::string>& words) {
        if (words.size() < 2) return stops_.clear();
        const std::uint64_t id = count(words, 0);
        if (std::erase_if(stops_,
                          [&](const Stop& stop) { return static_cast<std::uint64_t>(stop.id) == id; }) == 0)
            throw ArgumentError(fmt::format("there is no stop {}", id));
    }

    void list_stops() {
        if (stops_.empty()) say("no stops");
        for (const Stop& stop : stops_)
            say(fmt::format("stop {}: {}{}", stop.id,
                            stop.kind == Stop::Kind::watch ? "when it changes: " : "", stop.text));
    }

    void tell_of_others(const Thing& thing, sim::View view) {
        const std::optional<Things::Holders> held = things_.holders(thing, view, warp_);
        if (!held) return;
        for (int w = held->first; w < held->first + held->warps; ++w)
            if (view.warp(w).pc != view.warp(warp_).pc)
                return say("not all warps of the warpgroup are at this place: `warps` says where they are");
    }

    void list(sim::View view) {
        const Where at = here(view);
        constexpr int around = 5;
        for (int line = std::max(at.line - around, 1); line <= at.line + around; ++line) {
            const std::string text = source_line({at.file, line});
            say(fmt::format("{}{:>4} | {}", line == at.line ? ">" : " ", line, text));
        }
    }

    void warps(sim::View view) {
        for (int w = 0; w < view.warps(); ++w) {
            const sim::View::Warp warp = view.warp(w);
            const Where where = view.code().where(warp.waits_at != sim::no_pc ? warp.waits_at : warp.pc);
            std::string what = fmt::format("at line {}", where.line);
            if (warp.state == sim::View::State::ended) what = "has ended";
            if (warp.state == sim::View::State::waits)
                what = fmt::format("at line {} waits {}", where.line, warp.waits_for);
            say(fmt::format("{} cta {} warp {}: {}", w == warp_ ? ">" : " ",
                            number_of(warp.cta, options_.grid), warp.warp, what));
        }
    }

    void barriers(sim::View view) {
        bool any = false;
        for (int rank = 0; rank < view.ctas(); ++rank)
            for (const sim::View::Mbarrier& mbarrier : view.mbarriers(rank)) {
                any = true;
                if (!mbarrier.live) continue;
                say(fmt::format(
                    "cta {} {}: phase {} (parity {}), {} of {} arrivals have come, {} bytes are outstanding",
                    number_of(view.cta(rank), options_.grid), sim::describe_shared(program_, mbarrier.offset),
                    mbarrier.phase, mbarrier.phase & 1, mbarrier.expected - mbarrier.pending,
                    mbarrier.expected, mbarrier.bytes));
            }
        if (!any) say("no mbarrier is initialised");
        for (int w = 0; w < view.warps(); ++w) {
            const sim::View::Warp warp = view.warp(w);
            if (warp.state == sim::View::State::waits)
                say(fmt::format("cta {} warp {} waits {} (line {})", number_of(warp.cta, options_.grid),
                                warp.warp, warp.waits_for, view.code().where(warp.waits_at).line));
        }
    }

    void look_at(sim::View view, int rank, int warp) {
        for (int w = 0; w < view.warps(); ++w)
            if (view.warp(w).rank == rank && view.warp(w).warp == warp) {
                warp_ = w;
                return say(place_of(view, w));
            }
        throw ArgumentError(fmt::format("the CTA has no warp {}", warp));
    }

    /// Of an address of shared memory in the window of the cluster, what counts within the CTA.
    static constexpr std::uint64_t own_window = 0xFFFFFF;

    const Program& program_;
    RunOptions options_;
    const DebugConsole& console_;
    Things things_;
    std::vector<std::pair<Tensor*, std::vector<std::byte>>> before_;  ///< the tensors as they were
    std::uint64_t clusters_ = 0;                                      ///< of the grid

    // Of the run at hand.
    std::uint64_t time_ = 0, cluster_ = 0;  ///< operations begun, clusters begun
    std::uint64_t now_ = 0;                 ///< time of the operation that comes next
    std::size_t known_findings_ = 0;
    Lines lines_;
    std::vector<std::string> printed_;

    std::vector<Stop> stops_;
    int next_id_ = 1;
    bool fresh_ = true, detached_ = false;
    int warp_ = 0;  ///< of the cluster, that is looked at
    Stepping stepping_ = Stepping::none;
    std::uint64_t steps_left_ = 0, step_cluster_ = 0;
    std::uint64_t target_ = 0;  ///< the time to stop at, before which nothing stops; 0: none
    std::optional<Query> query_;
};

}  // namespace

void debug(Kernel& kernel, const RunOptions& options, const DebugConsole& console) {
    Session(kernel, options, console).run(kernel);
}

}  // namespace wgrun
