#include "kernevo/base/file_cage.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

// Landlock as the kernel has it; the C library has no functions for it and its header may be older
// than the kernel.
namespace landlock {

constexpr std::uint64_t kExecute = 1U << 0U;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kReadFolder = 1U << 3U;
constexpr std::uint64_t kRemoveFolder = 1U << 4U;
constexpr std::uint64_t kRemoveFile = 1U << 5U;
constexpr std::uint64_t kMakeFolder = 1U << 7U;
constexpr std::uint64_t kMakeFile = 1U << 8U;
constexpr std::uint64_t kFirstVersion = (1U << 13U) - 1; // all that version 1 knows
constexpr std::uint64_t kRefer = 1U << 13U;              // version 2
constexpr std::uint64_t kTruncate = 1U << 14U;           // version 3
constexpr std::uint64_t kDeviceControl = 1U << 15U;      // version 5

constexpr std::uint64_t kOfFiles = kExecute | kReadFile | kWriteFile | kTruncate;
constexpr std::uint64_t kReading = kExecute | kReadFile | kReadFolder;
constexpr std::uint64_t kWriting = kReadFile | kReadFolder | kWriteFile | kTruncate | kMakeFile |
                                   kMakeFolder | kRemoveFile | kRemoveFolder | kRefer;

struct [[gnu::packed]] BeneathPath {
  std::uint64_t allowed;
  std::int32_t parent;
};

int version() {
  return static_cast<int>(syscall(SYS_landlock_create_ruleset, nullptr, 0, 1U));
}

std::uint64_t known_rights() {
  const int have = version();
  return kFirstVersion | (have >= 2 ? kRefer : 0) | (have >= 3 ? kTruncate : 0) |
         (have >= 5 ? kDeviceControl : 0);
}

} // namespace landlock

Error refused(std::string_view step, const fs::path& path = {}) {
  Error error{ErrorCode::infrastructure, fmt::format("cannot {}: {}", step, std::strerror(errno)),
              std::nullopt, ""};
  if (!path.empty())
    error.place = Place{path.string()};
  return error;
}

bool can_make_namespace() {
  const pid_t child = fork();
  if (child == 0)
    _exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
                  mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
              ? 0
              : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool write_whole(const char* path, std::string_view text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return written;
}

unsigned long mount_flags(const fs::path& path) {
  struct statvfs found{};
  if (statvfs(path.c_str(), &found) != 0)
    return 0;
  unsigned long flags = 0;
  for (const auto& [there, flag] : std::initializer_list<std::pair<unsigned long, unsigned long>>{
           {ST_RDONLY, MS_RDONLY},
           {ST_NOSUID, MS_NOSUID},
           {ST_NODEV, MS_NODEV},
           {ST_NOEXEC, MS_NOEXEC},
           {ST_NOATIME, MS_NOATIME},
           {ST_NODIRATIME, MS_NODIRATIME},
           {ST_RELATIME, MS_RELATIME}})
    if ((found.f_flag & there) != 0)
      flags |= flag;
  return flags;
}

// Where the old root is while mounts are made of it.
constexpr const char* kOldRoot = "/.before";
constexpr const char* kStage = "/tmp"; // any folder that exists will do

FileLayer find_layer() {
  if (const char* asked = std::getenv("KERNEVO_FILE_LAYER"); asked != nullptr)
    for (const FileLayer layer : {FileLayer::landlock, FileLayer::mount_namespace, FileLayer::none})
      if (name_of(layer) == asked)
        return layer;
  if (landlock::version() >= 1)
    return FileLayer::landlock;
  return can_make_namespace() ? FileLayer::mount_namespace : FileLayer::none;
}

} // namespace

FileLayer file_layer() {
  static const FileLayer layer = find_layer();
  return layer;
}

std::string_view name_of(FileLayer layer) {
  switch (layer) {
  case FileLayer::landlock: return "landlock";
  case FileLayer::mount_namespace: return "namespace";
  case FileLayer::none: break;
  }
  return "none";
}

Result<FileCage> FileCage::make(const FileAccess& access, FileLayer layer) {
  FileCage cage;
  cage.layer_ = layer;
  if (layer == FileLayer::none)
    return cage;
  if (layer == FileLayer::landlock) {
    const std::uint64_t handled = landlock::known_rights();
    cage.rules_ = FileDescriptor(
        static_cast<int>(syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0U)));
    if (!cage.rules_.valid())
      return tl::unexpected<Error>(refused("make rules for files"));
  } else {
    cage.user_map_ = fmt::format("{0} {0} 1", geteuid());
    cage.group_map_ = fmt::format("{0} {0} 1", getegid());
  }
  for (const bool writable : {false, true})
    for (const fs::path& path : writable ? access.writable : access.readable)
      KERNEVO_CHECK(layer == FileLayer::landlock ? cage.add_rule(path, writable)
                                                 : cage.add_mount(path, writable));
  return cage;
}

Result<void> FileCage::add_rule(const fs::path& path, bool writable) {
  const FileDescriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!file.valid())
    return {};
  struct stat found{};
  if (fstat(file.get(), &found) != 0)
    return tl::unexpected<Error>(refused("look at", path));
  std::uint64_t rights = writable ? landlock::kWriting : landlock::kReading;
  if (!S_ISDIR(found.st_mode))
    rights &= landlock::kOfFiles;
  const landlock::BeneathPath rule{rights & landlock::known_rights(), file.get()};
  if (syscall(SYS_landlock_add_rule, rules_.get(), 1, &rule, 0U) != 0)
    return tl::unexpected<Error>(refused("give a worker", path));
  return {};
}

Result<void> FileCage::add_mount(const fs::path& path, bool writable) {
  std::error_code problem;
  const fs::path real = fs::canonical(path, problem);
  if (problem)
    return {};
  Mount mount;
  mount.folder = fs::is_directory(real, problem);
  mount.writable = writable;
  mount.flags = mount_flags(real);
  mount.source = kOldRoot + real.string();
  mount.target = fs::absolute(path, problem).string();
  if (real != mount.target) // first where it is, then where a link to it is
    KERNEVO_CHECK(add_mount(real, writable));
  fs::path on_the_way;
  for (const fs::path& part : fs::path(mount.target).parent_path()) {
    on_the_way /= part;
    if (on_the_way != "/")
      mount.folders.push_back(on_the_way.string());
  }
  mounts_.push_back(std::move(mount));
  return {};
}

bool FileCage::enter() const {
  if (layer_ == FileLayer::none)
    return true;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return false;
  return layer_ == FileLayer::landlock ? syscall(SYS_landlock_restrict_self, rules_.get(), 0U) == 0
                                       : enter_namespace();
}

// A file system in memory becomes the root; what is given is mounted into it from the old root,
// which then goes.
bool FileCage::enter_namespace() const {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !write_whole("/proc/self/setgroups", "deny") ||
      !write_whole("/proc/self/uid_map", user_map_) ||
      !write_whole("/proc/self/gid_map", group_map_) ||
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", kStage, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") != 0 ||
      chdir(kStage) != 0 || mkdir(kOldRoot + 1, 0700) != 0 ||
      syscall(SYS_pivot_root, ".", kOldRoot + 1) != 0 || chdir("/") != 0)
    return false;
  for (const Mount& one : mounts_) {
    for (const std::string& folder : one.folders)
      if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST && errno != EROFS)
        return false;
    if (one.folder && mkdir(one.target.c_str(), 0755) != 0 && errno != EEXIST)
      return false;
    if (!one.folder) {
      const int file = open(one.target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
      if (file < 0 && errno == EEXIST)
        continue; // in a folder that was given
      if (file < 0)
        return false;
      close(file);
    }
    if (mount(one.source.c_str(), one.target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      return false;
    const unsigned long less = one.writable ? MS_NOEXEC : MS_RDONLY;
    if (mount(nullptr, one.target.c_str(), nullptr, MS_REMOUNT | MS_BIND | less | one.flags,
              nullptr) != 0)
      return false;
  }
  return umount2(kOldRoot, MNT_DETACH) == 0 && rmdir(kOldRoot) == 0 &&
         mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV,
               nullptr) == 0;
}

std::vector<fs::path> system_libraries() {
  std::vector<fs::path> files = {"/etc/ld.so.cache"};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        auto& found = *static_cast<std::vector<fs::path>*>(into);
        const fs::path path(info->dlpi_name);
        const std::string name = path.filename().string();
        if (name.starts_with("ld-"))
          found.push_back(path);
        if (name != "libc.so.6")
          return 0;
        for (const char* companion : {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2",
                                      "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6"})
          found.push_back(path.parent_path() / companion);
        return 0;
      },
      &files);
  return files;
}

} // namespace kernevo
