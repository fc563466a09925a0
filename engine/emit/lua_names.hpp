// The names of a script: what Lua allows, each given once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::emit {

class LuaNames {
  public:
    LuaNames();
    /// Returns a new variable whose name is like `wanted`.
    std::string variable(std::string_view wanted);

  private:
    std::set<std::string, std::less<>> taken_;
};

/// Registers in tables: r[12] is %r12, and r.stage is one that has a telling name.
class LuaRegisters {
  public:
    LuaRegisters(const Program& program, const std::vector<std::string>& names,
                 const std::vector<std::string>& telling, LuaNames& variables);

    std::string name(Reg reg) const;
    /// Returns the expression for a list of registers.
    std::string list(const std::vector<Reg>& regs) const;
    /// Returns whether list() of it is short.
    bool consecutive(const std::vector<Reg>& regs) const;
    /// Calls visit(variable, type) for each table.
    template <class Visit>
    void for_each_table(Visit visit) const {
        for (const auto& [key, variable] : tables_) visit(variable, key.second);
    }

  private:
    struct Place {
        std::string table;
        std::int64_t number = 0;
        std::string key;  ///< in place of the number, if it is not empty
    };
    std::vector<Place> places_;
    std::map<std::pair<std::string, isa::Type>, std::string> tables_;
};

}  // namespace wgrun::emit
