// For `kernevo_judge`: a process of Python that is about to run a candidate gives up what a
// candidate may not have. What the virtual GPU itself reads stays.
#include "kernevo/base/file_cage.h"
#include "kernevo/base/files.h"
#include "kernevo/base/sandbox.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/vgpu/tier/plugin.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <vector>

namespace kernevo::cuda {
namespace fs = std::filesystem;

namespace {

struct Cell {
  FileAccess files;
  ProcessLimits limits;
  Confinement confinement = Confinement::program;
};

std::vector<fs::path> paths_at(const Json& json, const char* key) {
  std::vector<fs::path> paths;
  for (const Json& path : json.at(key))
    paths.emplace_back(path.get<std::string>());
  return paths;
}

Result<Cell> read_cell(const char* text) {
  return read_json(text, "confinement", [](const Json& json) {
    Cell cell;
    cell.files = {paths_at(json, "readable"), paths_at(json, "writable")};
    cell.limits = {json.value("address_space", std::uint64_t{0}),
                   json.value("cpu_seconds", std::uint64_t{0}),
                   json.value("file_bytes", std::uint64_t{0})};
    const auto kind = json.at("kind").get<std::string>();
    if (kind != "program" && kind != "compile")
      refuse("'" + one_line(kind, 20) + "' is no kind of confinement");
    cell.confinement = kind == "program" ? Confinement::program : Confinement::compile;
    return cell;
  });
}

std::vector<fs::path> files_of_the_gpu() {
  std::vector<fs::path> files;
  if (auto share = share_folder())
    files.push_back(std::move(*share));
  if (auto plugin = vgpu::find_plugin())
    files.push_back(std::move(*plugin));
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&files_of_the_gpu), &here) != 0 && here.dli_fname != nullptr)
    files.push_back(fs::path(here.dli_fname).parent_path());
  return files;
}

// A cage holds the thread that enters it and those it starts: others would stay outside.
bool is_only_thread() {
  std::error_code problem;
  const fs::directory_iterator threads("/proc/self/task", problem);
  return !problem && std::distance(begin(threads), end(threads)) == 1;
}

Result<void> confine(const char* text) {
  KERNEVO_TRY(cell, read_cell(text));
  if (!is_only_thread())
    return fail(ErrorCode::infrastructure, "threads run already that could not be confined");
  if (file_layer() == FileLayer::none)
    return fail(ErrorCode::infrastructure,
                "this system can close the file system to no process, and a Python program is "
                "native code",
                std::nullopt,
                "use a kernel with Landlock (5.13 or newer), or allow user namespaces");
  std::ranges::move(files_of_the_gpu(), std::back_inserter(cell.files.readable));
  KERNEVO_TRY(cage, FileCage::make(cell.files));
  if (!cage.enter())
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot close the file system: {}", std::strerror(errno)), std::nullopt,
                "'kernevo doctor' lists what this system allows");
  return confine_this_process(cell.confinement, cell.limits);
}

std::string& problem() {
  static std::string text;
  return text;
}

} // namespace
} // namespace kernevo::cuda

extern "C" {

// 0, or what is wrong is said by kernevo_confine_problem(); the process must then not go on.
int kernevo_confine(const char* json) {
  const auto confined = kernevo::cuda::confine(json);
  kernevo::cuda::problem() = confined ? "" : kernevo::format_error(confined.error());
  return confined ? 0 : 1;
}

const char* kernevo_confine_problem() {
  return kernevo::cuda::problem().c_str();
}

} // extern "C"
