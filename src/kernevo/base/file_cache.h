// Files by content key, shared by processes: written atomically, checked when read, the ones used
// longest ago removed when they grow over a limit.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// $KERNEVO_CACHE ("off" for none), $XDG_CACHE_HOME/kernevo or ~/.cache/kernevo; empty = no cache.
std::filesystem::path cache_folder();

class FileCache {
public:
  // Everything lies under `folder`; an empty one makes a cache that keeps nothing.
  FileCache(std::filesystem::path folder, std::uint64_t limit_bytes);

  // `name` is a relative path. Absent also when the file is damaged.
  std::optional<std::string> find(const std::filesystem::path& name) const;
  Result<void> store(const std::filesystem::path& name, std::string_view content) const;
  void remove(const std::filesystem::path& name) const;
  // Names of the files in a folder of the cache.
  std::vector<std::filesystem::path> list(const std::filesystem::path& folder) const;
  // Removes the files used longest ago until the rest is well below the limit. Looks at every
  // file: not for every store.
  void prune() const;

private:
  std::filesystem::path folder_;
  std::uint64_t limit_;
};

} // namespace kernevo
