// The command line: what was asked, and the commands. One file a command.
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

/// The command line, read.
struct Request {
    std::string program = "wgrun";
    std::string file;                 ///< "-" is standard input; empty: none given
    std::optional<std::string> text;  ///< what is run in place of what the file holds
    std::vector<std::string> args;    ///< of the script
    std::vector<std::string> code;    ///< -e
    std::string id;                   ///< of explain
    std::string object;               ///< of layout: a layout, or the script
    std::string name;                 ///< of layout: what the script calls it; of export: one kernel
    std::string folder;               ///< of export: where the files go
    std::string svg;                  ///< of layout: the file to write; empty: none
    std::string number;               ///< of decode
    std::string action;               ///< of cache
    std::string family;               ///< of isa: an instruction or the beginning of its name
    std::string dtype;                ///< of isa: forms with this type; empty: all
    std::optional<int> n;             ///< of isa: forms with this N
    Backend backend = Backend::automatic;
    isa::Numerics numerics;
    gpu::Isolation isolation = gpu::Isolation::worker;  ///< where the GPU's driver is
    bool restricted = false;                            ///< what scripts have, and may take
    lua::Limits limits;
    bool json = false;
    bool sarif = false;
    bool markdown = false;   ///< of rules
    bool dynamic = false;    ///< of check: run the kernels on the simulator too
    bool assemble = false;   ///< of check: ask the assembler too
    bool guarded = false;    ///< of ptx and cuda: the guarded build
    bool perf = false;       ///< of check: what is slower than it need be
    bool fix = false;        ///< of check: insert the calls that are missing
    bool diff = false;       ///< of check: show what --fix would do
    int seeds = 4;           ///< of check --dynamic: schedules to try
    std::uint64_t seed = 0;  ///< of the simulator's schedule
    bool traceback = false;
    bool bytes = false;          ///< of layout: byte addresses
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

// The commands. Each returns the exit code.
int run(const Request& request);
int check(const Request& request);
int ptx(const Request& request);
int cuda(const Request& request);
int export_files(const Request& request);
int explain(const Request& request);
int rules(const Request& request);
int layout(const Request& request);
int decode(const Request& request);
int doctor(const Request& request);
int cache(const Request& request);
int isa_table(const Request& request);

/// Reads the command line and runs the command.
int main(int argc, char** argv);

}  // namespace wgrun::cli
