// What stopped the proofs of a program's properties: of each the first reason.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wgrun/verdict.hpp"

namespace wgrun::check {

/// What decides about accesses of which no proof says anything.
inline constexpr std::string_view run_it = "--dynamic compares them in each launch of the script";

/// The reason where a proof comes to a fault. Its states stand for those of launches, and for more.
inline std::string in_some_state(std::string_view fault) {
    return fmt::format("in a state of the proof, perhaps of no launch, {}", fault);
}

class Gaps {
  public:
    void add(Property property, Where where, std::string reason, std::string assumption = {}) {
        if (!has(property)) list_.push_back({property, where, std::move(reason), std::move(assumption)});
    }
    void add(std::initializer_list<Property> properties, Where where, const std::string& reason,
             const std::string& assumption = {}) {
        for (const Property property : properties) add(property, where, reason, assumption);
    }
    void add_all(Gaps&& others) {
        for (Gap& gap : others.list_)
            add(gap.property, gap.where, std::move(gap.reason), std::move(gap.assumption));
        for (auto& [property, all] : others.assumed_) assumed_[property].merge(all);
    }
    /// A property is proved if that is so, in words, of what a launch gives.
    void assume(Property property, std::string what) { assumed_[property].insert(std::move(what)); }
    const std::map<Property, std::set<std::string>>& assumed() const { return assumed_; }
    void drop(Property property) {
        std::erase_if(list_, [&](const Gap& gap) { return gap.property == property; });
    }
    bool has(Property property) const {
        return std::ranges::find(list_, property, &Gap::property) != list_.end();
    }
    bool empty() const { return list_.empty(); }
    std::size_t size() const { return list_.size(); }
    std::vector<Gap> take() && { return std::move(list_); }

  private:
    std::vector<Gap> list_;
    std::map<Property, std::set<std::string>> assumed_;
};

}  // namespace wgrun::check
