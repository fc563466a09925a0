#include "check/symbolic/isl.hpp"

#ifdef WGRUN_ISL

#include <dlfcn.h>

#include <optional>

namespace wgrun::check::symbolic {
namespace {

#ifdef WGRUN_ISL_INSIDE
std::optional<Isl> opened() {
    Isl out;
#define WGRUN_ISL_TAKE(name) out.name = &isl_##name;
    WGRUN_ISL_FUNCTIONS(WGRUN_ISL_TAKE)
#undef WGRUN_ISL_TAKE
    return out;
}
#else
std::optional<Isl> opened() {
    // The version that the headers of Debian and Ubuntu describe.
    void* library = ::dlopen("libisl.so.23", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::nullopt;
    Isl out;
    bool complete = true;
#define WGRUN_ISL_FIND(name)                                                         \
    out.name = reinterpret_cast<decltype(out.name)>(::dlsym(library, "isl_" #name)); \
    complete = complete && out.name != nullptr;
    WGRUN_ISL_FUNCTIONS(WGRUN_ISL_FIND)
#undef WGRUN_ISL_FIND
    return complete ? std::optional(out) : std::nullopt;
}
#endif

}  // namespace

const Isl* open_isl() {
    static const std::optional<Isl> library = opened();
    return library ? &*library : nullptr;
}

}  // namespace wgrun::check::symbolic

#endif
