#include "kernevo/base/files.h"
#include "kernevo/task/load_parts.h"

#include <filesystem>
#include <fmt/format.h>

namespace kernevo {
namespace {

constexpr std::uintmax_t kLargestKernel = 1U << 20U;

bool is_path(const std::string& text) {
  return text.find('\n') == std::string::npos && text.find("__global__") == std::string::npos &&
         (text.starts_with("file://") || text.ends_with(".cu") || text.ends_with(".cuh"));
}

} // namespace

Result<void> read_reference(const YamlNode& node, const std::string& task_path, Task& task) {
  KERNEVO_TRY(text, read_text(node, "reference_kernel"));
  if (text.starts_with("https://") || text.starts_with("http://"))
    return fail(ErrorCode::input,
                fmt::format("reference_kernel '{}' is on the network", excerpt(text)), node.place,
                "kernevo downloads nothing: save the file and give its path");
  task.reference_kernel = text;
  // The text of a block begins on the line after its '|'.
  task.reference_place = {task_path, node.place.line + (node.block ? 1 : 0), 0};
  if (is_path(text)) {
    namespace fs = std::filesystem;
    const fs::path given = text.starts_with("file://") ? text.substr(7) : text;
    const fs::path path = given.is_absolute() ? given : fs::path(task_path).parent_path() / given;
    std::error_code error;
    if (!fs::is_regular_file(path, error))
      return fail(ErrorCode::input,
                  fmt::format("reference_kernel '{}' is not a file", excerpt(text)), node.place,
                  "the path is relative to the task file");
    auto source = read_text_file(path, kLargestKernel);
    if (!source)
      return fail(source.error().code,
                  fmt::format("reference_kernel '{}' {}", excerpt(text), source.error().message),
                  node.place, source.error().fix);
    task.reference_kernel = std::move(*source);
    task.reference_place = {path.string(), 1, 0};
  }
  if (task.reference_kernel.find("__global__") == std::string::npos)
    return fail(ErrorCode::input, "reference_kernel has no __global__ function", node.place,
                "give CUDA source, or the path of a .cu file");
  return {};
}

} // namespace kernevo
