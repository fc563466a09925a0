#include "emit/lua.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "diag/escape.hpp"
#include "emit/lua_asm.hpp"
#include "emit/lua_call.hpp"
#include "emit/lua_declarations.hpp"
#include "emit/lua_loops.hpp"
#include "emit/lua_names.hpp"
#include "isa/opaque.hpp"

namespace wgrun::emit {
namespace {

struct Condition {
    Reg reg;
    bool negated = false;
    Condition operator!() const { return {reg, !negated}; }
};

class LuaPrinter {
  public:
    LuaPrinter(const Program& program, const LuaNotes& notes)
        : program_(program),
          notes_(notes),
          declared_(program, notes, names_),
          registers_(program, notes.names, notes.meanings.registers, names_),
          calls_(program,
                 {[this](Reg reg) { return registers_.name(reg); },
                  [this](const std::vector<Reg>& regs) { return list(regs); },
                  [this](int i) { return declared_.param(i); }, [this](int i) { return declared_.shared(i); },
                  [this](const Step& step, std::size_t i) { return declared_.number(step, i); }}),
          asm_(program, registers_, declared_.params(), remarks_) {
        for (BlockId id = 0; id < blocks().size(); ++id)
            blocks()[id].for_each_successor([&](BlockId to, int) {
                predecessors_[to].push_back(id);
                if (to <= id) last_to_[to] = std::max(last_to_[to], id);
            });
        for (const BasicBlock& block : blocks())
            for (const Step& step : block.steps)
                for (std::size_t i = 0; i < step.operands.size(); ++i)
                    if (isa::is_opaque(*step.op) ? i == 1 : step.op->operands[i].access != isa::Access::out) {
                        if (step.operands[i].reg) read_.insert(step.operands[i].reg.id);
                        for (const Reg reg : step.operands[i].list) read_.insert(reg.id);
                    }
    }

    LuaText run() {
        // The first time tells which labels are needed.
        body();
        labels_ = std::exchange(jumped_to_, {});
        lists_.clear();
        remarks_.clear();
        opaque_ = 0;
        text_.clear();
        line(fmt::format("{} = wg.kernel(\"{}\", {{ {} }}, function(k)", notes_.variable, program_.name(),
                         declared_.options()));
        ++depth_;
        for (const std::string& comment : notes_.heading) line("-- " + escape::comment(comment));
        for (const std::string& text : declared_.lines(remarks_)) line(text);
        registers_.for_each_table([&](const std::string& variable, isa::Type type) {
            line(fmt::format("local {} = registers(k, \"{}\")", variable, isa::to_string(type)));
        });
        if (!labels_.empty()) line("local at = labels(k)");
        if (any_lists_) line("local lists = {}");
        body();
        --depth_;
        line("end)");
        return {with_loops(text_), std::move(remarks_)};
    }

  private:
    const std::vector<BasicBlock>& blocks() const { return program_.blocks(); }

    /// Returns the last comma before `most` at which a line can be broken, which is not inside of a text of
    /// PTX, else the first one behind that text.
    static std::size_t comma(std::string_view line, std::size_t most) {
        const std::size_t at = line.rfind(", ", most), text = line.find("[==[");
        const std::size_t end = line.find("]==]", text);
        if (at == std::string_view::npos || text > at || end < at) return at;
        const std::size_t before = text == 0 ? std::string_view::npos : line.rfind(", ", text - 1);
        return before != std::string_view::npos && before > 0 ? before : line.find(", ", end);
    }

    void line(const std::string& text) {
        text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
        // Long lines are broken at commas.
        constexpr std::size_t width = 116;
        std::string_view rest = text;
        std::size_t indent = static_cast<std::size_t>(depth_) * 2;
        while (indent + rest.size() > width && !rest.starts_with("--")) {
            const std::size_t at = comma(rest, width - indent);
            if (at == std::string_view::npos || at == 0) break;
            text_ += rest.substr(0, at + 1);
            text_ += '\n';
            indent = static_cast<std::size_t>(depth_ + 1) * 2;
            text_.append(indent, ' ');
            rest.remove_prefix(at + 2);
        }
        text_ += rest;
        text_ += '\n';
    }

    // --- blocks -----------------------------------------------------------------------------------------

    /// What follows a region's last block.
    struct Tail {
        enum class Kind : std::uint8_t { next, loop, wait, join } kind = Kind::next;
        BlockId target = no_block;
    };

    /// Returns whether a block does nothing but go on with a loop that the branch before it leaves: a wait.
    bool only_jumps(BlockId id, BlockId head) const {
        const BasicBlock& block = blocks()[id];
        if (id == head || !block.steps.empty() || block.end != BasicBlock::End::jump) return false;
        const BasicBlock& before = blocks()[id - 1];
        return before.end == BasicBlock::End::branch && before.taken == id + 1 && before.otherwise == id &&
               predecessors_.at(id).size() == 1;
    }

    void body() {
        last_source_.clear();
        region(0, static_cast<BlockId>(blocks().size()), {}, false);
    }

    void region(BlockId first, BlockId end, Tail tail, bool in_loop) {
        for (BlockId i = first; i < end;) {
            const bool at_head = in_loop && i == first;
            if (!at_head) place(i);
            const auto back = last_to_.find(i);
            if (!at_head && back != last_to_.end() && deep_ < deepest) {
                // The furthest jump back that stays in this region.
                BlockId last = no_block;
                for (const BlockId from : predecessors_[i])
                    if (from >= i && from < end && (last == no_block || from > last)) last = from;
                if (last != no_block) {
                    const bool wait = only_jumps(last, i);
                    line(wait ? "wait_until(k, function()" : "k:repeat_(function()");
                    const Tail tail{wait ? Tail::Kind::wait : Tail::Kind::loop, i};
                    inside([&] { region(i, wait ? last : last + 1, tail, true); });
                    line("end)");
                    i = last + 1;
                    continue;
                }
            }
            steps(blocks()[i]);
            i = ends(i, end, tail);
        }
    }

    template <class F>
    void inside(F f) {
        ++depth_;
        ++deep_;
        f();
        --deep_;
        --depth_;
    }

    std::string label(BlockId id) const {
        const Label& own = blocks()[id].label;
        std::string name = own.name;
        while (!name.empty() && (name[0] == '$' || name[0] == '_' || name[0] == '%')) name.erase(0, 1);
        const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        }) && !(name[0] >= '0' && name[0] <= '9');
        if (plain && name.starts_with("L__")) name.erase(0, 3);
        return plain && !name.empty() ? "at." + name : fmt::format("at.block_{}", id);
    }

    void place(BlockId id) {
        if (labels_.contains(id)) line(fmt::format("k:place({})", label(id)));
    }

    std::string text_of(Condition condition) const {
        return fmt::format("{}{}", condition.negated ? "~" : "", registers_.name(condition.reg));
    }

    void jump(BlockId to, std::optional<Condition> condition = {}) {
        jumped_to_.insert(to);
        line(condition ? fmt::format("k:jump({}, {})", label(to), text_of(*condition))
                       : fmt::format("k:jump({})", label(to)));
    }

    /// Prints what follows block `i` of a region, and returns the block that is next.
    BlockId ends(BlockId i, BlockId end, Tail tail) {
        const BasicBlock& block = blocks()[i];
        if (block.end == BasicBlock::End::exit) {
            if (i + 1 != blocks().size()) line("k:exit()");
            return i + 1;
        }
        const bool last = i + 1 == end;
        if (block.end == BasicBlock::End::jump) {
            const bool follows = block.taken == i + 1 && !(last && tail.kind == Tail::Kind::join);
            if (!follows && !(last && tail.kind != Tail::Kind::next && block.taken == tail.target))
                jump(block.taken);
            return i + 1;
        }
        const Condition holds{block.condition, block.negated};
        if (last && tail.kind == Tail::Kind::wait) {
            line("return " + text_of(holds));
            return i + 1;
        }
        if (last && tail.kind == Tail::Kind::loop) {
            const Condition again = block.taken == tail.target ? holds : !holds;
            const BlockId other = block.taken == tail.target ? block.otherwise : block.taken;
            if (other == i + 1)
                line("return " + text_of(again));
            else if (other != tail.target)
                jump(other, !again);
            return i + 1;
        }
        if (block.otherwise != i + 1 && block.taken != i + 1) {
            jump(block.taken, holds);
            jump(block.otherwise);
            return i + 1;
        }
        const bool straight = block.otherwise == i + 1;
        const BlockId to = straight ? block.taken : block.otherwise;
        const Condition leaves = straight ? holds : !holds;
        // Behind the end of a loop's body or of a first side is not where they end.
        const bool beyond = tail.kind != Tail::Kind::next && to == end;
        if (to <= i + 1 || to > end || beyond || deep_ >= deepest || entered_from_behind(i + 1, to)) {
            if (to != i + 1) jump(to, leaves);
            return i + 1;
        }
        const BlockId joined = end_of_else(i, to, end, tail);
        if (joined != no_block && to == i + 2 && blocks()[i + 1].steps.empty() &&
            predecessors_.at(i + 1).size() == 1) {
            line(fmt::format("unless(k, {}, function()", text_of(!leaves)));
            inside([&] { region(to, joined, {Tail::Kind::next, joined}, false); });
            line("end)");
            return joined;
        }
        line(fmt::format("k:if_({}, function()", text_of(!leaves)));
        if (joined == no_block) {
            inside([&] { region(i + 1, to, {Tail::Kind::next, to}, false); });
            line("end)");
            return to;
        }
        inside([&] { region(i + 1, to, {Tail::Kind::join, joined}, false); });
        line("end, function()");
        inside([&] { region(to, joined, {Tail::Kind::next, joined}, false); });
        line("end)");
        return joined;
    }

    /// Returns whether a block from `end` on jumps back into [first, end).
    bool entered_from_behind(BlockId first, BlockId end) const {
        for (auto at = last_to_.lower_bound(first); at != last_to_.end() && at->first < end; ++at)
            if (at->second >= end) return true;
        return false;
    }

    /// Where the other side of a branch ends, which begins with block `otherwise`; no_block: there is none.
    BlockId end_of_else(BlockId branch, BlockId otherwise, BlockId end, Tail tail) const {
        if (otherwise == end || otherwise < branch + 2) return no_block;
        const BasicBlock& last = blocks()[otherwise - 1];
        const BlockId joined = last.taken;
        const auto before = predecessors_.find(otherwise);
        if (last.end != BasicBlock::End::jump || joined <= otherwise || joined > end ||
            (joined == end && tail.kind != Tail::Kind::next) || before->second.size() != 1 ||
            entered_from_behind(otherwise, joined))
            return no_block;
        return joined;
    }

    // --- steps ------------------------------------------------------------------------------------------

    std::string list(const std::vector<Reg>& regs) {
        constexpr std::size_t shortest = 12;
        if (regs.size() < shortest || registers_.consecutive(regs)) return registers_.list(regs);
        std::vector<std::uint32_t> key;
        for (const Reg reg : regs) key.push_back(reg.id);
        const auto [found, added] = lists_.try_emplace(std::move(key), lists_.size() + 1);
        any_lists_ = true;
        std::string name = fmt::format("lists[{}]", found->second);
        if (added) line(fmt::format("{} = {}", name, registers_.list(regs)));
        return name;
    }

    void steps(const BasicBlock& block) {
        for (std::size_t i = 0; i < block.steps.size(); ++i) {
            const Step& step = block.steps[i];
            const std::string source = notes_.source ? notes_.source(step.where.line) : "";
            if (!source.empty() && source != last_source_) line("-- " + escape::comment(source));
            if (!source.empty()) last_source_ = source;
            if (isa::is_opaque(*step.op)) {
                const OpaqueText& text = notes_.opaque.at(opaque_++);
                if (!text.replaces || needed(step)) line(asm_.text_of(step, text));
                continue;
            }
            const Step* next = i + 1 < block.steps.size() ? &block.steps[i + 1] : nullptr;
            if (next != nullptr && isa::is_opaque(*next->op) && notes_.opaque.at(opaque_).replaces &&
                needed(*next))
                continue;
            if (const auto call = calls_.call(step))
                line("k:" + *call);
            else
                line(asm_.text_of(step));
        }
    }

    /// Returns whether another step reads what an opaque one writes.
    bool needed(const Step& opaque) const {
        return std::ranges::any_of(opaque.operands[0].list, [&](Reg reg) { return read_.contains(reg.id); });
    }

    static constexpr int deepest = 40;  ///< functions in functions; Lua's parser allows some more

    const Program& program_;
    const LuaNotes& notes_;
    LuaNames names_;
    LuaDeclarations declared_;
    LuaRegisters registers_;
    LuaCalls calls_;
    std::vector<std::string> remarks_;
    LuaAsm asm_;
    std::map<BlockId, std::vector<BlockId>> predecessors_;
    std::map<BlockId, BlockId> last_to_;  ///< targets of jumps back, and the last block that has one
    std::set<std::uint32_t> read_;        ///< registers
    std::set<BlockId> labels_, jumped_to_;
    std::map<std::vector<std::uint32_t>, std::size_t> lists_;
    bool any_lists_ = false;
    std::size_t opaque_ = 0;
    std::string text_, last_source_;
    int depth_ = 0, deep_ = 0;
};

}  // namespace

LuaText lua(const Program& program, const LuaNotes& notes) { return LuaPrinter(program, notes).run(); }

}  // namespace wgrun::emit
