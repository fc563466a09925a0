// The arguments of a launch, as a launch file describes them (docs/schema/launch.json).
#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings/record/files.hpp"
#include "bindings/record/recorder.hpp"

namespace wgrun::record {

class Arguments {
  public:
    using Json = nlohmann::ordered_json;

    /// Reads the parameters, and copies the memory that they point to into files.
    Arguments(const Start& start, const Function& function, const std::deque<Map>& maps, const Files& files);

    const Json& list() const { return list_; }
    const Json& tensors() const { return tensors_; }
    /// What the files do not say as it is in the launch.
    const std::vector<std::string>& notes() const { return notes_; }

  private:
    /// Memory that the driver has allocated as a whole.
    struct Block {
        DevicePointer start;
        std::size_t bytes;
        std::string name;
    };

    Json argument(std::span<const std::byte> bytes);
    Json structure(std::span<const std::byte> bytes);
    std::optional<Json> pointer(DevicePointer address);
    std::optional<Json> map_in_memory(DevicePointer address);
    std::optional<Json> map(std::span<const std::byte> bytes);
    std::optional<Json> described(const Map& map);
    const Block* block(DevicePointer address);
    Json kept(const Block& block);

    const std::deque<Map>& maps_;
    const Files& files_;
    bool readable_;  ///< memory can be copied now
    std::size_t copied_ = 0;
    std::deque<Block> blocks_;
    Json list_ = Json::array(), tensors_ = Json::object();
    std::vector<std::string> notes_;
};

}  // namespace wgrun::record
