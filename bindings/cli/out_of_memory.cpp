#include "bindings/cli/out_of_memory.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

#include "memory/heap_limit.hpp"

namespace wgrun::cli {

const char* out_of_memory() noexcept {
    if (!memory::heap_refused()) return "not enough memory";
    static std::array<char, 128> text;
    std::snprintf(text.data(), text.size(),
                  "not enough memory: script, checker and simulator may use %" PRIu64 " MiB (--max-memory)",
                  memory::heap_limit() >> 20U);
    return text.data();
}

}  // namespace wgrun::cli
