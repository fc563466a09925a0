#include "sass/graph.hpp"

#include <algorithm>
#include <unordered_map>

#include "sass/record.hpp"

namespace wgrun::sass {
namespace {

using Labels = std::unordered_map<std::string_view, Place>;

/// Whether threads may pass the branch, besides those that its guard keeps from it: "BRA P1, `(...)".
bool has_condition(const Instruction& one) {
    return one.guarded() || one.mnemonic.starts_with("BRA.") || one.operands.size() > 1;
}

/// "BRX R2 -0x100 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)"
std::vector<std::string_view> targets_of_table(std::string_view text) {
    std::vector<std::string_view> out;
    std::size_t at = text.find("BRANCH_TARGETS");
    if (at == std::string_view::npos) return out;
    while ((at = text.find(".L", at)) != std::string_view::npos) {
        const std::size_t end = std::min(text.find_first_of(",\"*) ", at), text.size());
        out.push_back(text.substr(at, end - at));
        at = end;
    }
    return out;
}

/// Cycles of a graph: Tarjan's algorithm without recursion. Places of one cycle get one number; those of none
/// get none.
class Cycles {
  public:
    static constexpr Place none = UINT32_MAX;

    Cycles(const std::vector<std::vector<Place>>& next, const std::vector<bool>& within)
        : next_(next), within_(within), order_(next.size(), none), low_(next.size()), of(next.size(), none) {
        for (Place at = 0; at < next.size(); ++at)
            if (within[at] && order_[at] == none) visit(at);
    }

  private:
    struct Visit {
        Place at;
        std::size_t arm = 0;
    };

    void enter(Place at) {
        order_[at] = low_[at] = count_++;
        open_.push_back(at);
        visits_.push_back({at});
    }

    void visit(Place root) {
        enter(root);
        while (!visits_.empty()) {
            Visit& top = visits_.back();
            const Place at = top.at;
            if (top.arm < next_[at].size()) {
                const Place to = next_[at][top.arm++];
                if (!within_[to]) continue;
                if (order_[to] == none)
                    enter(to);
                else if (of[to] == none && !closed_[to])
                    low_[at] = std::min(low_[at], order_[to]);
                continue;
            }
            visits_.pop_back();
            if (!visits_.empty()) low_[visits_.back().at] = std::min(low_[visits_.back().at], low_[at]);
            if (low_[at] == order_[at]) close(at);
        }
    }

    void close(Place root) {
        auto begin = open_.end() - 1;  // it is one of the last
        while (*begin != root) --begin;
        const bool cycle = std::distance(begin, open_.end()) > 1 ||
                           std::ranges::find(next_[root], root) != next_[root].end();
        for (auto at = begin; at != open_.end(); ++at) {
            closed_[*at] = true;
            if (cycle) of[*at] = root;
        }
        open_.erase(begin, open_.end());
    }

    const std::vector<std::vector<Place>>& next_;
    const std::vector<bool>& within_;
    std::vector<Place> order_, low_, open_;
    std::vector<bool> closed_ = std::vector<bool>(next_.size());
    std::vector<Visit> visits_;
    Place count_ = 0;

  public:
    std::vector<Place> of;  ///< the number of each place's cycle
};

}  // namespace

std::string_view target_of(const Instruction& instruction) {
    const std::size_t begin = instruction.text.find("`(");
    if (begin == std::string_view::npos) return {};
    const std::size_t end = instruction.text.find(')', begin);
    return instruction.text.substr(begin + 2, end - begin - 2);
}

Graph::Graph(const Function& function) : function_(&function), next_(function.instructions.size()) {
    open_ = static_cast<Place>(next_.size());
    find_successors();
    find_reachable();
    find_loops();
}

void Graph::find_successors() {
    Labels labels;
    for (const Label& label : function_->labels) labels.emplace(label.name, static_cast<Place>(label.at));
    const auto& code = function_->instructions;
    std::vector<std::pair<Place, Place>> calls;
    for (Place at = 0; at < code.size(); ++at) {
        const Instruction& one = code[at];
        const auto add = [&](std::string_view label) {
            const auto found = labels.find(label);
            if (found == labels.end() || found->second >= code.size()) return false;
            next_[at].push_back(found->second);
            return true;
        };
        bool passes = true;
        switch (one.record->does) {
            case Does::exit:
            case Does::ret: passes = one.guarded(); break;
            case Does::branch:
                passes = has_condition(one);
                if (!one.never() && !add(target_of(one))) open_ = at;
                break;
            case Does::indirect:
                passes = one.guarded();
                for (const std::string_view label : targets_of_table(one.text)) add(label);
                if (next_[at].empty()) open_ = at;
                break;
            case Does::call:
                if (const auto found = labels.find(target_of(one));
                    found != labels.end() && found->second < code.size())
                    calls.emplace_back(at, found->second);
                else
                    open_ = at;
                break;
            default: break;
        }
        if (one.never()) passes = true;
        if (passes && at + 1 < code.size()) next_[at].push_back(at + 1);
    }
    for (const auto& [at, to] : calls) {
        std::vector<bool> seen(code.size());
        std::vector<Place> body{to};
        seen[to] = true;
        for (std::size_t i = 0; i < body.size(); ++i)
            for (const Place then : next_[body[i]])
                if (!seen[then]) seen[then] = true, body.push_back(then);
        called_.emplace_back(at, std::move(body));
    }
}

void Graph::find_reachable() {
    reachable_.assign(next_.size(), false);
    if (next_.empty()) return;
    std::vector<Place> left{0};
    reachable_[0] = true;
    const auto reach = [&](Place at) {
        if (!reachable_[at]) reachable_[at] = true, left.push_back(at);
    };
    while (!left.empty()) {
        const Place at = left.back();
        left.pop_back();
        for (const Place to : next_[at]) reach(to);
        for (const Place to : called(at)) reach(to);
    }
}

void Graph::find_loops() {
    depth_.assign(next_.size(), 0);
    loop_.assign(next_.size(), static_cast<Place>(next_.size()));
    std::vector<bool> within = reachable_;
    constexpr int deepest = 8;
    for (int round = 0; round < deepest; ++round) {
        const Cycles cycles(next_, within);
        bool any = false;
        for (Place at = 0; at < next_.size(); ++at) {
            const bool inside = cycles.of[at] != Cycles::none;
            depth_[at] += inside;
            any = any || inside;
            within[at] = inside;
        }
        if (!any) return;
        // Inner cycles are those that remain without the first place of each.
        std::vector<Place> first(next_.size(), Cycles::none);
        for (Place at = 0; at < next_.size(); ++at)
            if (within[at] && first[cycles.of[at]] == Cycles::none)
                first[cycles.of[at]] = at, within[at] = false;
        for (Place at = 0; at < next_.size(); ++at)
            if (cycles.of[at] != Cycles::none) loop_[at] = first[cycles.of[at]];
    }
}

const std::vector<Place>& Graph::called(Place at) const {
    static const std::vector<Place> nothing;
    const auto found = std::ranges::find(called_, at, &std::pair<Place, std::vector<Place>>::first);
    return found == called_.end() ? nothing : found->second;
}

bool Graph::repeats_for_lanes(Place at) const {
    const Instruction& one = function_->instructions[at];
    return one.record->does == Does::branch && one.has("U") && one.has("ANY");
}

}  // namespace wgrun::sass
