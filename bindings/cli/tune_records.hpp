// What `wgrun tune` has measured: a file of records, which merges by their keys.
//
// A file has one JSON object a line, sorted, and is always complete: each change replaces it by a new one.
// Two records with one key are records of the same thing: the faster one stays, and a measurement wins over a
// failure, so that files can be merged in any order, any number of times.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace wgrun::cli {

struct Record {
    std::string name;         ///< of what is tuned
    std::string place;        ///< device, driver and back end, or the cost model's version
    std::string options;      ///< of the candidate, for people
    double microseconds = 0;  ///< the median; 0 if it failed
    std::string failure;      ///< why it could not be measured, or empty
};

/// By key, which is the SHA-256 of `place` and of all that decides the time there.
using Records = std::map<std::string, Record>;

/// The key of a record.
std::string key_of(std::string_view place, std::string_view content);

/// The records of a file; none if there is no such file. EnvironmentError EIO if it cannot be read,
/// ArgumentError with its line if that is no record.
Records read_records(const std::string& path);

/// Adds the record under `key`, or keeps the better one of both. Returns whether something has changed.
bool add(Records& records, const std::string& key, const Record& record);

/// The text of a file.
std::string to_text(const Records& records);

/// A file of records that processes may share.
class RecordFile {
  public:
    /// `path`: where the records are kept; empty: in memory alone. Throws what read_records throws.
    explicit RecordFile(std::string path);

    /// Records that are known and not written.
    void know(const Records& records);
    /// The record under this key, or null.
    const Record* find(const std::string& key) const;
    /// Keeps a record, and writes the file together with what others have written to it meanwhile.
    /// EnvironmentError if that fails.
    void keep(const std::string& key, const Record& record);

    const std::string& path() const { return path_; }

  private:
    using Stamp = std::tuple<ino_t, std::int64_t, std::int64_t, off_t>;  // inode, time of change, size
    Stamp stamp() const;

    std::string path_;
    Records known_, own_;
    Stamp written_{};
};

/// Where shard `shard` of `shards` of a search keeps its records: beside `path`, where all come together.
std::string shard_file(const std::string& path, int shard, int shards);

/// Writes the merged records of the files `from` and, if it is there, `to` into the file `to`. Returns how
/// many there are. Throws what read_records throws, before anything is written; EnvironmentError ENOENT for a
/// file of `from` that is not there.
std::size_t merge_records(const std::vector<std::string>& from, const std::string& to);

}  // namespace wgrun::cli
