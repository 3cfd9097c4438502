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
// A given `reference` stands for the source of reference_kernel, whose file is then not needed.
Result<LoadedTask> parse_task(std::string_view text, const std::string& path,
                              const std::string* reference = nullptr);

} // namespace kernevo
