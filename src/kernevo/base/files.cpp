#include "kernevo/base/files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <link.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace kernevo {
namespace fs = std::filesystem;

Result<std::string> read_text_file(const fs::path& path, std::uintmax_t limit) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return fail(ErrorCode::input, "is a folder, not a file", Place{path.string()});
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return fail(ErrorCode::input, fmt::format("cannot be read: {}", std::strerror(errno)),
                Place{path.string()}, "check the path and its permissions");
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > limit)
    return fail(ErrorCode::input, fmt::format("is {} bytes, over the limit of {}", size, limit),
                Place{path.string()});
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
  auto trouble = [&](const char* step) {
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot {} the file: {}", step, std::strerror(errno)),
                Place{path.string()}, "check free space and permissions");
  };
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0)
    return trouble("create");
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + written, bytes.size() - written);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      auto result = trouble("write");
      close(fd);
      unlink(temporary.c_str());
      return result;
    }
    written += static_cast<std::size_t>(n);
  }
  // mkstemp makes files private; the result should look like any other file of the user's.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  if (close(fd) != 0 || rename(temporary.c_str(), path.c_str()) != 0) {
    auto result = trouble("finish");
    unlink(temporary.c_str());
    return result;
  }
  return {};
}

Result<fs::path> share_folder() {
  std::vector<fs::path> places;
  if (const char* set = std::getenv("KERNEVO_SHARE"))
    places.emplace_back(set);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // A library of ours in somebody else's program: PREFIX/lib/kernevo/cuda.
  // The main program has no name there.
  Dl_info own{};
  link_map* object = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&share_folder), &own, reinterpret_cast<void**>(&object),
              RTLD_DL_LINKMAP) != 0 &&
      object != nullptr && *object->l_name != '\0')
    places.push_back(
        (fs::weakly_canonical(object->l_name, error).parent_path() / "../../../share/kernevo")
            .lexically_normal());
  if (!program.empty()) {
    places.push_back(program.parent_path() / "share");
    places.push_back(program.parent_path().parent_path() / "share" / "kernevo");
  }
  places.emplace_back(KERNEVO_SOURCE_SHARE);
  for (const fs::path& place : places)
    if (fs::is_directory(place / "gpus", error))
      return place;
  return fail(ErrorCode::infrastructure, "the data folder 'share' was not found", std::nullopt,
              "set KERNEVO_SHARE to the folder that holds 'gpus'");
}

} // namespace kernevo
