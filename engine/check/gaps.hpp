// What stopped the proofs of a program's properties: of each the first reason.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "wgrun/verdict.hpp"

namespace wgrun::check {

class Gaps {
  public:
    void add(Property property, Where where, std::string reason, std::string assumption = {}) {
        if (!has(property)) list_.push_back({property, where, std::move(reason), std::move(assumption)});
    }
    void add(std::initializer_list<Property> properties, Where where, const std::string& reason,
             const std::string& assumption = {}) {
        for (const Property property : properties) add(property, where, reason, assumption);
    }
    bool has(Property property) const {
        return std::ranges::find(list_, property, &Gap::property) != list_.end();
    }
    std::size_t size() const { return list_.size(); }
    std::vector<Gap> take() && { return std::move(list_); }

  private:
    std::vector<Gap> list_;
};

}  // namespace wgrun::check
