#include "kernevo/base/file_memo.h"

#include <sys/stat.h>

namespace kernevo {

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return std::nullopt;
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return FileStamp{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                   status.st_ctim.tv_sec * kNanoseconds + status.st_ctim.tv_nsec};
}

} // namespace kernevo
