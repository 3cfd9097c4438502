// Who may use a GPU now. Whoever takes times has it alone; all other work shares it. This
// holds between threads and processes of one user, by locks on files that the system lets
// go when a process ends.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/worker_process.h"

#include <filesystem>
#include <string>

namespace kernevo {

class GpuLease {
public:
  enum class Kind { shared, sole };
  // Waits as long as others have it; a line on standard error says who. A thread that has it alone
  // gets it again at once. `device` is for people, `uuid` says which GPU.
  static Result<GpuLease> take(const std::string& device, const std::string& uuid, Kind kind);
  GpuLease(GpuLease&& other) noexcept;
  GpuLease& operator=(GpuLease&& other) noexcept;
  GpuLease(const GpuLease&) = delete;
  GpuLease& operator=(const GpuLease&) = delete;
  ~GpuLease();

private:
  GpuLease() = default;

  std::string uuid_; // of a sole lease
  FileDescriptor file_;
};

// Where the files are: $XDG_RUNTIME_DIR, else a folder in /tmp that nobody else may touch.
Result<std::filesystem::path> lease_folder();

} // namespace kernevo
