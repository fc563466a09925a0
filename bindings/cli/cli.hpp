// The command line: what all commands that run scripts are asked, where results go, and how the process ends.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/kernel.hpp"
#include "wgrun/limits.hpp"

namespace wgrun::cli {

/// What the process returns; --help lists them.
enum Exit : int {
    ok = 0,
    failed = 1,  ///< findings, or the script raised an error
    usage = 2,
    not_assembled = 3,  ///< the assembler or NVRTC refused the text
    no_device = 4,
    wrong_result = 5,  ///< left to scripts: os.exit(5)
    interrupted = 130,
};

/// What is asked of every command: how a script is run, and how results are shown. What one command alone
/// takes stands in its own file (command.hpp).
struct Request {
    std::string program = "wgrun";
    std::string file;                 ///< "-" is standard input; empty: none given
    std::optional<std::string> text;  ///< what is run in place of what the file holds
    std::vector<std::string> args;    ///< of the script
    std::vector<std::string> code;    ///< -e
    Backend backend = Backend::automatic;
    isa::Numerics numerics;
    gpu::Isolation isolation = gpu::Isolation::worker;  ///< where the GPU's driver is
    bool restricted = false;                            ///< what scripts have, and may take
    lua::Limits limits;
    bool json = false;
    std::uint64_t seed = 0;  ///< of the simulator's schedule
    bool traceback = false;
    bool watch = false;          ///< again whenever the script changes
    bool colour = false;         ///< of standard error
    bool colour_output = false;  ///< of standard output
};

/// Where results go. Commands that print something for programs keep standard output to themselves: what the
/// script prints goes to standard error.
class Results {
  public:
    explicit Results(bool exclusive);
    ~Results();
    Results(const Results&) = delete;
    Results& operator=(const Results&) = delete;

    void write(std::string_view text);
    /// False, with a remark on standard error, when something could not be written.
    bool finish();

  private:
    std::FILE* file_;
};

/// Opens those of the streams 0, 1 and 2 that the process was started without, so that no file that it opens
/// becomes its standard output. Reading finds nothing; writing to standard output fails as it would have.
void open_standard_streams();

/// Writes out what is buffered. False when something could not be written; a remark says so the first time.
bool flush(std::FILE* file);

/// A line on standard error.
void remark(std::string_view text);

/// Reads the command line and runs the command.
int main(int argc, char** argv);

}  // namespace wgrun::cli
