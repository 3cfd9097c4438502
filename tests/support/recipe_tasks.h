// Small tasks that between them make every recipe of the playbook apply.
#pragma once

#include "kernevo/propose/recipe.h"

#include <string>
#include <vector>

namespace kernevo::propose {

std::string task_text(const std::string& operation, DType dtype, const std::string& shape);

// Tasks of an operation that between them make every recipe of it apply.
std::vector<std::string> tasks_of(const std::string& operation, DType dtype);

// The types in which a recipe serves an operation.
std::vector<DType> dtypes_of(const Recipe& recipe, const std::string& operation);

} // namespace kernevo::propose
