// The command line: the request that all commands share, where results go, and how the process ends.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/lua/script.hpp"
#include "wgrun/cancellation.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/limits.hpp"

namespace wgrun::cli {

/// The exit codes of the process; --help lists them.
enum Exit : int {
    ok = 0,
    failed = 1,  ///< findings, or the script raised an error
    usage = 2,
    not_assembled = 3,  ///< the assembler or NVRTC rejected the text
    no_device = 4,
    wrong_result = 5,  ///< left to scripts: os.exit(5)
    undecided = 6,     ///< check --strict: nothing is refuted, but something is not proved
    interrupted = 130,
};

/// The options that all commands share: how a script is run, and how results are shown. Options of a single
/// command are declared in its own file (command.hpp).
struct Request {
    std::string program = "wgrun";
    std::string file;                 ///< "-" is standard input; empty: none given
    std::optional<std::string> text;  ///< the text that is run in place of the file's contents
    std::vector<std::string> args;    ///< of the script
    std::vector<std::string> words;   ///< of the command line between the command and FILE
    std::vector<std::string> code;    ///< -e
    Backend backend = Backend::automatic;
    isa::Numerics numerics;
    gpu::Isolation isolation = gpu::Isolation::worker;  ///< where the GPU's driver is
    bool restricted = false;                            ///< scripts are restricted, and have limits
    lua::Limits limits;
    /// When the time is over (limits.time, from the start of the command).
    Cancellation::Clock::time_point deadline = Cancellation::Clock::time_point::max();
    bool json = false;
    std::uint64_t seed = 0;  ///< of the simulator's schedule
    bool traceback = false;
    bool keep_warnings = false;  ///< of launches: they are findings of the outcome, and not printed
    bool watch = false;          ///< run again whenever the script changes
    bool colour = false;         ///< of standard error
    bool colour_output = false;  ///< of standard output

    /// What messages call the file.
    std::string name() const { return file == "-" ? lua::unnamed_text : file; }
};

/// The output of results. Commands that print for programs reserve standard output: the output of scripts
/// then goes to standard error.
class Results {
  public:
    explicit Results(bool exclusive);
    ~Results();
    Results(const Results&) = delete;
    Results& operator=(const Results&) = delete;

    void write(std::string_view text);
    /// False, with a remark on standard error, if something could not be written.
    bool finish();

  private:
    std::FILE* file_;
};

/// Opens those of the streams 0, 1 and 2 that the process was started without, so that no file that it opens
/// becomes standard output. Reading finds the end of file; writing to standard output fails, as it would
/// have.
void open_standard_streams();

/// Flushes buffered output. False if something could not be written; a remark says so the first time.
bool flush(std::FILE* file);

/// Prints a line on standard error.
void remark(std::string_view text);

/// Reads the command line and runs the command.
int main(int argc, char** argv);

}  // namespace wgrun::cli
