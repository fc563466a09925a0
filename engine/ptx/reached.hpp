// What a function refers to.
#pragma once

#include <set>
#include <string_view>

#include "ptx/module.hpp"

namespace wgrun::ptx {

/// The names of the module that stand in a function, in the functions that it calls or takes the address of,
/// and in the initial values of the variables that it names; and so on.
std::set<std::string_view> names_reached(const Module& module, const Function& function);

}  // namespace wgrun::ptx
