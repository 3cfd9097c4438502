// The file system as one process may see it: the files and folders it is given, and nothing else.
// Made before a fork, entered after it.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/worker_process.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct FileAccess {
  std::vector<std::filesystem::path> readable; // with all they hold; programs among them can run
  std::vector<std::filesystem::path> writable; // folders
};

// What holds the cage up. Landlock refuses what is not given; in a mount namespace it is not there.
enum class FileLayer { landlock, mount_namespace, none };

// The best this system has; $KERNEVO_FILE_LAYER (landlock, namespace, none) asks for another, to
// see what a system without it does.
FileLayer file_layer();
std::string_view name_of(FileLayer layer);

class FileCage {
public:
  // What does not exist is left out. With FileLayer::none there is nothing to enter.
  static Result<FileCage> make(const FileAccess& access, FileLayer layer = file_layer());

  FileLayer layer() const { return layer_; }
  // Irreversible, for this process and all it starts; paths stay what they were. False, with errno,
  // when the system refuses: the process must then not go on. Only async-signal-safe calls.
  bool enter() const;

private:
  struct Mount {
    std::vector<std::string> folders; // to make on the way
    std::string source;               // below the old root
    std::string target;
    bool folder = true;
    bool writable = false;
    unsigned long flags = 0; // of the file system it comes from, which must be kept
  };

  Result<void> add_rule(const std::filesystem::path& path, bool writable);
  Result<void> add_mount(const std::filesystem::path& path, bool writable);
  bool enter_namespace() const;

  FileLayer layer_ = FileLayer::none;
  FileDescriptor rules_; // of Landlock
  std::vector<Mount> mounts_;
  std::string user_map_;
  std::string group_map_;
};

// What a dynamically linked program needs to start: the loader, the C library and its companions.
std::vector<std::filesystem::path> system_libraries();

} // namespace kernevo
