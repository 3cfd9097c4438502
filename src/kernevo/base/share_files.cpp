#include "kernevo/base/share_files.h"

#include "kernevo/base/files.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {

Result<std::vector<std::filesystem::path>> share_files(const std::string& folder) {
  KERNEVO_TRY(share, share_folder());
  const std::filesystem::path place = share / folder;
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator entry(place, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".yaml")
      paths.push_back(entry->path());
  if (error)
    return fail(ErrorCode::infrastructure, fmt::format("cannot be listed: {}", error.message()),
                Place{place.string()}, "check its permissions or set KERNEVO_SHARE");
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace kernevo
