// .safetensors files: what is read, and what is refused with the name of file and tensor.
#include "wgrun/safetensors.hpp"

#include <fstream>

#include "tests/catch.hpp"
#include "tests/unit/file/folder.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

fs::path write(const fs::path& path, const std::string& header, const std::string& data,
               std::optional<std::uint64_t> length = std::nullopt) {
    std::ofstream file(path, std::ios::binary);
    std::uint64_t bytes = length.value_or(header.size());
    for (int i = 0; i < 8; ++i, bytes >>= 8) file.put(static_cast<char>(bytes & 0xFF));
    file << header << data;
    return path;
}

std::string tensor(const std::string& type, const std::string& shape, int begin, int end) {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":[)" + std::to_string(begin) +
           "," + std::to_string(end) + "]}";
}

}  // namespace

TEST_CASE("tensors and metadata of a file") {
    const file::test::Folder folder;
    for (const Loading loading : {Loading::map, Loading::read}) {
        std::string header = R"({"__metadata__":{"format":"pt","empty":""},"b":)" +
                             tensor("F32", "[2]", 8, 16) + R"(,"a":)" + tensor("U8", "[2,4]", 0, 8) +
                             R"(,"scalar":)" + tensor("BF16", "[]", 16, 18) + R"(,"none":)" +
                             tensor("F64", "[3,0]", 8, 8) + "}";
        header.resize((header.size() + 7) / 8 * 8, ' ');
        const fs::path path =
            write(folder / "a.safetensors", header, "\1\2\3\4\5\6\7\x08\0\0\x80\x3f\0\0\0\x40\xc0\x3f"s);
        Safetensors file = load_safetensors(path, loading);
        REQUIRE(file.tensors.size() == 4);
        CHECK(file.metadata == decltype(file.metadata){{"format", "pt"}, {"empty", ""}});
        CHECK(file.tensors[0].first == "a");
        CHECK(file.tensors[0].second.get(std::vector<std::int64_t>{1, 3}) == 8);
        CHECK(file.tensors[1].first == "none");
        CHECK(file.tensors[1].second.shape() == TensorShape{3, 0});
        Tensor& b = file.tensors[2].second;
        CHECK(b.get(1) == 2);
        CHECK(to_string(file.tensors[3].second) == "bf16 {}");
        CHECK(file.tensors[3].second.get(0) == 1.5);
        b.set(0, 5);  // the file keeps what it has
        CHECK(load_safetensors(path, loading).tensors[2].second.get(0) == 1);
        fs::remove(path);
        CHECK(b.get(0) == 5);
    }
}

TEST_CASE("every type of the format") {
    struct Case {
        const char* type;
        int bytes;  // of four elements
        const char* read;
    };
    const file::test::Folder folder;
    for (const Case& c : std::initializer_list<Case>{
             {"F64", 32, "f64 {4}"},   {"F32", 16, "f32 {4}"},     {"F16", 8, "f16 {4}"},
             {"BF16", 8, "bf16 {4}"},  {"I64", 32, "s64 {4}"},     {"U64", 32, "u64 {4}"},
             {"I32", 16, "s32 {4}"},   {"U32", 16, "u32 {4}"},     {"I16", 8, "u8 {4, 2}"},
             {"U16", 8, "u8 {4, 2}"},  {"I8", 4, "s8 {4}"},        {"U8", 4, "u8 {4}"},
             {"BOOL", 4, "u8 {4}"},    {"F8_E4M3", 4, "e4m3 {4}"}, {"F8_E5M2", 4, "e5m2 {4}"},
             {"F8_E8M0", 4, "u8 {4}"}, {"C64", 32, "f32 {4, 2}"},  {"F4", 2, "u8 {2}"},
             {"F6_E2M3", 3, "u8 {3}"}, {"F6_E3M2", 3, "u8 {3}"}}) {
        const fs::path path =
            write(folder / "a.safetensors", R"({"t":)" + tensor(c.type, "[4]", 0, c.bytes) + "}",
                  std::string(static_cast<std::size_t>(c.bytes), '\0'));
        INFO(c.type);
        CHECK(to_string(load_safetensors(path).tensors.at(0).second) == c.read);
    }
}

TEST_CASE("damaged files are refused by name") {
    const file::test::Folder folder;
    const fs::path path = folder / "bad.safetensors";
    const auto refused = [&](const std::string& header, const std::string& data, const std::string& why,
                             std::optional<std::uint64_t> length = std::nullopt) {
        INFO(header);
        write(path, header, data, length);
        CHECK_THROWS_WITH(load_safetensors(path), path.string() + ": " + why);
    };
    const auto one = [](const std::string& what) { return R"({"w":)" + what + "}"; };
    refused("{}", "", "truncated: a header of 3 bytes expected, 2 found", 3);
    refused(
        "{}", "",
        "not a .safetensors file, or damaged: a header of 100000001 bytes, at most 100000000 are possible",
        100000001);
    refused("[]", "", "not a .safetensors file (its header does not start with {)");
    refused("", "", "not a .safetensors file (its header does not start with {)");
    refused("{\"w\"", "", "the header is not JSON from byte 5 on");
    refused("{} {}", "", "the header is not JSON from byte 4 on");
    refused("{\"\xff\":1}", "", "the header is not JSON from byte 3 on");
    refused("{}", "x", "1 byte of no tensor after the last one");
    refused(one("[]"), "", "tensor `w`: its description is a list, not an object");
    refused(one("{}"), "", "tensor `w`: `dtype` is missing");
    refused(one(R"({"dtype":"F32","shape":[1]})"), "", "tensor `w`: `data_offsets` is missing");
    refused(one(R"({"dtype":"F32","dtype":"F32"})"), "", "tensor `w`: `dtype` occurs twice");
    refused(one(R"({"dtype":"F32","strides":[1]})"), "", "tensor `w`: unknown key `strides`");
    refused(one(R"({"dtype":1})"), "", "tensor `w`: dtype cannot be a number");
    refused(one(R"({"shape":[-1]})"), "", "tensor `w`: a shape or an extent cannot be the number -1");
    refused(one(R"({"shape":[1.5]})"), "", "tensor `w`: a shape or an extent cannot be the number 1.5");
    refused(one(R"({"shape":[[1]]})"), "", "tensor `w`: a shape or an extent cannot be a list");
    refused(one(R"({"shape":[18446744073709551615]})"), "",
            "tensor `w`: the extent 18446744073709551615 does not fit 63 bits");
    refused(one(R"({"data_offsets":[0]})"), "", "tensor `w`: data_offsets has 1 numbers, not 2");
    refused(one(R"({"data_offsets":[0,1,2]})"), "", "tensor `w`: data_offsets has more than 2 numbers");
    refused(one(R"({"data_offsets":null})"), "", "tensor `w`: an offset cannot be null");
    refused(R"({"__metadata__":{"a":1}})", "", "metadata must be strings by name, not a number");
    refused(R"({"__metadata__":{"a":"1","a":"2"}})", "", "metadata `a` occurs twice");
    refused(one(tensor("F31", "[1]", 0, 4)), "1234", "tensor `w`: unknown element type F31");
    refused(one(tensor("F32", "[2]", 0, 4)), "1234",
            "tensor `w`: f32 {2} takes 8 bytes, but offsets 0 to 4 hold 4");
    refused(one(tensor("F32", "[2]", 0, 8)), "1234",
            "tensor `w`: bytes 0 to 8 are outside the 4 bytes after the header");
    refused(one(tensor("F32", "[1]", 4, 0)), "1234",
            "tensor `w`: bytes 4 to 0 are outside the 4 bytes after the header");
    refused(one(tensor("F4", "[3]", 0, 1)), "1",
            "tensor `w`: 3 elements of 4 bits are not a whole number of bytes");
    refused(one(tensor("U8", "[1,1,1,1,1,1,1,1,1]", 0, 1)), "1",
            "tensor `w`: u8 {1, 1, 1, 1, 1, 1, 1, 1, 1}: 9 dimensions, but a tensor has at most 8");
    refused(one(tensor("U8", "[1,1,1,1,1,1,1,1,1,1]", 0, 1)), "1", "tensor `w`: more than 8 dimensions");
    refused(one(tensor("F32", "[4611686018427387904,4]", 0, 0)), "",
            "tensor `w`: f32 {4611686018427387904, 4}: a tensor can take at most 1 TiB");
    const std::string a = R"({"a":)" + tensor("U8", "[4]", 0, 4);
    refused(a + R"(,"a":)" + tensor("U8", "[4]", 4, 8) + "}", "12345678", "tensor `a` occurs twice");
    refused(a + R"(,"b":)" + tensor("U8", "[4]", 3, 7) + "}", "1234567",
            "tensor `b`: begins at byte 3, but the next byte is 4: an overlap");
    refused(a + R"(,"b":)" + tensor("U8", "[3]", 5, 8) + "}", "12345678",
            "tensor `b`: begins at byte 5, but the next byte is 4: a hole");
    std::ofstream(path, std::ios::binary | std::ios::trunc) << "1234567";
    CHECK_THROWS_WITH(load_safetensors(path), path.string() + ": not a .safetensors file (it has no header)");
    CHECK_THROWS_AS(load_safetensors(folder / "absent.safetensors"), EnvironmentError);
    CHECK_THROWS_AS(load_safetensors(folder / "x\0.safetensors"s), ArgumentError);
    // Nesting takes no stack.
    CHECK_THROWS_AS(load_safetensors(write(path, "{\"w\":" + std::string(1000000, '['), "")), ArgumentError);
}

TEST_CASE("tensors that do not lie aligned are read") {
    const file::test::Folder folder;
    const std::string header =
        R"({"a":)" + tensor("U8", "[1]", 0, 1) + R"(,"b":)" + tensor("F32", "[1]", 1, 5) + "}";
    const Safetensors file = load_safetensors(write(folder / "odd.safetensors", header, "\7\0\0\x80\x3f"s));
    CHECK(file.tensors[0].second.get(0) == 7);
    CHECK(file.tensors[1].second.get(0) == 1);
}
