#include "kernevo/vgpu/tier/object_store.h"

namespace kernevo::vgpu {
namespace fs = std::filesystem;

namespace {

fs::path module_folder(const std::string& module) {
  return fs::path(module.substr(0, 2)) / module;
}

} // namespace

std::optional<std::string> MemoryStore::find(const ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? std::nullopt : std::optional(found->second);
}

void MemoryStore::save(const ObjectKey& key, std::string_view object) {
  const std::lock_guard lock(mutex_);
  objects_[key] = object;
  fresh_[key] = object;
}

Objects MemoryStore::take_new() {
  const std::lock_guard lock(mutex_);
  return std::exchange(fresh_, {});
}

FolderStore::FolderStore(const fs::path& folder, std::uint64_t limit_bytes)
    : files_(folder.empty() ? fs::path() : folder / "objects", limit_bytes) {}

std::optional<std::string> FolderStore::find(const ObjectKey& key) {
  return files_.find(module_folder(key.module) / key.object);
}

void FolderStore::save(const ObjectKey& key, std::string_view object) {
  // Code that could not be kept is made again.
  if (files_.store(module_folder(key.module) / key.object, object) &&
      (key.object.starts_with("0") || key.object.starts_with("8")))
    files_.prune(); // one save in 8 pays for looking around
}

Objects FolderStore::of_module(const std::string& module, std::uint64_t most) const {
  Objects objects;
  std::uint64_t total = 0;
  for (const fs::path& name : files_.list(module_folder(module))) {
    auto object = files_.find(name);
    if (!object)
      continue;
    total += object->size();
    if (total > most)
      break;
    objects[{module, name.filename().string()}] = std::move(*object);
  }
  return objects;
}

} // namespace kernevo::vgpu
