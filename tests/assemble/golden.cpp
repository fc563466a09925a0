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

/// What the assembler repairs or serialises in silence: C7510 to C7520.
void require_no_advice(const std::filesystem::path& path, const gpu::AssemblerLog& log) {
    INFO(path << "\n" << log.text);
    // Guards between a wgmma and its wait cost what ptxas says; a guarded build is not run for its speed.
    const bool guarded = path.stem().extension() == ".guarded";
    for (const gpu::AssemblerNote& note : log.notes) CHECK((guarded || note.code.empty()));
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
