// What was made of a file, kept as long as the file stays as it is.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace kernevo {

// Tells one state of a file from another.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t file = 0;
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
};
// Nothing when the file cannot be looked at.
std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

// Thread-safe. A failure is not kept.
template <class Value> class FileMemo {
public:
  template <class Read> Result<Value> get(const std::filesystem::path& path, Read read) {
    const std::lock_guard lock(mutex_);
    const auto stamp = stamp_of(path);
    const auto known = kept_.find(path);
    if (stamp && known != kept_.end() && known->second.first == *stamp)
      return known->second.second;
    Result<Value> value = read(path);
    if (value && stamp)
      kept_.insert_or_assign(path, std::pair(*stamp, *value));
    return value;
  }

private:
  std::mutex mutex_;
  std::map<std::filesystem::path, std::pair<FileStamp, Value>> kept_;
};

} // namespace kernevo
