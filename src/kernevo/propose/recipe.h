// Structural recipes of the playbook: whole kernels for operations of the catalogue, as templates.
// They are data: share/playbook/*/recipes.yaml and the .cu files beside it (docs/playbook.md).
#pragma once

#include "kernevo/base/expression.h"
#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/task.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::propose {

struct Recipe {
  std::string name;  // "softmax_online": unique
  std::string title; // one sentence: what the kernel does differently
  std::string file;  // the template
  std::set<std::string> operations;
  std::set<DType> dtypes;           // empty: all of the operation's
  std::vector<std::string> answers; // directions it follows, the best match first
  std::optional<Expression> when;   // over sm, element_bytes and the sizes of every shape
  Place place;
};

// Every recipe of the data folder, by name.
Result<std::vector<Recipe>> load_recipes();
// The recipes of one text; `file` names it in messages, its folder holds the templates.
// `directions`: the names `answers` may use.
Result<std::vector<Recipe>> parse_recipes(std::string_view text, const std::string& file,
                                          const std::vector<std::string>& directions);

// Why the recipe does not serve this task on this GPU; nothing when it does.
Result<std::optional<std::string>> unfit(const Recipe& recipe, const Task& task, const Gpu& gpu);

// The kernel file it makes for a task it serves.
Result<std::string> expand_recipe(const Recipe& recipe, const Task& task);

} // namespace kernevo::propose
