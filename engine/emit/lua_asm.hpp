// A step that no call of the builder makes, as k:asm.
#pragma once

#include <string>
#include <vector>

#include "emit/lua.hpp"
#include "emit/lua_names.hpp"

namespace wgrun::emit {

class LuaAsm {
  public:
    /// `params`: what the script calls the parameters. What the script does not say is added to `remarks`.
    LuaAsm(const Program& program, const LuaRegisters& registers, const std::vector<std::string>& params,
           std::vector<std::string>& remarks)
        : program_(program), registers_(registers), params_(params), remarks_(remarks) {}

    /// Returns the line for an opaque step; a comment stands for a call, which is left out.
    std::string text_of(const Step& step, const OpaqueText& text);
    /// Returns the line for a step of a record that scripts cannot call.
    std::string text_of(const Step& step);

  private:
    std::string call(const OpaqueText& text, const std::string& effects, const Step& step) const;

    const Program& program_;
    const LuaRegisters& registers_;
    const std::vector<std::string>& params_;
    std::vector<std::string>& remarks_;
};

}  // namespace wgrun::emit
