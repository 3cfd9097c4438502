// The parts of a task file with a grammar of their own.
#pragma once

#include "kernevo/base/identifier.h"
#include "kernevo/model/task.h"
#include "kernevo/task/operation.h"
#include "kernevo/task/yaml_fields.h"

#include <string>
#include <vector>

namespace kernevo {

// A shape and where it was written; `dims` hold sizes and attributes, nothing derived.
struct PlacedShape {
  ShapeCase shape;
  Place place;
};

struct ShapeGrammar {
  const Operation* operation = nullptr; // null for a custom task
  std::vector<std::string> names;       // of the sizes of a row; may be empty for a custom task
  Dims attributes;                      // added to every shape
  std::int64_t axis = -1;               // for operations on any tensor shape
};

Result<std::vector<PlacedShape>> read_shapes(const YamlNode& node, const std::string& field,
                                             const ShapeGrammar& grammar);

// Arguments of a custom task; shapes may use these dimensions.
Result<std::vector<ArgumentSpec>> read_arguments(const YamlNode& node, DType task_dtype,
                                                 const std::vector<std::string>& dimensions);
// For a catalogue operation a task may only change how arguments are filled.
Result<void> override_arguments(const YamlNode& node, std::vector<ArgumentSpec>& arguments);

Result<std::vector<ScalarSpec>> read_scalars(const YamlNode& node, DType task_dtype);

// An expression over the dimensions, written as text or number.
Result<Expression> read_expression(const YamlNode& node, const std::string& field,
                                   const std::vector<std::string>& dimensions);

Result<DType> read_dtype(const YamlNode& node, const std::string& field);

// What is to be reached, how shapes are put together, and what it may take.
Result<void> read_goal(const YamlNode& root, Task& task, std::vector<std::string>& warnings);

// Source and place of the reference kernel: inline, or a file beside the task.
Result<void> read_reference(const YamlNode& node, const std::string& task_path, Task& task);

} // namespace kernevo
