// The operations kernevo knows by name: arguments, dimensions, oracle, work, launch.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/task.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernevo {

struct DimensionSpec {
  std::string name;
  bool attribute = false;    // stride, padding, axis, causal: optional, not part of `shapes` lists
  std::int64_t fallback = 0; // value of an attribute that is not given
  std::string meaning;
};

struct OperationInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::string semantics;
  std::vector<DimensionSpec> dimensions; // sizes in the order of a `shapes` row, then attributes
  std::vector<DType> dtypes;
};

// Every operation, by name.
const std::vector<OperationInfo>& operations();
const OperationInfo* find_operation(const std::string& name_or_alias);

// A size that follows from the others: P of a convolution.
struct DerivedSize {
  std::string name;
  Expression value; // over sizes and attributes
};
// Those of an operation; none for most, and for one that is not in the catalogue.
std::vector<DerivedSize> derived_sizes(const std::string& operation);

// Fills arguments, scalars, work and default launch of a task whose operation, dtype and shapes are
// set, leaving alone what the task file already gave.
Result<void> complete_from_catalogue(Task& task);

// Scaled-down versions of the task's shapes that cost next to nothing: a size keeps its
// divisibility by 2 up to 128 and its odd remainder, so that a kernel written for the real shapes
// still runs.
std::vector<ShapeCase> small_shapes(const Task& task);

// A naive kernel for this operation and dtype that passes `check`, as a kernel file, and a task
// file that uses it: what `kernevo init` writes.
struct Starter {
  std::string task_yaml;
  std::string kernel_source;
  std::string kernel_file; // the name the task file expects the kernel under, beside it
};
Result<Starter> make_starter(const std::string& operation, DType dtype, const std::string& gpu);

} // namespace kernevo
