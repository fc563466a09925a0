// The JSON goes through nlohmann's SAX reader: no tree is built of a header that may be 100 MB of anything,
// and keys that are there twice are seen, of which a tree keeps the last.
#include "tensor/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "number/element.hpp"
#include "number/number.hpp"
#include "tensor/shape.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

struct FileType {
    std::string_view name;
    int bits;        // of an element in the file
    Dtype dtype;     // of what is read
    int pieces = 1;  // of `dtype` in an element, as a last dimension; 0: the packed bytes
};

// Besides the element types themselves.
constexpr std::array other_types{
    FileType{"BOOL", 8, Dtype::u8},       FileType{"F8_E8M0", 8, Dtype::u8},
    FileType{"I16", 16, Dtype::u8, 2},    FileType{"U16", 16, Dtype::u8, 2},
    FileType{"C64", 64, Dtype::f32, 2},   FileType{"F4", 4, Dtype::u8, 0},
    FileType{"F6_E2M3", 6, Dtype::u8, 0}, FileType{"F6_E3M2", 6, Dtype::u8, 0},
};

FileType kind_called(std::string_view name) {
    for (const Element& it : elements())
        if (!name.empty() && it.safetensors == name) return {name, it.bits, it.dtype};
    const auto* const other = std::ranges::find(other_types, name, &FileType::name);
    if (other == other_types.end()) throw ArgumentError(fmt::format("unknown element type {}", name));
    return *other;
}

using Json = nlohmann::json;

/// Receives the events of the parser and throws at the first unexpected one.
class HeaderReader final : public nlohmann::json_sax<Json> {
  public:
    explicit HeaderReader(const std::string& file) : file_(file) {}

    struct Told {
        std::string name, type;
        TensorShape shape;
        std::vector<std::uint64_t> offsets;
    };
    std::vector<Told> told;
    std::vector<std::pair<std::string, std::string>> metadata;

    bool start_object(std::size_t) override {
        switch (at_) {
            case At::start: at_ = At::names; return true;
            case At::metadata: at_ = At::words; return true;
            case At::tensor:
                at_ = At::keys;
                told.emplace_back().name = name_;
                keys_.clear();
                return true;
            default: throw misplaced("an object");
        }
    }
    bool end_object() override {
        if (at_ == At::keys) {
            for (const char* key : {"dtype", "shape", "data_offsets"})
                if (!keys_.contains(key)) throw of_tensor(fmt::format("`{}` is missing", key));
        }
        at_ = At::names;  // of the outermost object too: what follows it is the parser's business
        return true;
    }
    bool key(std::string& key) override {
        switch (at_) {
            case At::names:
                if (!names_.insert(key).second) throw failure(fmt::format("tensor `{}` occurs twice", key));
                name_ = key;
                at_ = key == "__metadata__" ? At::metadata : At::tensor;
                return true;
            case At::words:
                if (!words_.insert(key).second) throw failure(fmt::format("metadata `{}` occurs twice", key));
                metadata.emplace_back(key, "");
                at_ = At::word;
                return true;
            default:  // At::keys
                if (!keys_.insert(key).second) throw of_tensor(fmt::format("`{}` occurs twice", key));
                at_ = key == "dtype"          ? At::type
                      : key == "shape"        ? At::shape
                      : key == "data_offsets" ? At::offsets
                                              : throw of_tensor(fmt::format("unknown key `{}`", key));
                return true;
        }
    }
    bool string(std::string& text) override {
        if (at_ == At::word) {
            metadata.back().second = std::move(text);
            at_ = At::words;
        } else if (at_ == At::type) {
            told.back().type = std::move(text);
            at_ = At::keys;
        } else {
            throw misplaced("a string");
        }
        return true;
    }
    bool start_array(std::size_t) override {
        if (at_ == At::shape) return at_ = At::extents, true;
        if (at_ == At::offsets) return at_ = At::ends, true;
        throw misplaced("a list");
    }
    bool end_array() override {
        if (at_ == At::ends && told.back().offsets.size() != 2)
            throw of_tensor(fmt::format("data_offsets has {} numbers, not 2", told.back().offsets.size()));
        at_ = At::keys;
        return true;
    }
    bool number_unsigned(std::uint64_t value) override {
        if (at_ == At::extents) {
            if (value > INT64_MAX) throw of_tensor(fmt::format("the extent {} does not fit 63 bits", value));
            if (told.back().shape.size() > Tensor::max_rank)
                throw of_tensor(fmt::format("more than {}", count_of(Tensor::max_rank, "dimension")));
            told.back().shape.push_back(static_cast<std::int64_t>(value));
        } else if (at_ == At::ends) {
            if (told.back().offsets.size() == 2) throw of_tensor("data_offsets has more than 2 numbers");
            told.back().offsets.push_back(value);
        } else {
            throw misplaced("a number");
        }
        return true;
    }
    bool number_integer(std::int64_t value) override { throw misplaced(fmt::format("the number {}", value)); }
    bool number_float(double, const std::string& text) override { throw misplaced("the number " + text); }
    bool boolean(bool) override { throw misplaced("a bool"); }
    bool null() override { throw misplaced("null"); }
    bool binary(Json::binary_t&) override { throw misplaced("binary data"); }
    bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
        throw failure(fmt::format("the header is not JSON from byte {} on", position));
    }

    ArgumentError failure(std::string_view what) const {
        return ArgumentError(fmt::format("{}: {}", file_, what));
    }

  private:
    enum class At { start, names, metadata, words, word, tensor, keys, type, shape, extents, offsets, ends };

    ArgumentError of_tensor(std::string_view what) const {
        return failure(fmt::format("tensor `{}`: {}", name_, what));
    }
    ArgumentError misplaced(std::string_view what) const {
        const auto of = [&](std::string_view part) {
            return of_tensor(fmt::format("{} cannot be {}", part, what));
        };
        switch (at_) {
            case At::start: return failure(fmt::format("the header is {}, not an object of tensors", what));
            case At::metadata:
            case At::word: return failure(fmt::format("metadata must be strings by name, not {}", what));
            case At::tensor: return of_tensor(fmt::format("its description is {}, not an object", what));
            case At::type: return of("dtype");
            case At::shape:
            case At::extents: return of("a shape or an extent");
            default: return of("an offset");
        }
    }

    const std::string& file_;
    At at_ = At::start;
    std::string name_;
    std::set<std::string, std::less<>> names_, words_, keys_;
};

/// The bytes that `shape` takes in the file, and its dtype and shape as they are read.
std::uint64_t interpret(const HeaderReader::Told& told, SafetensorsEntry& entry) {
    const FileType kind = kind_called(told.type);
    // Counted as u8 where an element is less than a byte, so that nothing overflows.
    const bool packed = kind.pieces == 0;
    const std::int64_t items = count_items(packed ? Dtype::u8 : kind.dtype, told.shape);
    if (packed && items * kind.bits % 8 != 0)
        throw ArgumentError(fmt::format("{} of {} bits {} not a whole number of bytes",
                                        count_of(items, "element"), kind.bits, items == 1 ? "is" : "are"));
    entry.dtype = kind.dtype;
    entry.shape = told.shape;
    if (packed) entry.shape.assign(1, items * kind.bits / 8);
    if (kind.pieces > 1) entry.shape.push_back(kind.pieces);
    return static_cast<std::uint64_t>(bytes_of(entry.dtype, count_items(entry.dtype, entry.shape)));
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                           const std::string& file) {
    HeaderReader reader(file);
    Json::sax_parse(text, &reader);
    SafetensorsHeader header{{}, std::move(reader.metadata)};
    for (HeaderReader::Told& told : reader.told) {
        const auto failure = [&](std::string_view what) {
            return reader.failure(fmt::format("tensor `{}`: {}", told.name, what));
        };
        SafetensorsEntry entry{told.name, {}, {}, told.offsets[0], told.offsets[1]};
        std::uint64_t bytes = 0;
        try {
            bytes = interpret(told, entry);
        } catch (const ArgumentError& error) {
            throw failure(error.what());
        }
        if (entry.begin > entry.end || entry.end > data_bytes)
            throw failure(fmt::format("bytes {} to {} are outside the {} after the header", entry.begin,
                                      entry.end, count_of(data_bytes, "byte")));
        if (entry.end - entry.begin != bytes)
            throw failure(fmt::format("{} takes {}, but offsets {} to {} hold {}",
                                      describe(entry.dtype, entry.shape), count_of(bytes, "byte"),
                                      entry.begin, entry.end, entry.end - entry.begin));
        header.entries.push_back(std::move(entry));
    }
    std::ranges::stable_sort(header.entries, {},
                             [](const SafetensorsEntry& entry) { return std::pair(entry.begin, entry.end); });
    std::uint64_t end = 0;
    for (const SafetensorsEntry& entry : header.entries) {
        if (entry.begin != end)
            throw reader.failure(fmt::format("tensor `{}`: begins at byte {}, but the next byte is {}: {}",
                                             entry.name, entry.begin, end,
                                             entry.begin < end ? "an overlap" : "a hole"));
        end = entry.end;
    }
    if (end != data_bytes)
        throw reader.failure(
            fmt::format("{} of no tensor after the last one", count_of(data_bytes - end, "byte")));
    return header;
}

}  // namespace wgrun
