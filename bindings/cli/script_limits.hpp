// What the command line allows to scripts.
#pragma once

#include "bindings/lua/limits.hpp"

namespace wgrun::cli {

/// Set once, when the command line is read; every state of a script gets them (host.hpp).
struct ScriptLimits {
    bool restricted = false;
    lua::Limits limits;
};
ScriptLimits& script_limits();

}  // namespace wgrun::cli
