// A task file as whoever writes kernels for it may read it.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace kernevo::mcp {

// All its author wrote but the shapes kernels are judged on in secret (check_shapes).
Result<std::string> visible_task_text(std::string_view text, const std::string& file);
Result<std::string> read_visible_task(const std::filesystem::path& file);

} // namespace kernevo::mcp
