// The golden texts of the example scripts through the real compilers.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "source_folder.hpp"
#include "tests/catch.hpp"
#include "wgrun/gpu.hpp"

namespace {

using namespace wgrun;

std::vector<std::filesystem::path> texts(const char* extension) {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(WGRUN_SOURCE_DIR "/tests/golden"))
        if (entry.path().extension() == extension) out.push_back(entry.path());
    return out;
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// In gemm.guarded.cu the accumulator is a C++ variable that lives across the time limit of a wait, which
/// branches: ptxas waits for the wgmma before it. That costs time, and a guarded build is not run for its
/// speed.
bool expected(const std::filesystem::path& path, const gpu::AssemblerNote& note) {
    return path.filename() == "gemm.guarded.cu" && note.code == "C7517" &&
           note.message.find("warpgroup.wait is injected") != std::string::npos &&
           note.message.find("to allow use of registers defined by GMMA in function 'gemm'") !=
               std::string::npos;
}

/// What the assembler repairs or serialises in silence: C7510 to C7520.
void require_no_advice(const std::filesystem::path& path, const gpu::AssemblerLog& log) {
    INFO(path << "\n" << log.text);
    for (const gpu::AssemblerNote& note : log.notes) CHECK((note.code.empty() || expected(path, note)));
    for (const gpu::FunctionReport& function : log.functions) CHECK(function.spill_store_bytes == 0);
}

}  // namespace

TEST_CASE("golden PTX assembles without a word from ptxas") {
    if (!gpu::doctor().ptxas) {
        std::cout << "skipped: no ptxas\n";
        return;
    }
    const auto files = texts(".ptx");
    REQUIRE(files.size() >= 2);
    for (const auto& path : files) require_no_advice(path, gpu::ptxas_assemble(read(path)).log);
}

TEST_CASE("ptxas honours setmaxnreg of wg.gemm, for its launch bounds") {
    if (!gpu::doctor().ptxas) {
        std::cout << "skipped: no ptxas\n";
        return;
    }
    const auto ignores = [](const std::string& text) {
        const gpu::AssemblerLog log = gpu::ptxas_assemble(text).log;
        return std::any_of(log.notes.begin(), log.notes.end(), [](const gpu::AssemblerNote& note) {
            return note.message.find("'setmaxnreg' ignored") != std::string::npos;
        });
    };
    std::string text = read(WGRUN_SOURCE_DIR "/tests/golden/gemm_fast.ptx");
    REQUIRE(text.find("setmaxnreg.dec") != std::string::npos);
    CHECK_FALSE(ignores(text));
    const std::string bounds = ".minnctapersm 1\n";
    const std::size_t at = text.find(bounds);
    REQUIRE(at != std::string::npos);
    CHECK(ignores(text.erase(at, bounds.size())));
}

TEST_CASE("golden CUDA C++ compiles without a word from NVRTC") {
    if (!gpu::doctor().nvrtc) {
        std::cout << "skipped: no NVRTC\n";
        return;
    }
    const auto files = texts(".cu");
    REQUIRE(files.size() >= 2);
    for (const auto& path : files) require_no_advice(path, gpu::nvrtc_compile(read(path)).log);
}
