// Where machine code is kept: in memory, for a process that may not touch files, or in the user's
// cache folder.
#pragma once

#include "kernevo/base/file_cache.h"
#include "kernevo/vgpu/tier/compiled.h"

#include <map>
#include <mutex>

namespace kernevo::vgpu {

using Objects = std::map<ObjectKey, std::string>;

class MemoryStore final : public ObjectStore {
public:
  explicit MemoryStore(Objects objects = {}) : objects_(std::move(objects)) {}
  std::optional<std::string> find(const ObjectKey& key) override;
  void save(const ObjectKey& key, std::string_view object) override;
  // What was saved since the last call.
  Objects take_new();

private:
  std::mutex mutex_;
  Objects objects_;
  Objects fresh_;
};

class FolderStore final : public ObjectStore {
public:
  static constexpr std::uint64_t kLimit = std::uint64_t{256} << 20U;

  // An empty folder keeps nothing.
  explicit FolderStore(const std::filesystem::path& folder = cache_folder(),
                       std::uint64_t limit_bytes = kLimit);
  std::optional<std::string> find(const ObjectKey& key) override;
  void save(const ObjectKey& key, std::string_view object) override;
  // All objects of one module, as long as they stay below `most` bytes together.
  Objects of_module(const std::string& module, std::uint64_t most) const;

private:
  FileCache files_;
};

} // namespace kernevo::vgpu
