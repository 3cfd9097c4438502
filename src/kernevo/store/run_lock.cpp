#include "kernevo/store/run_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace kernevo::store {

Result<RunLock> RunLock::take(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kLockFile;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open is what it is
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return fail(ErrorCode::infrastructure, fmt::format("cannot be locked: {}", strerror(errno)),
                Place{file.string()}, "check that the folder may be written");
  RunLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::usage, "another kernevo is writing this run", Place{folder.string()},
                "wait for it, or stop it with Ctrl-C");
  return lock;
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock::~RunLock() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

} // namespace kernevo::store
