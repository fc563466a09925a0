// What messages call wgrun's objects: their classes have names that only the documentation needs.
#pragma once

#include <string>
#include <string_view>

namespace wgrun::lua {

/// "expected wgrun.reg, got wgrun.tensor" as "expected a register, got a tensor".
std::string in_plain_words(std::string_view message);

}  // namespace wgrun::lua
