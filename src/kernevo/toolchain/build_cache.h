// Builds by content: the same source, settings and toolchain are compiled once.
#pragma once

#include "kernevo/base/file_cache.h"
#include "kernevo/model/build.h"
#include "kernevo/toolchain/toolchain.h"

#include <filesystem>
#include <optional>
#include <string>

namespace kernevo {

class BuildCache {
public:
  // In cache_folder().
  static BuildCache from_environment();
  explicit BuildCache(std::filesystem::path folder,
                      std::uint64_t limit_bytes = std::uint64_t{1} << 30U);

  // Absent also when the entry is damaged; it will then be written anew.
  std::optional<Build> find(const std::string& key) const;
  // An error (a full disk, no permission) is for a warning, never for failing the build.
  Result<void> store(const std::string& key, const Build& build) const;
  // The folder, after trying to write to it; empty when there is no cache by setting.
  Result<std::filesystem::path> probe() const;
  // Removes the entries used longest ago until the folder is well below its limit.
  void prune() const;

private:
  std::filesystem::path folder_; // empty: no cache
  FileCache files_;
};

// Everything a build depends on, hashed: the request, the toolkit and every file of it. What a
// compiler that could read everything has made is never taken for the work of a caged one.
std::string build_key(const Toolchain& toolchain, const CompileRequest& request, bool nvcc,
                      CompilerReach reach);

} // namespace kernevo
