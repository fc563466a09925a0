#include "bindings/cli/tune_records.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "file/lock.hpp"
#include "file/replacement.hpp"
#include "gpu/sha256.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds patience{10};  // for other processes that write

bool better(const Record& a, const Record& b) {
    const auto order = [](const Record& r) {
        return std::tuple(!r.failure.empty(), r.microseconds,
                          std::tie(r.failure, r.options, r.name, r.place));
    };
    return order(a) < order(b);
}

std::string line_of(const std::string& key, const Record& record) {
    Json json{{"key", key}, {"name", record.name}, {"place", record.place}, {"options", record.options}};
    if (record.failure.empty())
        json["us"] = record.microseconds;
    else
        json["failure"] = record.failure;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// False if the line is no record.
bool read_line(const std::string& line, Records& records) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return false;
    const auto text = [&](const char* name) {
        const auto found = json.find(name);
        return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    Record record{text("name"), text("place"), text("options"), 0, text("failure")};
    const auto us = json.find("us");
    const bool measured = us != json.end() && us->is_number() && us->get<double>() > 0;
    if (measured) record.microseconds = us->get<double>();
    const std::string key = text("key");
    if (key.empty() || measured == !record.failure.empty()) return false;
    add(records, key, record);
    return true;
}

}  // namespace

std::string key_of(std::string_view place, std::string_view content) {
    return gpu::sha256(fmt::format("{}\n{}", place, content));
}

Records read_records(const std::string& path) {
    Records records;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        if (errno == ENOENT) return records;
        throw EnvironmentError("EIO", fmt::format("{}: {}", path, std::strerror(errno)));
    }
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number)
        if (!line.empty() && !read_line(line, records))
            throw ArgumentError(fmt::format("{}:{}: this is no result of wgrun tune", path, number),
                                "name another file (--results), or remove the line");
    if (file.bad()) throw EnvironmentError("EIO", fmt::format("{}: it cannot be read", path));
    return records;
}

bool add(Records& records, const std::string& key, const Record& record) {
    const auto [place, added] = records.try_emplace(key, record);
    if (added || !better(record, place->second)) return added;
    place->second = record;
    return true;
}

std::string to_text(const Records& records) {
    std::vector<const Records::value_type*> sorted;
    for (const auto& record : records) sorted.push_back(&record);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
        const auto order = [](const Records::value_type& r) {
            return std::tuple(std::tie(r.second.name, r.second.place), !r.second.failure.empty(),
                              r.second.microseconds, std::tie(r.second.options, r.first));
        };
        return order(*a) < order(*b);
    });
    std::string text;
    for (const auto* record : sorted) text += line_of(record->first, record->second);
    return text;
}

RecordFile::RecordFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    written_ = stamp();
    own_ = read_records(path_);
}

void RecordFile::know(const Records& records) {
    for (const auto& [key, record] : records) add(known_, key, record);
}

const Record* RecordFile::find(const std::string& key) const {
    for (const Records* records : {&own_, &known_})
        if (const auto found = records->find(key); found != records->end()) return &found->second;
    return nullptr;
}

RecordFile::Stamp RecordFile::stamp() const {
    struct stat info {};
    if (::stat(path_.c_str(), &info) != 0) return {};
    return {info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size};
}

void RecordFile::keep(const std::string& key, const Record& record) {
    add(own_, key, record);
    if (path_.empty()) return;
    const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
    const file::Descriptor folder(
        ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) throw EnvironmentError("EIO", fmt::format("{}: {}", parent.string(), std::strerror(errno)));
    const file::FolderLock lock(folder.get(), patience);
    if (stamp() != written_)
        for (const auto& [other, theirs] : read_records(path_)) add(own_, other, theirs);
    file::replace(path_, to_text(own_));
    written_ = stamp();
}

std::string shard_file(const std::string& path, int shard, int shards) {
    return fmt::format("{}.{}-of-{}", path, shard, shards);
}

std::size_t merge_records(const std::vector<std::string>& from, const std::string& to) {
    Records all = read_records(to);
    for (const std::string& path : from) {
        if (!std::filesystem::exists(path))
            throw EnvironmentError("ENOENT", fmt::format("{}: there is no such file", path));
        for (const auto& [key, record] : read_records(path)) add(all, key, record);
    }
    file::replace(to, to_text(all));
    return all.size();
}

}  // namespace wgrun::cli
