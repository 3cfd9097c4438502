#include "kernevo/base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace kernevo {

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code problem;
  std::filesystem::path base = std::filesystem::temp_directory_path(problem);
  if (problem)
    base = "/tmp";
  std::string name = (base / "kernevo-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot make a temporary folder: {}", std::strerror(errno)),
                Place{base.string()}, "set TMPDIR to a writable folder");
  return TemporaryFolder(name);
}

TemporaryFolder::TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty())
    std::filesystem::remove_all(path_, ignored);
}

} // namespace kernevo
