// Task files (YAML) -> Task.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/task.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct LoadedTask {
  Task task;
  std::vector<std::string>
      warnings; // infeasible target, unknown GPU spelling, no profile shape, ...
};

Result<LoadedTask> load_task(const std::string& path);
// `path` names the text in messages and anchors relative reference_kernel paths.
Result<LoadedTask> parse_task(std::string_view text, const std::string& path);

} // namespace kernevo
