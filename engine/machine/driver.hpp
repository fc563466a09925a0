// What the units of instructions ask of who drives them, whatever they are about.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "machine/waits.hpp"
#include "rules/rule_message.hpp"

namespace wgrun::machine {

/// A driver executes a step of a warp of a Cta at a time: the functions are about the current one.
template <class Driver, class Cta>
concept StepDriver = requires(Driver& driver, rules::RuleMessage message, std::uint32_t other,
                              std::string_view note) {
    { driver.warp() } -> std::same_as<int>;
    { driver.warp_in_cta() } -> std::same_as<int>;
    { driver.pc() } -> std::same_as<std::uint32_t>;
    { driver.own() } -> std::same_as<Cta&>;
    { driver.waits() } -> std::same_as<Waits&>;
    driver.progress();  // something has happened for which others may wait
    driver.fault(message);
    driver.fault(message, other, note);  // with the note at another step
};

}  // namespace wgrun::machine
