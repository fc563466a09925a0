#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

using namespace wgrun;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

/// A folder of the test's own, gone when it ends.
class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "wgrun-npy-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    fs::path operator/(const char* name) const { return path_ / name; }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
    }

  private:
    fs::path path_;
};

/// While it lives, this process cannot write files of more than 4 KiB.
class SmallFiles {
  public:
    SmallFiles() {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit small{4096, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~SmallFiles() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;

  private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string contents(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
    std::string length;
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        length += static_cast<char>(dictionary.size() >> 8 * i & 0xFF);
    return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + length + dictionary + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

/// The message of the error that loading a file with these bytes raises, without the folder's name.
std::string refusal(const std::string& bytes, std::optional<Dtype> dtype = std::nullopt) {
    const Folder folder;
    write(folder / "a.npy", bytes);
    try {
        Tensor::load(folder / "a.npy", dtype);
    } catch (const ArgumentError& error) {
        const std::string prefix = (folder / "").string();
        const std::string message = error.what();
        CHECK(message.find('\n') == std::string::npos);
        return message.starts_with(prefix) ? message.substr(prefix.size())
                                           : "without the file's name: " + message;
    }
    return "no error";
}

bool have_python(const std::string& modules) {
    if (std::system(("python3 -c 'import " + modules + "' 2>/dev/null").c_str()) == 0) return true;
    std::cout << "skipped: python3 has no " << modules << "\n";
    return false;
}

/// Runs a Python script with `path` as its argument; prints what it prints if it fails.
bool python(const std::string& script, const fs::path& path) {
    const std::string file = path.string() + ".py";
    write(file, "import sys, numpy as np\npath = sys.argv[1]\n" + script);
    return std::system(("python3 '" + file + "' '" + path.string() + "'").c_str()) == 0;
}

}  // namespace

TEST_CASE("what is saved is loaded again") {
    const Folder folder;
    const fs::path path = folder / "a.npy";
    for (const Dtype dtype : all_dtypes()) {
        if (dtype == Dtype::b1) continue;
        for (const TensorShape& shape : {TensorShape{}, {5}, {0, 3}, {7, 3}, {1, 2, 3, 1, 2}}) {
            const Tensor saved = Tensor::randint(shape, dtype, 0, 8, 1);
            INFO(to_string(saved));
            saved.save(path);
            const bool says = dtype != Dtype::tf32 && !(is_float(dtype) && bits(dtype) == 8);
            const Tensor loaded = says ? Tensor::load(path) : Tensor::load(path, dtype);
            CHECK(to_string(loaded) == to_string(saved));
            CHECK(std::memcmp(loaded.data(), saved.data(), saved.size_bytes()) == 0);
            CHECK(Tensor::load(path, dtype).dtype() == dtype);
        }
    }
    CHECK(folder.files() == 1);
}

TEST_CASE("the bytes that are written") {
    const Folder folder;
    Tensor::from_values(Dtype::bf16, {2, 1}, std::vector<double>{1, -2}).save(folder / "a.npy");
    std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
    expected += "{'descr': '<V2', 'fortran_order': False, 'shape': (2, 1), }";
    expected.resize(127, ' ');
    expected += "\n\x80\x3F";
    expected += std::string("\x00\xC0", 2);
    CHECK(contents(folder / "a.npy") == expected);
    Tensor::zeros(Dtype::s8, {3}).save(folder / "b.npy");
    CHECK(contents(folder / "b.npy").substr(10, 59) ==
          "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }  ");
}

TEST_CASE("formats 1.0 to 3.0, other spellings") {
    const Folder folder;
    const auto load = [&](const std::string& bytes, std::optional<Dtype> dtype = std::nullopt) {
        write(folder / "a.npy", bytes);
        return Tensor::load(folder / "a.npy", dtype);
    };
    for (const int version : {1, 2, 3})
        CHECK(load(npy(header("<i4", "(1,)"), "\1\0\0\0"s, version)).get(0) == 1);
    CHECK(to_string(load(npy("{ \"shape\":(2,1L) ,'fortran_order':False,\n'descr':'|u1'}", "ab"))) ==
          "u8 {2, 1}");
    CHECK(to_string(load(npy(header("|b1", "(2,)"), "\0\1"s))) == "u8 {2}");
    CHECK(to_string(load(npy(header("=u1", "()"), "a"))) == "u8 {}");
    CHECK(to_string(load(npy(header(">i1", "(1)"), "a"))) == "s8 {1}");
    CHECK(load(npy(header("<f1", "(1,)"), "\x3C")).get(0) == 1);
    CHECK(load(npy(header("|V2", "(1,)"), "\x80\x3F")).get(0) == 1);
    CHECK(load(npy(header("<u2", "(1,)"), "\x80\x3F"), Dtype::bf16).get(0) == 1);
    CHECK(load(npy(header("<V2", "(1,)"), "\x00\x3C"s), Dtype::f16).get(0) == 1);
    CHECK(load(npy(header("|V1", "(1,)"), "\x38"), Dtype::e4m3).get(0) == 1);
    CHECK(load(npy(header("|u1", "(1,)"), "\x3C"), Dtype::e5m2).get(0) == 1);
    CHECK(load(npy(header("<f4", "(1,)"), "\0\0\x80\x3F"s), Dtype::tf32).get(0) == 1);
}

TEST_CASE("Fortran order becomes row-major") {
    const Folder folder;
    const std::vector<TensorShape> shapes{{},     {3},      {2, 3}, {65, 33}, {3, 4, 5}, {2, 1, 3, 4, 5},
                                          {0, 3}, {3, 0, 2}};
    for (const Dtype dtype : {Dtype::u8, Dtype::f16, Dtype::s32, Dtype::f64})
        for (const TensorShape& shape : shapes) {
            const Tensor want = Tensor::randint(shape, dtype, 0, 100, 2);
            INFO(to_string(want));
            // Element by element: the position in Fortran order of each index.
            Tensor stored = Tensor::zeros(dtype, {want.items()});
            std::string tuple;
            for (const std::int64_t extent : shape) tuple += std::to_string(extent) + ",";
            for (std::int64_t p = 0; p < want.items(); ++p) {
                const auto index = want.index(p);
                std::int64_t fortran = 0;
                for (std::size_t d = shape.size(); d-- > 0;) fortran = fortran * shape[d] + index[d];
                stored.set(fortran, want.get(p));
            }
            const std::string descr = dtype == Dtype::u8    ? "|u1"
                                      : dtype == Dtype::f16 ? "<f2"
                                      : dtype == Dtype::s32 ? "<i4"
                                                            : "<f8";
            const std::string data(reinterpret_cast<const char*>(stored.data()), stored.size_bytes());
            write(folder / "f.npy", npy(header(descr, "(" + tuple + ")", "True"), data));
            CHECK(compare(Tensor::load(folder / "f.npy"), want, Tolerance{}).ok);
        }
}

TEST_CASE("files that are not there, or no files") {
    const Folder folder;
    const auto code = [](auto action) -> std::string {
        try {
            action();
        } catch (const EnvironmentError& error) {
            return error.code() + " " + error.what();
        }
        return "no error";
    };
    const std::string missing = (folder / "missing.npy").string();
    CHECK(code([&] { Tensor::load(missing); }) == "ENOENT " + missing + ": No such file or directory");
    const std::string nowhere = (folder / "no/folder.npy").string();
    CHECK(code([&] { Tensor::zeros(Dtype::f32, {1}).save(nowhere); }) ==
          "ENOENT " + nowhere + ": No such file or directory");
    fs::create_directory(folder / "d");
    const std::string directory = (folder / "d").string();
    CHECK(code([&] { Tensor::load(directory); }) == "EIO " + directory + ": not a regular file");
    CHECK(code([&] { Tensor::zeros(Dtype::f32, {1}).save(directory); }) ==
          "EIO " + directory + ": not a regular file");
    CHECK(code([&] { Tensor::zeros(Dtype::f32, {1}).save("/dev/null"); }) ==
          "EIO /dev/null: not a regular file");
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(folder.files() == 1);
}

TEST_CASE("a save that fails leaves what was there, and nothing else") {
    const Folder folder;
    const fs::path path = folder / "a.npy";
    Tensor::zeros(Dtype::s8, {2}).save(path);
    const std::string before = contents(path);
    CHECK_THROWS_WITH(Tensor::zeros(Dtype::b1, {2}).save(path), path.string() + ": .npy has no b1 elements");
    {
        const SmallFiles limit;
        CHECK_THROWS_WITH(Tensor::zeros(Dtype::u8, {1 << 20}).save(path), path.string() + ": File too large");
    }
    CHECK(contents(path) == before);
    CHECK(folder.files() == 1);

    fs::create_symlink("a.npy", folder / "link.npy");
    Tensor::zeros(Dtype::s8, {3}).save(folder / "link.npy");
    CHECK(fs::is_symlink(folder / "link.npy"));
    CHECK(Tensor::load(path).items() == 3);
}

TEST_CASE("many threads may save to one path at once: one whole file results") {
    const Folder folder;
    const fs::path path = folder / "a.npy";
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) Tensor::randint({1000}, Dtype::s32, t, t, 1).save(path);
        });
    for (std::thread& thread : threads) thread.join();
    const Tensor t = Tensor::load(path);
    CHECK(t.items() == 1000);
    CHECK(t.get(0) == t.get(999));
    CHECK(folder.files() == 1);
}

TEST_CASE("damaged files say what is wrong with them") {
    const std::string four(4, 'x');
    CHECK(refusal("") == "a.npy: not a .npy file (it does not start with \\x93NUMPY)");
    CHECK(refusal("hello, world, this is text") ==
          "a.npy: not a .npy file (it does not start with \\x93NUMPY)");
    CHECK(refusal("PK\3\4 an .npz of many arrays") ==
          "a.npy: not a .npy file (it does not start with \\x93NUMPY)");
    CHECK(refusal(npy(header("<f4", "(1,)"), four, 4)) ==
          "a.npy: .npy format 4.0, but only 1.0, 2.0 and 3.0 exist");
    CHECK(refusal(npy(header("<f4", "(1,)"), four).substr(0, 30)) ==
          "a.npy: truncated: a header of 58 bytes expected, 20 found");
    CHECK(refusal("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF {"s) ==
          "a.npy: a header of 4294967295 bytes is too long for a plain array");
    CHECK(refusal("\x93NUMPY\x02\x00\x10\x00"s) == "a.npy: truncated in its header");
    CHECK(refusal(npy(header("<f4", "(3,)"), four)) ==
          "a.npy: truncated: f32 {3} takes 12 bytes, but 4 follow the header");
    CHECK(refusal(npy(header("<f4", "(3,)"), "")) ==
          "a.npy: truncated: f32 {3} takes 12 bytes, but 0 follow the header");
    CHECK(refusal(npy(header("<f4", "(1,)"), four + four)) ==
          "a.npy: f32 {1} takes 4 bytes, but 8 follow the header");
    CHECK(refusal(npy(header("<f4", "(4611686018427387904, 4)"), four)) ==
          "a.npy: f32 {4611686018427387904, 4}: a tensor can take at most 1 TiB");
    CHECK(refusal(npy(header("<f4", "(99999999999999999999,)"), four)) ==
          "a.npy: an extent of the shape does not fit 64 bits");
    CHECK(refusal(npy(header("<f4", "(-1,)"), four)) == "a.npy: f32 {-1}: extents must not be negative");
    CHECK(refusal(npy(header("<f4", "(1,1,1,1,1,1,1,1,1)"), four)) ==
          "a.npy: f32 {1, 1, 1, 1, 1, 1, 1, 1, 1}: 9 dimensions, but a tensor has at most 8");
    // Half a tebibyte of nothing: refused before any memory is asked for.
    CHECK(refusal(npy(header("|u1", "(549755813888,)"), "")) ==
          "a.npy: truncated: u8 {549755813888} takes 549755813888 bytes, but 0 follow the header");
}

TEST_CASE("damaged headers say where") {
    CHECK(refusal(npy("{'descr': '<f4', 'shape': (1,)}", "")) ==
          "a.npy: damaged header: key `fortran_order` is missing");
    CHECK(refusal(npy("{}", "")) == "a.npy: damaged header: key `descr` is missing");
    CHECK(refusal(npy("{'descr': '<f4', 'descr': '<f4'}", "")) ==
          "a.npy: damaged header: key `descr` is unknown or repeated");
    CHECK(refusal(npy("{'colour': 'red'}", "")) ==
          "a.npy: damaged header: key `colour` is unknown or repeated");
    CHECK(refusal(npy("", "")) == "a.npy: damaged header at byte 0 of its text");
    CHECK(refusal(npy("{'descr'", "")) == "a.npy: damaged header at byte 8 of its text");
    CHECK(refusal(npy("{'descr: '<f4'}", "")) == "a.npy: damaged header at byte 10 of its text");
    CHECK(refusal(npy(header("<f4", "(1.5,)"), "")) == "a.npy: damaged header at byte 52 of its text");
    CHECK(refusal(npy(header("<f4", "(1"), "")) == "a.npy: damaged header at byte 54 of its text");
    CHECK(refusal(npy(header("<f4", "(1,)", "Maybe"), "")) == "a.npy: damaged header at byte 34 of its text");
    CHECK(refusal(npy(header("<f4", "(1,)") + "more", "")) == "a.npy: damaged header at byte 58 of its text");
}

TEST_CASE("element types that cannot be had say so, and what to do") {
    CHECK(refusal(npy(header("<c8", "(1,)"), "")) == "a.npy: elements of numpy type '<c8' are not supported");
    CHECK(refusal(npy(header("|O", "(1,)"), "")) == "a.npy: elements of numpy type '|O' are not supported");
    CHECK(refusal(npy(header("f4", "(1,)"), "")) == "a.npy: elements of numpy type 'f4' are not supported");
    CHECK(refusal(npy(header("", "(1,)"), "")) == "a.npy: elements of numpy type '' are not supported");
    CHECK(refusal(npy(header(">f4", "(1,)"), "")) == "a.npy: elements of numpy type '>f4' are big-endian");
    CHECK(refusal(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")) ==
          "a.npy: holds records, not plain elements");
    CHECK(refusal(npy(header("<V1", "(1,)"), "")) == "a.npy: '<V1' does not determine the element type");
    CHECK(refusal(npy(header("<u2", "(1,)"), "")) == "a.npy: '<u2' does not determine the element type");
    CHECK(refusal(npy(header("<f4", "(1,)"), ""), Dtype::bf16) ==
          "a.npy: elements of '<f4' have 32 bits, those of bf16 have 16");
    CHECK(refusal(npy(header("<f2", "(1,)"), ""), Dtype::bf16) == "a.npy: holds f16 ('<f2'), not bf16");
    CHECK(refusal(npy(header("|u1", "(1,)"), ""), Dtype::b1) ==
          "a.npy: elements of '|u1' have 8 bits, those of b1 have 1");

    const Folder folder;
    write(folder / "v1.npy", npy(header("<V1", "(1,)"), "x"));
    try {
        Tensor::load(folder / "v1.npy");
        FAIL("no error");
    } catch (const ArgumentError& error) {
        CHECK(error.finding().fix.starts_with("load with a dtype: e4m3 or e5m2"));
    }
}

TEST_CASE("any damage is an error or a tensor, never a crash") {
    const Folder folder;
    const fs::path path = folder / "a.npy";
    const std::string whole = npy(header("<f4", "(2, 3)"), std::string(24, 'x'));
    std::size_t refused = 0;
    for (std::size_t at = 0; at < 90 && at < whole.size(); ++at)
        for (const int c : {0, 1, 9, 39, 40, 41, 44, 45, 48, 57, 123, 125, 255}) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(c);
            write(path, damaged);
            try {
                Tensor::load(path);
            } catch (const ArgumentError&) {
                ++refused;
            }
        }
    CHECK(refused > 700);
}

TEST_CASE("numpy reads what is saved") {
    if (!have_python("numpy")) return;
    const Folder folder;
    const fs::path path = folder / "a.npy";
    const std::vector<std::pair<Dtype, std::string>> natives{
        {Dtype::f64, "float64"}, {Dtype::f32, "float32"}, {Dtype::tf32, "float32"}, {Dtype::f16, "float16"},
        {Dtype::s8, "int8"},     {Dtype::u8, "uint8"},    {Dtype::s32, "int32"},    {Dtype::u32, "uint32"},
        {Dtype::s64, "int64"},   {Dtype::u64, "uint64"}};
    for (const auto& [dtype, name] : natives) {
        INFO(name);
        Tensor::from_values(dtype, {2, 3}, std::vector<double>{0, 1, 2, 3, 4, 100}).save(path);
        CHECK(
            python("a = np.load(path)\n"
                   "assert a.dtype == np.dtype('" +
                       name +
                       "') and a.shape == (2, 3), a.dtype\n"
                       "assert (a == [[0, 1, 2], [3, 4, 100]]).all(), a\n",
                   path));
    }
    Tensor::zeros(Dtype::f32, {}).save(path);
    CHECK(python("assert np.load(path).shape == ()", path));
    Tensor::zeros(Dtype::f32, {0, 4}).save(path);
    CHECK(python("assert np.load(path).shape == (0, 4)", path));
}

TEST_CASE("what numpy writes is loaded") {
    if (!have_python("numpy")) return;
    const Folder folder;
    const fs::path path = folder / "a.npy";
    for (const char* name : {"f8", "f4", "f2", "i1", "u1", "i4", "u4", "i8", "u8"})
        for (const char* order : {"C", "F"}) {
            INFO(name << order);
            REQUIRE(python("np.save(path, np.array(np.arange(120).reshape(4, 5, 6), dtype='" +
                               std::string(name) + "', order='" + order + "'))",
                           path));
            const Tensor t = Tensor::load(path);
            CHECK(t.shape() == TensorShape{4, 5, 6});
            for (std::int64_t i = 0; i < 120; ++i) CHECK(t.get(i) == i);
        }
    REQUIRE(python("np.lib.format.write_array(open(path, 'wb'), np.arange(3), version=(3, 0))", path));
    CHECK(Tensor::load(path).get(2) == 2);
    REQUIRE(python("np.save(path, np.arange(3, dtype='>f4'))", path));
    CHECK_THROWS_WITH(Tensor::load(path), ContainsSubstring("big-endian"));
}

TEST_CASE("bf16 and fp8 are exchanged with ml_dtypes") {
    if (!have_python("numpy, ml_dtypes")) return;
    const Folder folder;
    const fs::path path = folder / "a.npy";
    const std::vector<double> values{0, 1, -2, 0.5, 1.5, 16};
    const std::vector<std::pair<Dtype, std::string>> types{
        {Dtype::bf16, "bfloat16"}, {Dtype::e4m3, "float8_e4m3fn"}, {Dtype::e5m2, "float8_e5m2"}};
    for (const auto& [dtype, name] : types) {
        INFO(name);
        const std::string array = "np.array([0, 1, -2, 0.5, 1.5, 16], dtype=ml_dtypes." + name + ")\n";
        const Tensor want = Tensor::from_values(dtype, {6}, values);
        want.save(path);
        CHECK(python("import ml_dtypes\nassert (np.load(path).view(ml_dtypes." + name +
                         ") == " + array.substr(0, array.size() - 1) + ").all()\n",
                     path));
        REQUIRE(python("import ml_dtypes\nnp.save(path, " + array.substr(0, array.size() - 1) + ")\n", path));
        CHECK(compare(Tensor::load(path, dtype), want, Tolerance{}).ok);
        if (dtype != Dtype::e4m3) CHECK(Tensor::load(path).dtype() == dtype);
    }
}

TEST_CASE("a mapped file is read as it is touched, and never written") {
    const Folder folder;
    const fs::path path = folder / "a.npy";
    Tensor::randn({300, 40}, Dtype::bf16, 1).save(path);
    const std::string before = contents(path);
    {
        Tensor mapped = Tensor::load(path, std::nullopt, Loading::map);
        const Tensor read = Tensor::load(path);
        CHECK(compare(mapped, read).ok);
        mapped.set(0, 5);
        mapped.set(mapped.items() - 1, 6);
        CHECK(mapped.get(0) == 5);
        CHECK(contents(path) == before);
        CHECK(compare(Tensor::load(path, std::nullopt, Loading::map), read).ok);
        // A file that is replaced is another one: the mapped one stays.
        Tensor::zeros(Dtype::bf16, {2}).save(path);
        fs::remove(path);
        CHECK(mapped.get(1) == read.get(1));
    }
    Tensor::zeros(Dtype::f32, {0, 4}).save(path);
    CHECK(Tensor::load(path, std::nullopt, Loading::map).shape() == TensorShape{0, 4});
    std::ofstream(path, std::ios::binary) << before.substr(0, before.size() - 1);
    CHECK_THROWS_WITH(Tensor::load(path, std::nullopt, Loading::map), ContainsSubstring("truncated"));
}

TEST_CASE("Fortran order and odd offsets are read where a map is asked for") {
    const Folder folder;
    const fs::path path = folder / "a.npy";
    const auto write = [&](const std::string& dictionary, const std::string& body) {
        std::ofstream(path, std::ios::binary)
            << "\x93NUMPY\x01" << '\0' << static_cast<char>(dictionary.size()) << '\0' << dictionary << body;
    };
    write("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 2), }", "\1\0\2\0\3\0\4\0"s);
    CHECK(Tensor::load(path, Dtype::f16, Loading::map).size_bytes() == 8);
    write("{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", "\1\0\0\0\2\0\0\0"s);
    Tensor odd = Tensor::load(path, std::nullopt, Loading::map);
    CHECK(odd.get(0) == 1);
    CHECK(odd.get(1) == 2);
}
