// How the tool says that memory has run out.
#pragma once

namespace wgrun::cli {

/// "not enough memory", and why, if a limit (--max-memory) is the reason. Allocates nothing.
const char* out_of_memory() noexcept;

}  // namespace wgrun::cli
