#include "program/constructs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "program/limits.hpp"

namespace wgrun {

using End = BasicBlock::End;

std::optional<Where> Constructs::open() const {
    return open_.empty() ? std::nullopt : std::optional(open_.back().where);
}

// A new block is added before the end of the previous one is written, so that nothing is half done when
// memory runs out.

void Constructs::goes(BlockId from, BlockId to, Where where) {
    blocks_[from].end = End::jump;
    blocks_[from].taken = to;
    blocks_[from].where = where;
}

/// The next block follows where the condition holds.
void Constructs::forks(BlockId from, Reg condition, bool negated, Where where) {
    BasicBlock& block = blocks_[from];
    block.end = End::branch;
    block.condition = condition;
    block.negated = negated;
    block.taken = from + 1;
    block.where = where;
}

/// Makes the current block the target of these arms.
void Constructs::arrive(const std::vector<Arm>& arms) {
    for (const Arm& from : arms)
        (from.arm == 0 ? blocks_[from.block].taken : blocks_[from.block].otherwise) = current();
}

void Constructs::begin_loop(Where where) {
    open_.reserve(open_.size() + 1);
    const BlockId before = current();
    add({Label::Kind::loop, constructs_, {}, where});
    goes(before, current(), where);
    open_.push_back({Open::Kind::loop_head, constructs_++, where, current()});
}

void Constructs::check_condition() const {
    if (open_.empty() || open_.back().kind != Open::Kind::loop_head)
        throw ArgumentError("no loop is waiting for its condition");
}

void Constructs::loop_condition(Reg condition) {
    check_condition();
    Open& loop = open_.back();
    const BlockId decides = current();
    add();
    loop.after.push_back({decides, 1});
    forks(decides, condition, false, loop.where);
    loop.kind = Open::Kind::loop_body;
}

void Constructs::end_body(Open& loop) {
    if (loop.next.empty()) return;
    const BlockId last = current();
    add({Label::Kind::next, loop.number, {}, loop.where});
    goes(last, current(), loop.where);
    arrive(loop.next);
}

void Constructs::loop_next() {
    if (open_.empty() || open_.back().kind != Open::Kind::loop_body)
        throw ArgumentError("no body of a loop to end here");
    end_body(open_.back());
    open_.back().kind = Open::Kind::loop_next;
}

void Constructs::end_loop() {
    if (open_.empty() ||
        (open_.back().kind != Open::Kind::loop_body && open_.back().kind != Open::Kind::loop_next))
        throw ArgumentError("no loop to end here");
    Open& loop = open_.back();
    if (loop.kind == Open::Kind::loop_body) end_body(loop);
    const BlockId last = current();
    add({Label::Kind::after, loop.number, {}, loop.where});
    goes(last, loop.first, loop.where);
    arrive(loop.after);
    open_.pop_back();
}

void Constructs::begin_if(Reg condition, bool negated, Where where) {
    open_.reserve(open_.size() + 1);
    const BlockId decides = current();
    add();
    forks(decides, condition, negated, where);
    open_.push_back({Open::Kind::then_body, constructs_++, where, decides});
}

void Constructs::begin_else() {
    if (open_.empty() || open_.back().kind != Open::Kind::then_body)
        throw ArgumentError("no branch to continue with an else");
    Open& branch = open_.back();
    branch.then_end = current();
    add({Label::Kind::otherwise, branch.number, {}, branch.where});
    blocks_[branch.first].otherwise = current();
    branch.kind = Open::Kind::else_body;
}

void Constructs::end_if() {
    if (open_.empty() ||
        (open_.back().kind != Open::Kind::then_body && open_.back().kind != Open::Kind::else_body))
        throw ArgumentError("no branch to end here");
    const Open& branch = open_.back();
    const BlockId last = current();
    const bool has_else = branch.kind == Open::Kind::else_body;
    if (has_else && blocks_[branch.first].otherwise == last && here().steps.empty()) {
        here().label.kind = Label::Kind::joined;  // the else is empty
    } else {
        add({Label::Kind::joined, branch.number, {}, branch.where});
        goes(last, current(), branch.where);
    }
    if (has_else)
        goes(branch.then_end, current(), branch.where);
    else
        blocks_[branch.first].otherwise = current();
    open_.pop_back();
}

void Constructs::leave(Leave what, Where where) {
    const BlockId last = current();
    if (what == Leave::kernel) {
        add();
        blocks_[last].end = End::exit;
        blocks_[last].where = where;
        return;
    }
    const auto loop =
        std::find_if(open_.rbegin(), open_.rend(), [](const Open& open) { return open.loop(); });
    const bool iteration = what == Leave::iteration;
    if (loop == open_.rend())
        throw ArgumentError(iteration ? "no loop around, whose next iteration could begin"
                                      : "no loop around that could be left");
    if (iteration && loop->kind != Open::Kind::loop_body)
        throw ArgumentError("only the body of a loop can be left for the next iteration");
    add();
    (iteration ? loop->next : loop->after).push_back({last, 0});
    goes(last, no_block, where);
}

// --- labels --------------------------------------------------------------------------------------------

namespace {

/// Returns whether `name` is a PTX label (PTX ISA 4.4): a letter and any followers, or _, $ or % and at least
/// one follower.
bool is_label(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '$'; };
    if (name.empty() || name.size() > max_name) return false;
    const bool special = name[0] == '_' || name[0] == '$' || name[0] == '%';
    return (letter(name[0]) || (special && name.size() > 1)) &&
           std::all_of(name.begin() + 1, name.end(), follows);
}

}  // namespace

int Constructs::label(std::string name) {
    if (!name.empty() && !is_label(name))
        throw ArgumentError(
            fmt::format("label `{}`: letters, digits, _ and $ only, not starting with a digit",
                        name.substr(0, max_name)));
    if (!name.empty() && std::ranges::any_of(places_, [&](const Place& other) { return other.name == name; }))
        throw ArgumentError(fmt::format("two labels called `{}`", name));
    places_.push_back({std::move(name), false, {}});
    return static_cast<int>(places_.size() - 1);
}

Constructs::Place& Constructs::place_of(int label) {
    if (label < 0 || static_cast<std::size_t>(label) >= places_.size())
        throw ArgumentError("a label of another kernel");
    return places_[static_cast<std::size_t>(label)];
}

void Constructs::place(int label, Where where) {
    Place& place = place_of(label);
    if (place.given)
        throw ArgumentError(place.name.empty() ? std::string("a label is in two places")
                                               : fmt::format("label `{}` is in two places", place.name));
    Label shown{Label::Kind::place, static_cast<std::uint32_t>(label), place.name, where};
    const BlockId last = current();
    // The block after a jump exists already, and nothing else leads to it.
    const bool follows_jump =
        last > 0 && (blocks_[last - 1].end != End::branch || blocks_[last - 1].taken != last);
    const bool unused = follows_jump && here().label.kind == Label::Kind::none && here().steps.empty();
    if (unused) {
        here().label = std::move(shown);
    } else {
        add(std::move(shown));
        goes(last, current(), where);
    }
    arrive(place.arms);
    place.arms = {{current(), 0}};  // the target of later jumps
    place.given = true;
}

void Constructs::jump(int label, Reg condition, bool negated, Where where) {
    Place& place = place_of(label);
    const BlockId last = current();
    add();
    BlockId to = no_block;
    if (place.given) {
        to = place.arms.front().block;
    } else {
        if (place.arms.empty()) place.where = where;
        place.arms.push_back({last, 0});
    }
    if (condition) {
        forks(last, condition, negated, where);
        blocks_[last].otherwise = current();
        blocks_[last].taken = to;
    } else {
        goes(last, to, where);
    }
}

std::vector<BasicBlock> Constructs::take(Where end) {
    for (const Place& place : places_) {
        if (place.given || place.arms.empty()) continue;
        throw ArgumentError(plain_error(
            place.name.empty() ? "a jump to a label that is nowhere"
                               : fmt::format("a jump to label `{}`, which is nowhere", place.name),
            "k:place(label) where the jump is to go", place.where));
    }
    here().where = end;
    return std::move(blocks_);
}

}  // namespace wgrun
