// The labels of a function's body. A label belongs to the scope that it stands in (PTX ISA 4.4).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/module.hpp"

namespace wgrun::ptx {

/// Returns the labels that a .branchtargets lists; none for another directive.
std::vector<std::string_view> branch_targets(std::string_view directive);

/// Follows the scopes of one body, which it reads in advance.
class Labels {
  public:
    /// `make` returns a new label of the program; it gets the name where texts may show it. `report` is told
    /// of labels that stand in a scope twice.
    Labels(const Module& module, const Function& function, const std::function<int(std::string)>& make,
           const std::function<void(Span, std::string)>& report);

    void open() { open_.push_back(++opened_); }
    void close() { open_.pop_back(); }
    /// Returns the label that a jump from here means; null: there is none.
    const int* target(std::string_view name);
    /// Returns the label of that name that stands here, once; null: nothing jumps to it, and it divides no
    /// blocks.
    const int* here(std::string_view name);

  private:
    template <class Visit>
    void for_each_statement(const Module& module, const Function& function, Visit visit);
    struct Place {
        int label = -1;  ///< none: nothing jumps to it
        bool placed = false;
    };
    Place* find(std::uint32_t scope, std::string_view name);

    std::vector<std::uint32_t> parents_{0};  ///< by scope: the one around it; scope 0 is the body
    std::map<std::pair<std::uint32_t, std::string_view>, Place> labels_;
    std::vector<std::uint32_t> open_{0};
    std::uint32_t opened_ = 0;  ///< scopes so far, which are numbered in the order in which they open
};

}  // namespace wgrun::ptx
