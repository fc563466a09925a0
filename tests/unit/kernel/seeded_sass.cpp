// Faults put into machine code: waits, fences, barriers, copies, products and stores that are left out,
// moved, repeated, narrowed or given other numbers, and registers of products that are used too early. All
// are found, but those that change nothing.
//
// tests/sass has the PTX of four kernels and what nvdisasm prints of them, assembled by ptxas 13.0.88 at -O3.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>

#include "kernel/machine_code.hpp"
#include "sass/record.hpp"
#include "sass/registers.hpp"
#include "source_folder.hpp"
#include "tests/catch.hpp"

using namespace wgrun;

namespace {

std::string contents(const std::string& name) {
    std::ifstream file(WGRUN_SOURCE_DIR "/tests/sass/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

constexpr std::string_view line_mark = "//## File \".nv_debug_ptx_txt\", line ";

/// A text of nvdisasm, line by line.
class Text {
  public:
    explicit Text(const std::string& text) {
        std::istringstream input(text);
        for (std::string line; std::getline(input, line);) lines_.push_back(line);
    }
    std::size_t size() const { return lines_.size(); }
    bool is_instruction(std::size_t at) const {
        return lines_[at].starts_with("/*") && !lines_[at].starts_with("/* 0x");
    }
    std::string instruction(std::size_t at) const {
        const std::size_t begin = lines_[at].find("*/ ") + 3;
        return lines_[at].substr(begin, lines_[at].find(';') - begin);
    }
    std::string address(std::size_t at) const { return lines_[at].substr(0, lines_[at].find("*/ ") + 3); }
    /// Of the PTX.
    int line(std::size_t at) const {
        for (std::size_t i = at + 1; i-- > 0;)
            if (lines_[i].starts_with(line_mark)) return std::stoi(lines_[i].substr(line_mark.size()));
        return 0;
    }
    std::string joined() const {
        std::string out;
        for (const std::string& line : lines_) out += line + '\n';
        return out;
    }

    void replace(std::size_t at, const std::string& instruction) {
        lines_[at] = address(at) + instruction + lines_[at].substr(lines_[at].find(';'));
    }
    void insert_before(std::size_t at, const std::string& instruction) {
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), "/*0000*/ " + instruction + ";");
    }
    /// Behind the instruction `to`; it keeps its line of the PTX.
    void move_behind(std::size_t at, std::size_t to) {
        const std::vector<std::string> moved{std::string(line_mark) + std::to_string(line(at)), lines_[at],
                                             std::string(line_mark) + std::to_string(line(to))};
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(to) + 1, moved.begin(), moved.end());
        replace(at, "NOP");
    }

  private:
    std::vector<std::string> lines_;
};

struct Seed {
    std::string what;
    Text text;
    /// It may change nothing: the fault is one of a kind that does not matter everywhere.
    bool may_be_harmless = false;
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) return {};
    return text.replace(at, from.size(), to);
}

/// Makes all seeds of a text.
class Seeds {
  public:
    Seeds(const std::string& sass, const std::string& ptx) : text_(sass), listing_(sass::read_listing(sass)) {
        std::istringstream input(ptx);
        for (std::string line; std::getline(input, line);) ptx_.push_back(line);
        std::size_t place = 0;
        for (std::size_t at = 0; at < text_.size(); ++at)
            if (text_.is_instruction(at) && place < code().size()) at_.push_back(at), ++place;
        for (std::size_t i = 0; i < code().size(); ++i) add(i);
    }
    std::vector<Seed> list;    ///< of what is compared in any case
    std::vector<Seed> values;  ///< of what is compared as far as the values of single threads are known

  private:
    const std::vector<sass::Instruction>& code() const { return listing_.functions.at(0).instructions; }
    bool asks(const sass::Instruction& one, std::string_view word) const {
        return one.line > 0 && static_cast<std::size_t>(one.line) <= ptx_.size() &&
               ptx_[static_cast<std::size_t>(one.line) - 1].find(word) != std::string::npos;
    }

    void seed(const std::string& what, std::size_t place, const std::function<void(Text&, std::size_t)>& edit,
              bool may_be_harmless = false) {
        Text text = text_;
        edit(text, at_[place]);
        list.push_back({what + ": " + std::string(code()[place].text), std::move(text), may_be_harmless});
    }
    void change_values(std::size_t place) {
        const std::string text(code()[place].text);
        const auto put = [&](const std::string& what, const std::function<void(Text&, std::size_t)>& edit) {
            seed(what, place, edit);
            values.push_back(std::move(list.back()));
            list.pop_back();
        };
        const auto change_to = [&](const std::string& what, const std::string& changed) {
            put(what, [&](Text& to, std::size_t at) { to.replace(at, changed); });
        };
        const sass::Does does = code()[place].record->does;
        if (does == sass::Does::product) {
            const std::size_t number = text.find("gdesc[UR") + std::string_view("gdesc[UR").size();
            const int reg = std::stoi(text.substr(number));
            put("another descriptor", [&](Text& to, std::size_t at) {
                to.insert_before(at, "UIADD3 UR" + std::to_string(reg + 2) + ", UR" +
                                         std::to_string(reg + 2) + ", 0x40, URZ");
            });
            return;
        }
        const std::size_t end = text.find(']', text.rfind('['));
        if (end != std::string::npos)
            change_to("another address", text.substr(0, end) + "+0x1000" + text.substr(end));
        if (does != sass::Does::store || code()[place].guarded()) return;
        for (const std::string guard : {"@P0 ", "@!P0 "}) {
            change_to("a guard", guard + text);
            put("an exit", [&](Text& to, std::size_t at) { to.insert_before(at, guard + "EXIT"); });
        }
    }
    void remove(std::size_t place, bool may_be_harmless = false) {
        seed(
            "left out", place, [](Text& text, std::size_t at) { text.replace(at, "NOP"); }, may_be_harmless);
    }
    void repeat(std::size_t place) {
        seed("twice", place,
             [](Text& text, std::size_t at) { text.insert_before(at, text.instruction(at)); });
    }
    void change(std::size_t place, std::string_view from, std::string_view to, bool may_be_harmless = false) {
        const std::string changed = replaced(std::string(code()[place].text), from, to);
        if (changed.empty()) return;
        seed(
            "changed", place, [&](Text& text, std::size_t at) { text.replace(at, changed); },
            may_be_harmless);
    }
    /// Behind the next instruction that does one of these things.
    void move_behind(std::size_t place, const std::vector<sass::Does>& kinds) {
        for (std::size_t to = place + 1; to < code().size(); ++to) {
            if (code()[to].record->does == sass::Does::branch) return;
            if (std::ranges::find(kinds, code()[to].record->does) == kinds.end()) continue;
            seed("moved", place, [&](Text& text, std::size_t at) { text.move_behind(at, at_[to]); });
            return;
        }
    }

    /// Uses of the registers of a product behind it, where its group is in flight.
    void use_registers(std::size_t place) {
        const sass::Product product = sass::product_of(code()[place]);
        const auto insert = [&](const std::string& what, const std::string& instruction) {
            seed(what, place,
                 [&](Text& text, std::size_t) { text.insert_before(at_[place + 1], instruction); });
        };
        const auto name = [](int reg) { return "R" + std::to_string(reg); };
        for (int i = 0; i < product.fragment.count; ++i)
            insert("A written", "MOV " + name(product.fragment.first + i) + ", RZ");
        if (product.fragment.count > 0)
            insert("A loaded", "LDS.128 " + name(product.fragment.first) + ", [R2]");
        if (product.metadata.count > 0)
            insert("metadata written", "MOV " + name(product.metadata.first) + ", RZ");
        const int last = product.accumulators.first + product.accumulators.count - 1;
        for (const int reg : {static_cast<int>(product.accumulators.first), last}) {
            insert("accumulator read", "FADD R250, " + name(reg) + ", R250");
            insert("accumulator written", "MOV " + name(reg) + ", RZ");
        }
        insert("accumulator stored", "STS.128 [R2], " + name(product.accumulators.first));
        insert("pair written", "IMAD.WIDE " + name(product.accumulators.first - 1) + ", R2, R2, RZ");
    }

    void add(std::size_t place) {
        using enum sass::Does;
        const sass::Instruction& one = code()[place];
        if ((one.record->does == store && one.record->memory != sass::Memory::local) ||
            one.record->does == product || one.record->does == mbarrier_arrive ||
            one.record->does == mbarrier_init || one.record->does == mbarrier_test)
            change_values(place);
        switch (one.record->does) {
            case product:
                remove(place);
                repeat(place);
                change(place, ", gsb0", "");
                use_registers(place);
                break;
            case wait_products:
                remove(place);
                change(place, "0x0", "0x1");
                break;
            // Where nobody writes to registers of the product, there is nothing to order.
            case order_registers: remove(place, true); break;
            case barrier:
                remove(place);
                repeat(place);
                change(place, " 0x0", " 0x1");
                change(place, "0x80", "0x40");
                change(place, "0x80", "0x100");
                change(place, "BAR.SYNC.DEFER_BLOCKING", "BAR.ARV");
                break;
            case mbarrier_init:
            case mbarrier_arrive:
            case mbarrier_expect:
            case bulk_load:
            case bulk_store:
            case bulk_commit:
                remove(place);
                repeat(place);
                change(place, ".2D", ".3D");
                move_behind(place, {barrier, bulk_store, bulk_commit, mbarrier_test});
                break;
            case mbarrier_test: remove(place); break;
            case set_registers:
                remove(place);
                change(place, "0xe8", "0xf0");
                change(place, "0x28", "0x18");
                break;
            case wait_scoreboard:
                if (!asks(one, "wait_group")) break;
                remove(place);
                change(place, "SB0, 0x0", "SB0, 0x1");
                break;
            case proxy_fence:
            case fence:
                if (!asks(one, "fence.proxy.async")) break;
                remove(place);
                if (one.record->does == proxy_fence) move_behind(place, {barrier});
                change(place, "ASYNC.S", "ASYNC.G");
                break;
            case store:
                if (one.record->memory == sass::Memory::local) break;
                remove(place);
                change(place, ".128", ".64");
                change(place, ".128", "");
                change(place, ".64 ", " ");
                change(place, "M88.4", "M88.2");
                change(place, "STG.E ", "STG.E.U8 ");
                change(place, "STS ", "STS.U16 ");
                move_behind(place, {proxy_fence, barrier});
                break;
            case load:
                if (one.record->memory != sass::Memory::shared) break;
                change(place, ".128", ".64");
                change(place, "M88.4", "M88.2");
                break;
            default: break;
        }
        if (one.mnemonic.starts_with("IMAD.MOV") && one.operands.size() == 4 && one.operands[3] == "0x4000")
            change(place, "0x4000", "0x2000", true);
    }

    Text text_;
    sass::Listing listing_;
    std::vector<std::string> ptx_;
    std::vector<std::size_t> at_;  ///< by instruction: its line
};

}  // namespace

TEST_CASE("machine code of ptxas keeps its programs") {
    for (const std::string name : {"attention", "pipeline", "hello_wgmma", "sparse_gemm"}) {
        INFO(name);
        const auto kept = kept_of_text(name + ".ptx", contents(name + ".ptx"),
                                       sass::read_listing(contents(name + ".sass")));
        REQUIRE(kept.size() == 1);
        CHECK(kept[0].findings.empty());
        CHECK(kept[0].verdict.kind == Verdict::Kind::proved);
        CHECK(kept[0].verdict.reason.empty());
        CHECK(kept[0].products > 0);
        CHECK(kept[0].compared > kept[0].products);
    }
}

TEST_CASE("all faults are found that are put into machine code") {
    std::size_t found = 0, harmless = 0, all = 0;
    for (const std::string name : {"attention", "pipeline", "hello_wgmma", "sparse_gemm"}) {
        const std::string ptx = contents(name + ".ptx");
        const Seeds seeds(contents(name + ".sass"), ptx);
        for (const Seed& seed : seeds.list) {
            const auto kept = kept_of_text(name + ".ptx", ptx, sass::read_listing(seed.text.joined()));
            REQUIRE(kept.size() == 1);
            ++all;
            const bool refuted = kept[0].verdict.kind == Verdict::Kind::refuted;
            found += refuted;
            harmless += !refuted && seed.may_be_harmless;
            if (!refuted && !seed.may_be_harmless) FAIL_CHECK(name << ": not found: " << seed.what);
        }
    }
    INFO(all << " faults, " << found << " found, " << harmless << " harmless");
    CHECK(all >= 500);
    CHECK(harmless * 20 < all);
}

TEST_CASE("other values are found in machine code where single threads show them") {
    std::map<std::string, std::pair<std::size_t, std::size_t>> kinds;  // found, all
    for (const std::string name : {"attention", "pipeline", "hello_wgmma", "sparse_gemm"}) {
        const std::string ptx = contents(name + ".ptx");
        const Seeds seeds(contents(name + ".sass"), ptx);
        for (const Seed& seed : seeds.values) {
            const auto kept = kept_of_text(name + ".ptx", ptx, sass::read_listing(seed.text.joined()));
            REQUIRE(kept.size() == 1);
            auto& [found, all] = kinds[seed.what.substr(0, seed.what.find(':'))];
            ++all;
            found += kept[0].verdict.kind == Verdict::Kind::refuted;
        }
    }
    for (const auto& [kind, counts] : kinds) {
        INFO(kind << ": " << counts.first << " of " << counts.second);
        // Of a guard and its contrary one changes nothing.
        CHECK(counts.first * 10 >= counts.second * 4);
    }
    CHECK(kinds.size() == 4);
}
