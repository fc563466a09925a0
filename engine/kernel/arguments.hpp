// Arguments of a launch against the parameters of the kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "check/sizes.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {

/// Throws ArgumentError when the number, kind, dtype or range of an argument does not fit its parameter, or
/// the grid is empty or too large.
void check_arguments(const Program& program, const RunOptions& options);

/// Its parts, for arguments that are not in host tensors.
void check_count(const Program& program, std::size_t given);
void check_grid(const Program& program, Dim3 grid);

/// "kernel gemm, argument 2 (B): a null pointer"
ArgumentError wrong_argument(const Program& program, std::size_t i, std::string_view what,
                             std::string fix = {}, const Rule& rule = rules::WG_FORM_05);

/// What is known of the memory that argument `i` passes; absent fields are unknown.
struct PassedMemory {
    std::optional<Dtype> dtype{};
    const TensorShape* shape = nullptr;
};
void check_memory(const Program& program, std::size_t i, const PassedMemory& memory);

/// Returns whether the kernel only reads what the parameter points to. A structure is itself constant, what
/// its pointers point to is not.
inline bool may_only_read(const Param& param) { return param.constant && param.structure == 0; }

/// What a launch passes that the checker knows what to do with: its grid and its integers.
check::LaunchSizes sizes_of(const RunOptions& options);

using Number = std::variant<std::int64_t, double>;
void check_number(const Program& program, std::size_t i, Number number);

/// A number that fits a parameter of `type`, in the low bytes.
std::uint64_t raw_number(Number number, isa::Type type);

/// A tensor as a tensor map describes it: extents in elements, the contiguous dimension first, and the
/// strides of the others in bytes.
struct MapGeometry {
    std::vector<std::int64_t> extents, strides;
};
MapGeometry geometry_of(Dtype dtype, const TensorShape& shape);

/// A tensor among the arguments: one of the two.
struct PassedTensor {
    Tensor* host = nullptr;
    DeviceTensor* device = nullptr;

    const TensorShape& shape() const;
    bool operator==(const PassedTensor&) const = default;
};
std::optional<PassedTensor> passed_tensor(const Argument& argument);

/// The tensors that an argument passes, in order: a structure may pass several.
std::vector<PassedTensor> passed_tensors(const Argument& argument);

/// The tensors among the arguments, in order.
std::vector<PassedTensor> passed_tensors(const std::vector<Argument>& args);

/// Returns the lists of arguments of a launch's devices.
std::vector<std::vector<Argument>*> of_devices(RunOptions& options);

/// Calls f(tensor) for a reference to each Tensor* among the arguments, which it may change.
void for_each_tensor(std::vector<Argument>& args, const std::function<void(Tensor*&)>& f);

/// A tensor map that is to be made for a launch.
struct PassedMap {
    std::int64_t offset = 0;    ///< bytes from the start of the parameter
    std::uint64_t address = 0;  ///< of the tensor
    MapGeometry geometry;
    TensorBox box;
};

/// What a parameter is passed.
struct RawArgument {
    std::uint64_t value = 0;           ///< in its low bytes; of a tensor map the tensor's address
    std::vector<std::byte> structure;  ///< of a structure, but for its tensor maps
    std::vector<PassedMap> maps;       ///< in it, or the one that it is
    bool in_memory = false;            ///< the map lies in global memory, and the parameter points to it
};

/// The values of the arguments. Pointers and tensor maps are taken from `addresses`, in the order of the
/// tensors.
std::vector<RawArgument> raw_arguments(const Program& program, const std::vector<Argument>& args,
                                       const std::vector<std::uint64_t>& addresses);

/// The same launch for the simulator: device tensors become the tensors that it has for them. ArgumentError
/// for one that is on the GPU.
void move_to_simulator(std::vector<Argument>& args);

}  // namespace wgrun
