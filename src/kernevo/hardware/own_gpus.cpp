#include "kernevo/hardware/own_gpus.h"

#include "kernevo/base/share_files.h"

#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

std::string_view setting(const char* name) {
  const char* set = std::getenv(name);
  return set == nullptr ? std::string_view() : std::string_view(set);
}

} // namespace

fs::path own_gpu_folder() {
  if (const auto set = setting("KERNEVO_GPUS"); !set.empty())
    return set;
  for (const auto& [name, below] :
       {std::pair{"XDG_CONFIG_HOME", "kernevo/gpus"}, std::pair{"HOME", ".config/kernevo/gpus"}})
    if (const auto set = setting(name); !set.empty())
      return fs::path(set) / below;
  return {};
}

std::string table_places() {
  std::error_code error;
  const fs::path own = own_gpu_folder();
  std::string places(setting("KERNEVO_SHARE"));
  places += '\n';
  if (!own.empty() && fs::is_directory(own, error))
    places += fs::absolute(own, error).string();
  return places + '\n';
}

std::size_t use_table_places(std::string_view message) {
  std::size_t begin = 0;
  for (const char* name : {"KERNEVO_SHARE", "KERNEVO_GPUS"}) {
    const std::size_t end = message.find('\n', begin);
    if (end == std::string_view::npos)
      return 0;
    if (end > begin)
      setenv(name, std::string(message.substr(begin, end - begin)).c_str(), 1);
    begin = end + 1;
  }
  return begin;
}

Result<std::vector<fs::path>> own_gpu_files() {
  const fs::path folder = own_gpu_folder();
  std::error_code error;
  const bool there = !folder.empty() && fs::is_directory(folder, error);
  if (!there && !setting("KERNEVO_GPUS").empty())
    return fail(ErrorCode::input, "KERNEVO_GPUS names no folder", Place{folder.string()},
                "make it, or unset KERNEVO_GPUS");
  if (!there)
    return std::vector<fs::path>();
  return yaml_files(folder, "check its permissions or set KERNEVO_GPUS");
}

} // namespace kernevo
