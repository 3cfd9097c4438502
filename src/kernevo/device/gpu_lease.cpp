#include "kernevo/device/gpu_lease.h"

#include "kernevo/base/one_line.h"
#include "kernevo/base/printable.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kernevo {
namespace fs = std::filesystem;
namespace {

using SteadyTime = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(10);
// Short waits are not worth a line.
constexpr auto kQuiet = std::chrono::milliseconds(500);
constexpr auto kLongest = std::chrono::hours(2);
constexpr std::size_t kShownBytes = 200;

// Sole leases of this process, by GPU: a lock on a file knows no threads.
struct Owners {
  struct Owner {
    pid_t process = 0; // a fork has the table and not the lease
    std::thread::id thread;
    int leases = 0;
  };
  std::mutex mutex;
  std::map<std::string, Owner> of_gpu;
};
Owners& owners() {
  static auto* all = new Owners; // threads may still be at work when the program ends
  return *all;
}

bool mine_alone(const fs::path& folder) {
  struct stat found{};
  return lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string plain(const std::string& uuid) {
  std::string text;
  for (const char c : uuid)
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '_';
  return text;
}

Result<FileDescriptor> open_file(const fs::path& path) {
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid())
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot open the lease of a GPU: {}", std::strerror(errno)),
                Place{path.string()});
  return file;
}

std::string own_command() {
  const FileDescriptor file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  std::array<char, kShownBytes> text{};
  const ssize_t size = file.valid() ? read(file.get(), text.data(), text.size()) : 0;
  std::string command(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  while (command.ends_with('\0'))
    command.pop_back();
  for (char& c : command)
    if (c == '\0')
      c = ' ';
  return command;
}

void sign(const FileDescriptor& file) {
  std::array<char, 16> now{};
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  localtime_r(&time, &parts);
  std::strftime(now.data(), now.size(), "%H:%M:%S", &parts);
  const std::string text =
      fmt::format("process {} ({}) since {}\n", getpid(), own_command(), now.data());
  // Only for people: a lease without a name is one all the same.
  if (ftruncate(file.get(), 0) == 0)
    static_cast<void>(pwrite(file.get(), text.data(), text.size(), 0) == 0);
}

std::string signature(const FileDescriptor& file) {
  std::array<char, 2 * kShownBytes> text{};
  const ssize_t size = pread(file.get(), text.data(), text.size(), 0);
  const std::string_view read(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const std::string line = printable(one_line(read.substr(0, read.find('\n')), kShownBytes));
  return line.empty() ? "another process" : line;
}

// One lock, waited for. `named`: whose name to tell while waiting.
Result<void> lock(const FileDescriptor& file, int how, const FileDescriptor& named,
                  const std::string& device, bool& told) {
  const auto start = SteadyTime::now();
  while (flock(file.get(), how | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return fail(ErrorCode::infrastructure,
                  fmt::format("cannot lock the lease of {}: {}", device, std::strerror(errno)));
    const auto waited = SteadyTime::now() - start;
    if (waited > kLongest)
      return fail(ErrorCode::infrastructure,
                  fmt::format("{} has been in use for {} hours by {}", device, kLongest.count(),
                              signature(named)),
                  std::nullopt, "end that process, or use another GPU");
    if (!told && waited > kQuiet) {
      told = true;
      fmt::print(stderr, "kernevo: waiting for {}, in use by {}\n", device, signature(named));
    }
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

} // namespace

Result<fs::path> lease_folder() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR");
      runtime != nullptr && *runtime == '/' && mine_alone(runtime))
    return fs::path(runtime);
  const fs::path folder = fmt::format("/tmp/kernevo-leases-{}", geteuid());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot make a folder for leases: {}", std::strerror(errno)),
                Place{folder.string()});
  if (!mine_alone(folder))
    return fail(ErrorCode::infrastructure,
                "the folder for leases of GPUs belongs to somebody else, or others may write to it",
                Place{folder.string()}, "set XDG_RUNTIME_DIR to a folder of your own");
  return folder;
}

Result<GpuLease> GpuLease::take(const std::string& device, const std::string& uuid, Kind kind) {
  {
    const std::lock_guard guard(owners().mutex);
    const auto found = owners().of_gpu.find(uuid);
    if (found != owners().of_gpu.end() && found->second.process == getpid() &&
        found->second.thread == std::this_thread::get_id()) {
      GpuLease again;
      if (kind == Kind::sole) {
        ++found->second.leases;
        again.uuid_ = uuid;
      }
      return again;
    }
  }
  KERNEVO_TRY(folder, lease_folder());
  const std::string name = "kernevo-gpu-" + plain(uuid);
  // Who wants the GPU alone keeps the door while he waits: those who share it must pass there, so
  // they cannot keep him waiting for ever by taking turns.
  KERNEVO_TRY(door, open_file(folder / (name + ".door")));
  KERNEVO_TRY(file, open_file(folder / (name + ".lease")));
  bool told = false;
  KERNEVO_CHECK(lock(door, LOCK_EX, file, device, told));
  KERNEVO_CHECK(lock(file, kind == Kind::sole ? LOCK_EX : LOCK_SH, file, device, told));
  GpuLease lease;
  if (kind == Kind::sole) {
    sign(file);
    const std::lock_guard guard(owners().mutex);
    owners().of_gpu[uuid] = {getpid(), std::this_thread::get_id(), 1};
    lease.uuid_ = uuid;
  }
  lease.file_ = std::move(file);
  return lease;
}

GpuLease::GpuLease(GpuLease&& other) noexcept
    : uuid_(std::exchange(other.uuid_, {})), file_(std::move(other.file_)) {}

GpuLease& GpuLease::operator=(GpuLease&& other) noexcept {
  std::swap(uuid_, other.uuid_);
  std::swap(file_, other.file_);
  return *this;
}

GpuLease::~GpuLease() {
  if (uuid_.empty())
    return;
  const std::lock_guard guard(owners().mutex);
  const auto found = owners().of_gpu.find(uuid_);
  if (found != owners().of_gpu.end() && --found->second.leases <= 0)
    owners().of_gpu.erase(found);
}

} // namespace kernevo
