#include "check/abstract/recurrence.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace wgrun::check::abstract {

namespace {
constexpr std::size_t most_rounds = 4096;
/// A period of so many times its rounds that has not come back does not.
constexpr std::size_t most_periods = 3;
}  // namespace

/// Whether the form is what it was, but for a stride of the grid that has been added as often as `more` says:
/// its value is 1, so that the value has grown by as much.
bool Recurrence::same_form(const Forms::Slot& before, const Forms::Slot& now, std::int64_t more) const {
    if (before == now) return true;
    if (before.lanes != now.lanes) return false;
    Form form = now.form;
    for (auto& [variable, slope] : form)
        if (which_of(variable) == Variable::excess &&
            forms_.symbols().roots[static_cast<std::size_t>(root_of(variable))].kind == Root::Kind::stride)
            slope -= more;
    std::erase_if(form, [](const auto& one) { return one.second == 0; });
    return form == before.form;
}

/// Returns how much each register has grown between two rounds; nothing where the states differ otherwise.
std::optional<std::vector<std::int64_t>> Recurrence::growth(const Round& before, const Round& now) const {
    if (before.state.numbers != now.state.numbers || !before.state.knows_no_more_than(now.state) ||
        !now.state.knows_no_more_than(before.state) || before.registers.size() != now.registers.size())
        return std::nullopt;
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < now.registers.size(); ++i) {
        const Register& a = before.registers[i];
        const Register& b = now.registers[i];
        if (a.warp != b.warp || a.slot != b.slot || a.known != b.known) return std::nullopt;
        const int first = std::countr_zero(a.known);
        const std::int64_t more =
            b.lanes[static_cast<std::size_t>(first)] - a.lanes[static_cast<std::size_t>(first)];
        for (isa::Mask left = a.known; left != 0; left &= left - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(left));
            if (b.lanes[lane] - a.lanes[lane] != more) {
                return std::nullopt;
            }
        }
        if (!same_form(a.form, b.form, more)) return std::nullopt;
        out.push_back(more);
    }
    return out;
}

/// The comparisons of a stretch. Loops that ended in it do not count: they were compared with both ways. Nor
/// does a root all of whose repetitions were counted there.
void Recurrence::Ways::add(const Forms::Event& event, const std::vector<Root>& roots) {
    for (const auto& [variable, slope] : event.form) {
        if (which_of(variable) != Variable::excess) continue;
        const int root = root_of(variable);
        const bool has_step = roots[static_cast<std::size_t>(root)].step != 0;
        if (has_step && !event.form.contains(abstract::variable(root, Variable::repeats))) continue;
        auto& [less, greater] = ways_[root];
        (event.greater == (slope > 0) ? greater : less) = true;
    }
}

std::optional<int> Recurrence::Ways::growing() const {
    std::optional<int> out;
    for (const auto& [root, way] : ways_) {
        if (way.first && way.second) continue;
        if (out) return std::nullopt;
        out = root;
    }
    return out;
}

void Recurrence::begin(int root, std::size_t before) {
    const std::size_t now = rounds_.size() - 1;
    repeating_ = Repeating{root, now, now - before, *growth(rounds_[before], rounds_[now])};
    for (std::size_t i = 0; i < repeating_->growth.size(); ++i) {
        if (repeating_->growth[i] == 0) continue;
        Register& at = rounds_[now].registers[i];
        Forms::Slot& slot = forms_.slot(static_cast<int>(at.warp), at.slot);
        if (slot.form.empty() || (slot.lanes & at.known) == 0)
            slot = {{}, at.known};
        else if ((at.known & ~slot.lanes) != 0)
            forms_.stop(root, execution_.where(execution_.warps[at.warp].pc),
                        "some lanes alone count the turns of a loop");
        slot.form[variable(root, Variable::repeated)] = repeating_->growth[i];
        at.form = {slot.form, at.known};
    }
}

/// The period is over once more. Returns whether its root gets another step.
bool Recurrence::end() {
    const Repeating period = *std::exchange(repeating_, std::nullopt);
    Root& root = forms_.symbols().roots[static_cast<std::size_t>(period.root)];
    const std::vector<Forms::Event>& events = forms_.events();
    std::int64_t step = 0;
    bool fits = true;
    for (std::size_t i = rounds_[period.from].events; i < rounds_.back().events; ++i) {
        const auto slope = [&](Variable which) {
            const auto at = events[i].form.find(variable(period.root, which));
            return at == events[i].form.end() ? 0 : at->second;
        };
        const std::int64_t of_root = slope(Variable::excess), of_period = slope(Variable::repeated);
        if (of_root == 0) continue;
        if (of_period == 0 || of_period % of_root != 0 || -of_period / of_root <= 0) {
            fits = false;
            continue;
        }
        const std::int64_t its = -of_period / of_root;
        fits &= step == 0 || step == its;
        step = its;
    }
    const auto stop = [&](const char* reason) {
        const Warp& warp =
            execution_
                .warps[rounds_[period.from].registers.empty() ? 0
                                                              : rounds_[period.from].registers.front().warp];
        forms_.stop(period.root, execution_.where(warp.pc), reason);
        return false;
    };
    if (!fits || step == 0) return stop("the roles of the loop do not go on at the same pace");
    if (root.step % step != 0 || root.step == 0) {
        root.step = std::lcm(root.step == 0 ? 1 : root.step, step);
        return true;
    }
    forms_.rename(variable(period.root, Variable::repeated), variable(period.root, Variable::repeats),
                  root.step / step);
    repeated_.insert(period.root);
    return false;
}

bool Recurrence::round(Encoded state) {
    if (rounds_.size() >= most_rounds) return false;
    std::uint64_t hash = 0;
    for (const std::uint64_t number : state.numbers)
        hash = (hash ^ number) * 0x9E3779B97F4A7C15U + (hash >> 29);
    rounds_.push_back({hash, std::move(state), live_registers(execution_, values_, live_, mbarriers_, forms_),
                       forms_.events().size()});
    const std::size_t now = rounds_.size() - 1;
    if (repeating_) {
        const std::size_t over = now - repeating_->from;
        if (over == repeating_->length &&
            growth(rounds_[repeating_->from], rounds_[now]) == repeating_->growth)
            return end();
        if (over > most_periods * repeating_->length) {
            forms_.stop(repeating_->root, execution_.where(execution_.warps[0].pc),
                        "the state of the loop does not come back");
            repeating_.reset();
        }
        return false;
    }
    Ways ways;
    const std::vector<Forms::Event>& events = forms_.events();
    for (std::size_t before = now; before-- > 0;) {
        for (std::size_t i = rounds_[before].events; i < rounds_[before + 1].events; ++i)
            ways.add(events[i], forms_.symbols().roots);
        if (rounds_[before].hash != rounds_[now].hash) continue;
        const std::optional<int> root = ways.growing();
        if (!root || !growth(rounds_[before], rounds_[now])) continue;
        begin(*root, before);
        break;
    }
    return false;
}

}  // namespace wgrun::check::abstract
