// Conversions between the structs of C and the types of the engine.
#pragma once

#include <string>

#include "bindings/c/failure.hpp"
#include "wgrun/host_launch.hpp"

namespace wgrun::c {

/// Throws Failure for a number that is not a wgrun_dtype; nothing for WGRUN_ANY_DTYPE.
std::optional<Dtype> dtype_of(int dtype);
int number_of(Dtype dtype);

/// The shape that `argument` states, or nothing. `what` names it in errors.
std::optional<TensorShape> shape_of(const wgrun_argument& argument, const std::string& what);

/// Throws Failure for an invalid argument.
HostArgument argument_of(const wgrun_argument& argument, const std::string& what);

/// Reads a wgrun_launch.
HostSimulation launch_of(const wgrun_launch* launch);

}  // namespace wgrun::c
