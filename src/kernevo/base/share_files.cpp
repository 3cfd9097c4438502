#include "kernevo/base/share_files.h"

#include "kernevo/base/files.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {

Result<std::vector<std::filesystem::path>> share_files(const std::string& folder) {
  KERNEVO_TRY(share, share_folder());
  return yaml_files(share / folder, "check its permissions or set KERNEVO_SHARE");
}

Result<std::vector<std::filesystem::path>> yaml_files(const std::filesystem::path& folder,
                                                      const std::string& fix) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".yaml")
      paths.push_back(entry->path());
  if (error)
    return fail(ErrorCode::infrastructure, fmt::format("cannot be listed: {}", error.message()),
                Place{folder.string()}, fix);
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace kernevo
