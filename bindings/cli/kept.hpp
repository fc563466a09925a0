// What check --sass says: machine code held against its PTX.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bindings/cli/cli.hpp"
#include "kernel/machine_code.hpp"
#include "wgrun/finding_set.hpp"

namespace wgrun::cli {

/// Holds machine code against a kernel of a script. Findings are at lines of the script, with those of the
/// PTX as notes.
std::vector<KeptKernel> kept_of_script(Kernel& kernel, const sass::Listing& listing, bool performance);

/// Takes the name of a file with machine code from behind FILE, if there is one. False, with a remark, if
/// there are several.
bool take_machine_code(Request& request, std::string& file);

/// The machine code of some kernels.
class KeptCode {
  public:
    /// `file`: where the machine code is, in place of what ptxas makes; empty: ptxas makes it.
    /// performance: also finds what is slower than necessary.
    explicit KeptCode(std::string file = {}, bool performance = false)
        : file_(std::move(file)), performance_(performance) {}

    /// Adds a kernel of a script.
    void add(Kernel& kernel, const std::atomic<bool>* stop);
    /// Adds all entries of a PTX text.
    void add(const std::string& name, const std::string& text);
    /// Adds machine code alone.
    void add_alone(const std::string& path);

    const std::vector<KeptKernel>& kernels() const { return kernels_; }
    /// Puts the findings among others.
    void add_findings(FindingSet& findings) const;
    /// The verdict of a kernel, at the end of its others. The last kernel of the name counts.
    void add_verdict(const std::string& kernel, std::vector<Verdict>& verdicts) const;

    std::string text() const;
    /// Adds `machine_code`: a list of { kernel, file, line, instructions, products, compared, values, verdict
    /// }.
    void add_to(nlohmann::ordered_json& json) const;

  private:
    std::string file_;
    bool performance_;
    std::vector<KeptKernel> kernels_;
};

/// check --sass of machine code that comes without PTX. Returns the exit code.
int check_machine_code(const Request& request, bool strict, Results& results);

}  // namespace wgrun::cli
