// Text that is safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace wgrun {

/// `text` with its control characters escaped as \x1b: names in files and arguments, which messages repeat,
/// may hold escape sequences that a terminal obeys. Newlines and tabs stay. C1 controls in UTF-8 are escaped
/// too (U+009B begins a sequence as ESC [ does); bytes that are not UTF-8 stay. Thread-safe.
std::string printable(std::string_view text);

}  // namespace wgrun

#pragma GCC visibility pop
