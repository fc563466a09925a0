// How the checks of machine code report: at a line of the PTX, with the address, and whose fault it is.
#pragma once

#include <string>
#include <string_view>

#include "sass/events.hpp"
#include "sass/inclusion.hpp"
#include "sass/kept.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::sass {

class Report {
  public:
    Report(Kept& out, const Function& function, Where begin, const Context& known)
        : out_(out), function_(function), begin_(begin), known_(known) {}

    /// A finding about the instruction `at`, which comes from that line of the PTX.
    void add(const Rule& rule, int line, Place at, std::string message, std::vector<Note> notes = {});
    /// What could not be decided, at that line.
    void open(int line, std::string reason, std::string assumption = {});

    Where where(int line) const;
    /// "0x2f20 `HGMMA.64x64x16.F32 R88, ...`"
    std::string name(Place at) const;
    const Context& known() const { return known_; }

  private:
    Kept& out_;
    const Function& function_;
    Where begin_;  ///< of the kernel
    const Context& known_;
};

/// Registers of products: WG-SASS-01, -08. asked: null where there is no program. line_of: the line of the
/// PTX of a product.
void check_registers(const Function& function, const Graph& graph, const Asked* asked,
                     const std::vector<int>& line_of, Report& report);
/// Waits that the program does not ask for: WG-SASS-04.
void check_serialised(const Function& function, const Graph& graph, const Asked& asked,
                      const std::vector<int>& line_of, Report& report);
/// Waits for products that are lost: WG-SASS-03.
void check_waits(const Function& function, const Graph& graph, const Asked& program, const Done& done,
                 const Inclusion& found, Report& report);
/// What proxy fences are made of: WG-SASS-05.
void check_fences(const Function& function, const Graph& graph, const Asked& asked, Report& report);
/// Accesses to memory: WG-SASS-07.
void check_accesses(const Function& function, const Asked& asked, const Done& done, const Inclusion& found,
                    Report& report);
/// Whether machine code has something that this guard of the program decides: then the assembler has not
/// found that it never holds.
bool holds_somewhere(const Asked& asked, const Done& done, const Inclusion& found, std::uint64_t guard);
/// Spills: WG-SASS-09. Those outside of loops where what is slow is asked for.
void check_spills(const Function& function, const Graph& graph, const Asked& asked, Report& report);
/// Values, as far as single threads show them: WG-SASS-11. Returns how many were compared.
std::size_t check_values(const Function& function, const Graph& graph, const Program& program,
                         const Asked& asked, Report& report);
/// What waits for what in the main loops: WG-SASS-10.
void check_scoreboards(const Function& function, const Graph& graph, const std::vector<int>& line_of,
                       Report& report);

}  // namespace wgrun::sass
