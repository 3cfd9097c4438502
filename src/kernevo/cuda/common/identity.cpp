#include "kernevo/cuda/common/identity.h"

#include "kernevo/base/hash.h"
#include "kernevo/hardware/gpu_table.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kernevo::cuda {
namespace fs = std::filesystem;
namespace {

// A file for each process that has a context, named by its number.
fs::path presence_folder() {
  return fmt::format("/dev/shm/kernevo-cuda-{}", geteuid());
}

bool is_our_folder(const fs::path& folder) {
  struct stat found{};
  return lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string own_file() {
  return (presence_folder() / std::to_string(getpid())).string();
}

} // namespace

const Gpu& played_gpu() {
  static const Gpu* const gpu = [] {
    const char* name = std::getenv("KERNEVO_GPU");
    auto found = find_gpu(name == nullptr || *name == '\0' ? "A100" : name);
    if (!found) {
      fmt::print(stderr, "kernevo: {}\n", format_error(found.error()));
      std::_Exit(2);
    }
    return new Gpu(std::move(*found));
  }();
  return *gpu;
}

std::string played_name(const Gpu& gpu) {
  return "virtual " + gpu.name;
}

std::array<unsigned char, 16> played_uuid(const Gpu& gpu) {
  const std::string hash = sha256_hex("kernevo virtual GPU " + gpu.name);
  std::array<unsigned char, 16> id{};
  for (std::size_t i = 0; i < id.size(); ++i)
    std::from_chars(hash.data() + 2 * i, hash.data() + 2 * i + 2, id.at(i), 16);
  return id;
}

std::string played_bus() {
  return "0000:00:00.0";
}

void announce_process() {
  const fs::path folder = presence_folder();
  mkdir(folder.c_str(), 0700);
  if (!is_our_folder(folder))
    return; // NVML then does not list it
  const int file = open(own_file().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0)
    close(file);
}

std::vector<unsigned> announced_processes() {
  std::vector<unsigned> ids;
  const fs::path folder = presence_folder();
  if (!is_our_folder(folder))
    return ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    unsigned id = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (problem != std::errc() || end != name.data() + name.size())
      continue;
    if (kill(static_cast<pid_t>(id), 0) == 0 || errno == EPERM)
      ids.push_back(id);
    else
      fs::remove(entry.path(), error); // it has ended without a word
  }
  std::ranges::sort(ids);
  return ids;
}

} // namespace kernevo::cuda
