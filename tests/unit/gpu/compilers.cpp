// ptxas as a process and NVRTC in this one, where they are installed; what happens where they are not.
#include <atomic>
#include <chrono>
#include <fstream>

#include "gpu/cache.hpp"
#include "gpu/disassemble.hpp"
#include "tests/catch.hpp"
#include "tests/unit/gpu/support.hpp"

using namespace wgrun;
using namespace wgrun::gpu;
using namespace wgrun::gpu::test;
namespace fs = std::filesystem;

TEST_CASE("ptxas makes a cubin and its notes") {
    if (!have_ptxas()) return;
    const OwnCache cache;
    const Cubin cubin = ptxas_assemble(unfenced_ptx);
    CHECK(is_elf(cubin.image));
    CHECK_FALSE(cubin.cached);
    REQUIRE(cubin.log.functions.size() == 1);
    CHECK(cubin.log.functions[0].name == "k");
    CHECK(cubin.log.functions[0].registers > 8);
    REQUIRE(cubin.log.notes.size() == 2);
    CHECK(cubin.log.notes[0].code == "C7519");
    CHECK(cubin.log.notes[0].line == 11);
    CHECK(cubin.log.notes[1].code == "C7517");

    const Cubin again = ptxas_assemble(unfenced_ptx);
    CHECK(again.cached);
    CHECK(again.image == cubin.image);
    CHECK(again.log.text == cubin.log.text);
    CHECK(again.log.notes.size() == 2);

    const std::vector<std::string> options = {"-O1"};
    CHECK_FALSE(ptxas_assemble(unfenced_ptx, options).cached);
    const Environment off("WGRUN_CACHE", "off");
    CHECK_FALSE(ptxas_assemble(unfenced_ptx).cached);
}

TEST_CASE("ptxas errors carry their lines, and nothing is left behind or cached") {
    if (!have_ptxas()) return;
    const OwnCache cache;
    const TemporaryFolder folder;
    const Environment temporary("TMPDIR", folder.path().c_str());
    for (int round = 0; round < 2; ++round) {
        try {
            ptxas_assemble(broken_ptx());
            FAIL("it assembled");
        } catch (const CompileError& error) {
            CHECK(error.code() == "ECOMPILE");
            CHECK_THAT(error.what(),
                       ContainsSubstring("ptxas: line 8: ") && ContainsSubstring("more errors)"));
            const auto& notes = error.log().notes;
            const auto shape =
                std::ranges::find(notes, "Unknown modifier '.m64n12k16'", &AssemblerNote::message);
            REQUIRE(shape != notes.end());
            CHECK(shape->line == 11);
            CHECK(shape->severity == Severity::error);
            CHECK_THAT(error.log().text, ContainsSubstring("ptxas kernel.ptx, line 11") &&
                                             !ContainsSubstring(folder.path().string()));
        }
    }
    CHECK(fs::is_empty(folder.path()));
    CHECK(Cache::standard().info().entries == 0);
}

TEST_CASE("what ptxas is asked wrongly") {
    if (!have_ptxas()) return;
    const OwnCache cache;
    const std::vector<std::string> bogus = {"--bogus"};
    CHECK_THROWS_WITH(ptxas_assemble(unfenced_ptx, bogus), ContainsSubstring("ptxas: Unknown option"));
    CHECK_THROWS_WITH(ptxas_assemble("garbage"),
                      ContainsSubstring("ptxas: line 1: Missing .version directive"));
    CHECK_THROWS_WITH(ptxas_assemble(" \n"), "the PTX text is empty");
    CHECK_THROWS_WITH(ptxas_assemble(std::string_view("ab\0c", 4)),
                      "the PTX text has a NUL byte at offset 2");
    CHECK_THROWS_WITH(ptxas_assemble(unfenced_ptx, {}, std::chrono::milliseconds(0)),
                      ContainsSubstring("did not end within 0 s and was killed"));
    const Environment nowhere("TMPDIR", "/nowhere");
    CHECK_NOTHROW(ptxas_assemble(unfenced_ptx));  // /tmp instead
}

TEST_CASE("a ptxas that crashes says so") {
    const TemporaryFolder folder;
    const fs::path fake = folder.path() / "ptxas";
    std::ofstream(fake) << "#!/bin/sh\necho starting\nkill -11 $$\n";
    fs::permissions(fake, fs::perms::owner_all);
    const Environment path("PATH", folder.path().c_str());
    const Environment on("WGRUN_CUDA", nullptr);
    const OwnCache cache;
    CHECK_THROWS_WITH(ptxas_assemble(unfenced_ptx), ContainsSubstring("ended by signal 11"));
}

TEST_CASE("an nvdisasm that hangs is ended") {
    const TemporaryFolder folder;
    const fs::path fake = folder.path() / "nvdisasm";
    std::ofstream(fake) << "#!/bin/sh\nexec /bin/sleep 300\n";
    fs::permissions(fake, fs::perms::owner_all);
    const Environment path("PATH", folder.path().c_str());
    const Environment on("WGRUN_CUDA", nullptr);
    const std::vector<std::byte> cubin(16);
    CHECK_THROWS_WITH(disassemble(cubin, nullptr, true, std::chrono::milliseconds(200)),
                      ContainsSubstring("nvdisasm did not end within 0.2 s and was killed"));
    const std::atomic<bool> stop = true;
    CHECK_THROWS_WITH(disassemble(cubin, &stop, true), ContainsSubstring("was interrupted"));
}

TEST_CASE("NVRTC compiles inline wgmma to sm_90a") {
    if (!have_nvrtc()) return;
    const OwnCache cache;
    const Cubin cubin = nvrtc_compile(unfenced_cuda);
    CHECK(is_elf(cubin.image));
    CHECK_FALSE(cubin.cached);
    REQUIRE(cubin.log.functions.size() == 1);
    CHECK(cubin.log.functions[0].name == "k");
    CHECK(cubin.log.functions[0].shared_bytes == 8192);
    CHECK(cubin.log.functions[0].registers > 8);
    REQUIRE(cubin.log.notes.size() == 2);
    CHECK(cubin.log.notes[0].code == "C7519");
    const Cubin again = nvrtc_compile(unfenced_cuda);
    CHECK(again.cached);
    CHECK(again.image == cubin.image);
    CHECK(again.log.notes.size() == 2);
    const std::vector<std::string> define = {"--define-macro=X=1"};
    CHECK_FALSE(nvrtc_compile(unfenced_cuda, define).cached);
}

TEST_CASE("NVRTC tells its notes although it has seen the text before") {
    if (!have_nvrtc()) return;
    for (int time = 0; time < 2; ++time) {
        const OwnCache cache;  // Beside a GPU, NVRTC keeps what it compiled in a cache of its own.
        const Cubin cubin = nvrtc_compile(unfenced_cuda);
        CHECK(cubin.log.functions.size() == 1);
        CHECK(cubin.log.notes.size() == 2);
    }
}

TEST_CASE("NVRTC errors carry their lines") {
    if (!have_nvrtc()) return;
    const OwnCache cache;
    CHECK_THROWS_WITH(nvrtc_compile("__global__ void k() {\n  ouch = 1;\n}\n"),
                      "nvrtc: line 2: identifier \"ouch\" is undefined");
    std::string wrong_shape = unfenced_cuda;
    wrong_shape.replace(wrong_shape.find("m64n8k16"), 8, "m64n12k16");
    CHECK_THROWS_WITH(nvrtc_compile(wrong_shape), ContainsSubstring("Unknown modifier '.m64n12k16'"));
    const std::vector<std::string> bogus = {"--bogus"};
    CHECK_THROWS_WITH(nvrtc_compile(unfenced_cuda, bogus), ContainsSubstring("unrecognized option --bogus"));
    CHECK_THROWS_WITH(nvrtc_compile(""), "the CUDA C++ text is empty");
}

TEST_CASE("included files are read each time, so such a text is not cached") {
    if (!have_nvrtc()) return;
    const OwnCache cache;
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "value.h") << "#define VALUE 1\n";
    const std::vector<std::string> options = {"--include-path=" + folder.path().string()};
    const char* text = "#include \"value.h\"\nextern \"C\" __global__ void k(int* p) { *p = VALUE; }\n";
    CHECK(is_elf(nvrtc_compile(text, options).image));
    std::ofstream(folder.path() / "value.h") << "#error changed\n";
    CHECK_THROWS_AS(nvrtc_compile(text, options), CompileError);
}

TEST_CASE("without CUDA every part says why") {
    const Environment off("WGRUN_CUDA", "off");
    const OwnCache cache;
    const auto fails = [](auto call, const char* code, const char* text) {
        try {
            call();
            FAIL("it worked");
        } catch (const EnvironmentError& error) {
            CHECK(error.code() == code);
            CHECK(error.what() == std::string(text));
        }
    };
    fails([] { nvrtc_compile(unfenced_cuda); }, "ENOENT",
          "NVRTC was not found: switched off by WGRUN_CUDA=off");
    fails([] { ptxas_assemble(unfenced_ptx); }, "ENOENT",
          "ptxas was not found: switched off by WGRUN_CUDA=off");
    fails([] { Device::get(); }, "ENODEV", "no GPU to run on: switched off by WGRUN_CUDA=off");
    CHECK(Device::unavailable() == "switched off by WGRUN_CUDA=off");
    const MachineReport report = doctor();
    for (const Part& part : {report.driver, report.nvrtc, report.ptxas, report.cublas}) {
        CHECK_FALSE(part);
        CHECK(part.missing == "switched off by WGRUN_CUDA=off");
        CHECK(part.version.empty());
    }
    CHECK(report.devices.empty());
    CHECK(report.no_device == "there is no driver");
    CHECK(report.cache.folder == cache.folder() / "wgrun-cache-v1");
}

TEST_CASE("libraries and programs that are nowhere name the places") {
    const std::array<std::string_view, 2> names = {"libwgrunnothing.so.2", "libwgrunnothing.so.1"};
    const std::vector<std::string> folders = {"/nowhere/lib64", ""};
    const Library library = open_library(names, folders);
    CHECK(library.handle == nullptr);
    CHECK(library.part.missing ==
          "no libwgrunnothing.so.2 or libwgrunnothing.so.1 in /nowhere/lib64, the loader's path");
    void (*function)() = nullptr;
    CHECK_FALSE(library.bind(function, "anything"));

    const TemporaryFolder folder;
    std::ofstream(folder.path() / names[0]) << "not a library";
    const std::vector<std::string> broken = {folder.path().string()};
    CHECK_THAT(open_library(names, broken).part.missing, ContainsSubstring("libwgrunnothing.so.2: "));
    CHECK(find_program("wgrun-no-such-program").empty());
    std::ofstream(folder.path() / "wgrun-not-executable") << "x";
    const Environment path("PATH", folder.path().c_str());
    CHECK(find_program("wgrun-not-executable").empty());
}

TEST_CASE("CUDA_HOME comes before the loader, the usual place after it") {
    const Environment home("CUDA_HOME", "/opt/mine");
    const Environment path("CUDA_PATH", nullptr);
    const std::vector<std::string> folders = toolkit_library_folders();
    REQUIRE(folders.size() == 9);
    CHECK(folders[0] == "/opt/mine/lib64");
    CHECK(folders[4].empty());
    CHECK(toolkit_roots().front() == "/opt/mine");
}

TEST_CASE("doctor describes this machine") {
    const OwnCache cache;
    const MachineReport report = doctor();
    const auto whole = [](const Part& part) {
        return part ? !part.path.empty() && !part.version.empty() : true;
    };
    CHECK(whole(report.driver));
    CHECK(whole(report.nvrtc));
    CHECK(whole(report.ptxas));
    CHECK(whole(report.cublas));
    CHECK(report.no_device.empty() == !Device::unavailable());
    CHECK(report.cache.limit == Cache::default_limit);
    CHECK(report.cache.missing.empty());
    if (report.ptxas) CHECK(report.ptxas.version.find_first_not_of("0123456789.") == std::string::npos);
}
