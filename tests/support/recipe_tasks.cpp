#include "recipe_tasks.h"

#include "kernevo/task/catalogue.h"

#include <fmt/format.h>
#include <map>

namespace kernevo::propose {
namespace {

// Shapes small enough to check in a moment, and what makes recipes for special cases apply.
const std::map<std::string, std::vector<std::string>> kShapes = {
    {"matmul", {"[64, 96, 128]"}},
    {"reduce", {"[40, 300]", "[300, 40]\naxis: 0", "[2, 70000]", "[70000, 8]\naxis: 0"}},
    {"rows", {"[20, 500]", "[3, 40000]", "[600, 40]"}},
    {"conv2d", {"[2, 8, 12, 12, 16, 3, 3]", "[1, 8, 12, 12, 8, 3, 3]\ngroups: 8\npadding: 1"}},
    {"conv1d", {"[2, 8, 64, 16, 3]", "[1, 8, 64, 8, 3]\ngroups: 8\npadding: 1"}},
};

} // namespace

std::string task_text(const std::string& operation, DType dtype, const std::string& shape) {
  return fmt::format("op_name: {}\ndtype: {}\ntarget_gpu: A100\nshapes:\n  - {}\n", operation,
                     name_of(dtype), shape);
}

std::vector<std::string> tasks_of(const std::string& operation, DType dtype) {
  std::vector<std::string> shapes;
  if (operation.starts_with("matmul"))
    shapes = {"[64, 96, 128]", "[16, 16, 20000]"};
  else if (operation == "batched_matmul")
    shapes = {"[2, 48, 64, 80]", "[1, 16, 16, 20000]"};
  else if (operation == "matvec")
    shapes = {"[40, 300]", "[2, 70000]"};
  else if (operation.starts_with("reduce") || operation == "argmax")
    shapes = kShapes.at("reduce");
  else if (operation == "conv1d" || operation == "conv2d")
    shapes = kShapes.at(operation);
  else if (operation.ends_with("_pool1d"))
    shapes = {"[2, 3, 100]"};
  else if (operation.ends_with("_pool2d"))
    shapes = {"[2, 3, 20, 20]"};
  else if (operation == "embedding")
    shapes = {"[40, 30, 64]"};
  else if (operation == "attention")
    shapes = {"[1, 2, 70, 32]"};
  else if (operation == "group_norm")
    shapes = {"[2, 8, 49, 4]", "[2, 8, 1024, 4]", "[1, 8, 40000, 4]", "[2, 8, 6, 4]"};
  else if (operation == "batch_norm")
    shapes = {"[2, 8, 49]", "[2, 8, 1024]"};
  else if (find_operation(operation)->dimensions.size() == 1)
    shapes = {"[5000]"};
  else
    shapes = kShapes.at("rows");
  std::vector<std::string> tasks;
  for (const std::string& shape : shapes)
    tasks.push_back(task_text(operation, dtype, shape));
  if (operation.starts_with("matmul"))
    tasks.push_back(task_text(operation, dtype, shapes.front()) + "allow_tf32: true\n");
  return tasks;
}

std::vector<DType> dtypes_of(const Recipe& recipe, const std::string& operation) {
  const OperationInfo& info = *find_operation(operation);
  std::vector<DType> dtypes;
  for (const DType dtype : info.dtypes)
    if (recipe.dtypes.empty() || recipe.dtypes.contains(dtype))
      dtypes.push_back(dtype);
  return dtypes;
}

} // namespace kernevo::propose
