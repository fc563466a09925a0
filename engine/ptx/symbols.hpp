// What the names of a function stand for, scope by scope (PTX ISA 4.4, 5.4.5).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/module.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::ptx {

/// Something that is declared.
struct Symbol {
    enum class Kind : std::uint8_t {
        registers,
        parameter,
        shared,
        local,
        argument,  ///< .param inside a body: what is passed to a function, or returned
        variable,  ///< in global or constant memory
        other
    };
    Kind kind = Kind::other;
    isa::Type type = isa::Type::none;  ///< of registers
    bool counted = false;              ///< %r<n>: registers %r0 to %r(n-1)
    std::int64_t count = 0;
    int index = -1;           ///< of a parameter or a variable; of the buffer of one in shared memory
    std::int64_t offset = 0;  ///< bytes from the start of the buffer, or of local memory
    std::uint32_t id = 0;     ///< of this declaration, for registers
    int components = 0;       ///< of a vector of registers, whose names are those of its components
};

/// The scopes that are open, the innermost last. A name of the text means the innermost declaration of it.
class Symbols {
  public:
    /// A register, of the declaration `symbol`, is used for the first time, by this name: `make` returns it.
    using Make = std::function<isa::Reg(const Symbol& symbol, std::string_view name)>;
    explicit Symbols(Make make) : make_(std::move(make)), scopes_(1) {}

    void open() { scopes_.emplace_back(); }
    void close() { scopes_.pop_back(); }
    /// Declares a name in the innermost scope.
    void declare(std::string_view name, Symbol symbol);
    /// Gives what is declared in the innermost scope another name.
    void alias(std::string_view name, std::string_view of);
    /// Returns the declaration of a name; null: there is none.
    const Symbol* find(std::string_view name) const;
    /// Returns the register of that name; nothing: no register has it.
    std::optional<isa::Reg> reg(std::string_view name);
    /// Returns whether something is declared by that name, if only a register of a type that no record has.
    bool known(std::string_view name) const {
        std::int64_t number = 0;
        return declared(name, number) != nullptr;
    }

  private:
    struct Scope {
        std::unordered_map<std::string_view, Symbol> names;
        std::unordered_map<std::string_view, Symbol> counted;  ///< %r<n>, which does not declare %r
    };
    const Symbol* declared(std::string_view name, std::int64_t& number) const;
    static const Symbol* in_scope(const Scope& scope, std::string_view name, std::int64_t& number);

    Make make_;
    std::vector<Scope> scopes_;
    std::uint32_t declarations_ = 0;
    std::unordered_map<std::uint64_t, isa::Reg> made_;  ///< by declaration and number
};

}  // namespace wgrun::ptx
