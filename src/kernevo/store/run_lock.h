// One writer per run: an advisory lock that dies with its process.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>

namespace kernevo::store {

inline constexpr const char* kLockFile = "lock";

class RunLock {
public:
  // An error when another process holds it.
  static Result<RunLock> take(const std::filesystem::path& folder);
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&&) = delete;
  ~RunLock();

private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

} // namespace kernevo::store
