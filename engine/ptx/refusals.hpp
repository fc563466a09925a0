// What the assembler would refuse of a kernel's text: instructions that the text's version or chip does not
// have, and illegal forms and operands of instructions that there are.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ptx/heading.hpp"
#include "ptx/read.hpp"

namespace wgrun::ptx {

/// Collects findings, each kind once: an unrolled loop has its instructions many times. For one thread at a
/// time.
class Refusals {
  public:
    explicit Refusals(const Module& module) : module_(module), heading_(heading_of(module)) {}

    /// Looks at an instruction that a record reads, of which this is the opcode in the text.
    void look_at(const isa::Step& step, std::string_view opcode);
    /// Looks at one that no record reads, of which `statement` is the text. Returns whether it is illegal.
    bool look_at(const Statement& statement, Names& names);
    std::vector<Diagnostic> take();

  private:
    struct Found {
        Diagnostic finding;
        std::size_t others = 0;
        Where last{};
    };
    void add(const std::string& key, Diagnostic finding);
    bool look_at_versions(const isa::Step& step, std::string_view opcode);
    void look_at_numbers(const isa::Step& step);
    std::optional<Diagnostic> qualifiers(const Statement& statement, Names& names, const std::string& opcode,
                                         bool read);
    /// What is known of an opcode that no record reads.
    struct Opinion {
        /// How few and how many operands it takes, if records read the opcode.
        std::optional<std::pair<std::size_t, std::size_t>> operands{};
        bool illegal = false;                 ///< it is none, whatever its operands are
        bool one_word = false;                ///< but would be one with a word more or less
        std::optional<Diagnostic> refusal{};  ///< says so
    };
    Opinion opinion(const std::string& opcode, std::string_view text) const;
    std::optional<Diagnostic> operands(const Statement& statement, Names& names, const std::string& opcode,
                                       std::pair<std::size_t, std::size_t> counts) const;
    void lacks(std::string key, std::string_view what, std::string_view directive, const std::string& needed,
               const std::string& there, Where where, Where at);

    const Module& module_;
    Heading heading_;
    std::unordered_set<std::string_view> fitting_;  ///< opcodes that fit the heading
    /// Opcodes, and whether numbers that a record does not take are none that PTX takes.
    std::unordered_map<std::string_view, bool> limited_;
    std::unordered_map<std::string, Opinion> unread_;
    std::map<std::string, Found> found_;
};

}  // namespace wgrun::ptx
