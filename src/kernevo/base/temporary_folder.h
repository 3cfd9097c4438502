#pragma once

#include "kernevo/base/result.h"

#include <filesystem>

namespace kernevo {

// A fresh private folder, removed with all it holds at the end of its life.
class TemporaryFolder {
public:
  static Result<TemporaryFolder> make();

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

private:
  explicit TemporaryFolder(std::filesystem::path path);

  std::filesystem::path path_;
};

} // namespace kernevo
