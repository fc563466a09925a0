// The fuzzed bodies on seeded random inputs.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "source_folder.hpp"
#include "tests/catch.hpp"
#include "tests/fuzz/bodies.hpp"

using namespace wgrun;

namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

/// The files of tests/fuzz/seeds/NAME.
std::vector<std::vector<std::uint8_t>> seeds(const std::string& name) {
    std::set<std::filesystem::path> paths;  // in order
    for (const auto& entry :
         std::filesystem::directory_iterator(WGRUN_SOURCE_DIR "/tests/fuzz/seeds/" + name))
        paths.insert(entry.path());
    std::vector<std::vector<std::uint8_t>> out;
    for (const std::filesystem::path& path : paths) {
        std::ifstream file(path, std::ios::binary);
        out.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return out;
}

/// A file with bytes changed, taken out, put in or doubled; `letters` are likely ones.
void mutate(std::vector<std::uint8_t>& file, std::string_view letters, std::mt19937_64& random) {
    for (auto edits = random() % 4; edits > 0 && !file.empty(); --edits) {
        const std::size_t at = random() % file.size();
        const auto place = file.begin() + static_cast<std::ptrdiff_t>(at);
        const auto letter =
            static_cast<std::uint8_t>(random() % 4 == 0 ? random() : letters[random() % letters.size()]);
        switch (random() % 5) {
            case 0: file.erase(place); break;
            case 1: file.insert(place, letter); break;
            case 2: file.resize(at); break;
            default: *place = letter;
        }
    }
}

}  // namespace

TEST_CASE("the notation of layouts, mutated") {
    const std::string_view seeds[]{"((8,2),(4,4)):((4,32),(1,64))",
                                   "Swizzle<3,4,3> o smem_ptr[16b](unset) o ((8,2),(_64,1)):((64,512),(1,0))",
                                   "Sw<2,0,-3> o 8 o (8,8):(8,1)", "(4,(2,3),()):(-1,(0,7),())", "8"};
    const std::string_view letters = "()<>,:o_-0123456789 Swizle[b]m\t\n\xff";
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 20000; ++i) {
        std::vector<std::uint8_t> text = bytes_of(seeds[random() % std::size(seeds)]);
        for (auto edits = random() % 4; edits > 0; --edits) {
            const auto at = static_cast<std::ptrdiff_t>(random() % (text.size() + 1));
            const auto letter = static_cast<std::uint8_t>(letters[random() % letters.size()]);
            if (random() % 2 == 0 || at == static_cast<std::ptrdiff_t>(text.size()))
                text.insert(text.begin() + at, letter);
            else if (random() % 2 == 0)
                text.erase(text.begin() + at);
            else
                text[static_cast<std::size_t>(at)] = letter;
        }
        INFO(std::string(text.begin(), text.end()));
        REQUIRE_NOTHROW(fuzz::layout_parser(text));
    }
}

namespace {

void run_script(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(64 + random() % 1500);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    INFO("seed " << seed);
    REQUIRE_NOTHROW(fuzz::script(bytes));
    REQUIRE_NOTHROW(fuzz::restricted_script(bytes));
}

}  // namespace

TEST_CASE("scripts from a grammar of calls") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) run_script(seed);
}

// test_fuzz "[.scripts]" with SEEDS="FIRST LAST": as many as one likes.
TEST_CASE("more scripts", "[.scripts]") {
    const char* seeds = std::getenv("SEEDS");
    REQUIRE(seeds != nullptr);
    char* rest = nullptr;
    const std::uint64_t first = std::strtoull(seeds, &rest, 10), last = std::strtoull(rest, nullptr, 10);
    for (std::uint64_t seed = first; seed <= last; ++seed) run_script(seed);
}

TEST_CASE("text of others in what wgrun writes") {
    const std::string_view seeds[]{"@k\n#endif\n}\nstatic int pwn_ = system(\"id\");\\",
                                   "/* ?\?/ */ ]==] ]] <b> </script>", "%d\r\n\t"};
    const std::string_view letters("\"'\\/*?=[]<>&%\n\r\t\0\x01\x7f 0nu", 25);
    std::mt19937_64 random(20261129);
    for (int i = 0; i < 20000; ++i) {
        std::vector<std::uint8_t> text = bytes_of(seeds[random() % std::size(seeds)]);
        for (int edits = 0; edits < 8; ++edits) mutate(text, letters, random);
        INFO(std::string(text.begin(), text.end()));
        REQUIRE_NOTHROW(fuzz::escapes(text));
    }
}

TEST_CASE("descriptors, logs and entries of the cache, of any bytes") {
    const std::string_view log =
        "ptxas info    : Compiling entry function 'k' for 'sm_90a'\nptxas info    : Function properties for "
        "k\n"
        "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
        "ptxas info    : Used 30 registers, used 1 barriers, 8192 bytes smem\n"
        "ptxas info    : (C7519) warpgroup.arrive is injected in around line 12 by compiler in function 'k'\n"
        "ptxas a.ptx, line 12; error   : no such thing\nkernel.cu(8): error: expected a `;`\n";
    std::mt19937_64 random(20261122);
    for (int i = 0; i < 20000; ++i) {
        std::vector<std::uint8_t> bytes(random() % 64);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        REQUIRE_NOTHROW(fuzz::descriptor(bytes));
        if (i % 10 == 0) REQUIRE_NOTHROW(fuzz::cache_entry(bytes));
        std::vector<std::uint8_t> text = bytes_of(log);
        for (auto edits = random() % 8; edits > 0; --edits)
            text[random() % text.size()] =
                random() % 2 == 0 ? text[random() % text.size()] : static_cast<std::uint8_t>(random());
        REQUIRE_NOTHROW(fuzz::assembler_log(text));
    }
}

TEST_CASE("the laws of the layout algebra, at all sizes") {
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 20000; ++i) {
        std::vector<std::uint8_t> bytes(64);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        REQUIRE_NOTHROW(fuzz::layout_algebra(bytes));
    }
}

TEST_CASE(".npy files, mutated") {
    const auto files = seeds("npy");
    REQUIRE(files.size() >= 3);
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 5000; ++i) {
        std::vector<std::uint8_t> file = files[random() % files.size()];
        if (i >= static_cast<int>(files.size())) mutate(file, "{}(),':<>|fuViLTF0123456789-\n", random);
        REQUIRE_NOTHROW(fuzz::npy(file));
    }
}

TEST_CASE(".safetensors files, mutated") {
    const auto files = seeds("safetensors");
    REQUIRE(files.size() >= 3);
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 5000; ++i) {
        std::vector<std::uint8_t> file = files[random() % files.size()];
        if (i >= static_cast<int>(files.size())) mutate(file, "{}[],:\"\\0123456789-.eEtfnu \n", random);
        REQUIRE_NOTHROW(fuzz::safetensors(file));
    }
}

TEST_CASE("DLPack structures with random fields") {
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 50000; ++i) {
        std::vector<std::uint8_t> bytes(96);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        REQUIRE_NOTHROW(fuzz::dlpack_structures(bytes));
    }
}

TEST_CASE("arithmetic on tensors of any bytes") {
    std::mt19937_64 random(20261122);
    for (int i = 0; i < 5000; ++i) {
        std::vector<std::uint8_t> bytes(random() % 512);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        REQUIRE_NOTHROW(fuzz::tensor_ops(bytes));
    }
}

TEST_CASE("Lua's syntax, mutated") {
    std::vector<std::vector<std::uint8_t>> files;
    for (const char* folder : {"/scripts", "/scripts/guide", "/stdlib", "/tests/lua"})
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(WGRUN_SOURCE_DIR) + folder)) {
            if (entry.path().extension() != ".lua") continue;
            std::ifstream file(entry.path(), std::ios::binary);
            files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        }
    REQUIRE(files.size() > 50);
    std::mt19937_64 random(20261122);
    for (std::size_t i = 0; i < 4000; ++i) {
        // Whole files first, then a part of one, which is read faster.
        std::vector<std::uint8_t> text = files[i % files.size()];
        if (i >= files.size()) {
            const std::size_t first = random() % (text.size() + 1);
            const std::size_t count = std::min(text.size() - first, std::size_t(random() % 2000));
            text = {text.begin() + static_cast<std::ptrdiff_t>(first),
                    text.begin() + static_cast<std::ptrdiff_t>(first + count)};
            mutate(text, "()[]{}=~<>.,:;#'\"-+*/%^&|\\\n endifxnotor", random);
        }
        REQUIRE_NOTHROW(fuzz::syntax(text));
    }
}

TEST_CASE("PTX, mutated") {
    std::vector<std::vector<std::uint8_t>> files;
    for (const char* folder : {"/tests/ptx", "/tests/golden"})
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(WGRUN_SOURCE_DIR) + folder)) {
            constexpr std::uintmax_t most = 20000;  // bytes; larger ones take their time
            if (entry.path().extension() != ".ptx" || entry.file_size() > most) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        }
    REQUIRE(files.size() > 5);
    std::mt19937_64 random(20261122);
    for (std::size_t i = 0; i < 200; ++i) {
        std::vector<std::uint8_t> text = files[i % files.size()];
        if (i >= files.size()) mutate(text, "{}[]()<>;:,.@!|%+-_0x9 \nbraU", random);
        REQUIRE_NOTHROW(fuzz::ptx(text));
    }
}

TEST_CASE("texts of nvdisasm, mutated") {
    std::ifstream file(WGRUN_SOURCE_DIR "/tests/sass/hello_wgmma.sass");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    REQUIRE(lines.size() > 100);
    const std::string_view letters = "RUPZT0123456789xabcdef[](){},.+-~!@;:/* `\n\"\xff";
    std::mt19937_64 random(20261130);
    for (int i = 0; i < 1500; ++i) {
        // A part of it, in which lines and letters are changed.
        std::string text = ".text.k:\n.L_x_0:\n//## File \".nv_debug_ptx_txt\", line 13\n";
        const std::size_t from = random() % lines.size();
        for (std::size_t line = from; line < std::min(from + random() % 60, lines.size()); ++line)
            text += lines[random() % 8 == 0 ? random() % lines.size() : line] + "\n";
        std::vector<std::uint8_t> bytes = bytes_of(text);
        for (int more = 0; more < 8; ++more) mutate(bytes, letters, random);
        INFO(i << ": " << std::string(bytes.begin(), bytes.end()));
        REQUIRE_NOTHROW(fuzz::sass(bytes));
    }
}
