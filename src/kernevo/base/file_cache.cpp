#include "kernevo/base/file_cache.h"

#include "kernevo/base/files.h"
#include "kernevo/base/hash.h"

#include <algorithm>
#include <cstdlib>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHashLength = 64;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

} // namespace

fs::path cache_folder() {
  if (const std::string set = environment("KERNEVO_CACHE"); !set.empty())
    return set == "off" ? fs::path() : fs::path(set);
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "kernevo";
  if (const std::string home = environment("HOME"); !home.empty())
    return fs::path(home) / ".cache" / "kernevo";
  return {};
}

FileCache::FileCache(fs::path folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_(limit_bytes) {}

std::optional<std::string> FileCache::find(const fs::path& name) const {
  if (folder_.empty())
    return std::nullopt;
  const fs::path path = folder_ / name;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    return std::nullopt;
  auto text = read_text_file(path);
  if (!text || text->size() <= kHashLength)
    return std::nullopt;
  const std::string_view content = std::string_view(*text).substr(kHashLength + 1);
  if (text->substr(0, kHashLength) != sha256_hex(content))
    return std::nullopt;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored); // used just now
  return std::string(content);
}

Result<void> FileCache::store(const fs::path& name, std::string_view content) const {
  if (folder_.empty())
    return {};
  const fs::path path = folder_ / name;
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  if (problem)
    return fail(ErrorCode::infrastructure, problem.message(), Place{path.parent_path().string()},
                "set KERNEVO_CACHE to a writable folder, or to 'off'");
  auto written = write_file_atomically(path, sha256_hex(content) + "\n" + std::string(content));
  if (!written)
    written.error().fix = "set KERNEVO_CACHE to a writable folder, or to 'off'";
  return written;
}

void FileCache::remove(const fs::path& name) const {
  std::error_code ignored;
  fs::remove(folder_ / name, ignored);
}

std::vector<fs::path> FileCache::list(const fs::path& folder) const {
  std::vector<fs::path> names;
  std::error_code problem;
  if (folder_.empty())
    return names;
  for (fs::directory_iterator at(folder_ / folder, problem), end; !problem && at != end;
       at.increment(problem))
    names.push_back(folder / at->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void FileCache::prune() const {
  struct Entry {
    fs::path path;
    std::uint64_t size;
    fs::file_time_type time;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(folder_, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code gone; // another process may prune at the same time
    if (!at->is_regular_file(gone))
      continue;
    const Entry entry{at->path(), at->file_size(gone), at->last_write_time(gone)};
    if (gone)
      continue;
    total += entry.size;
    entries.push_back(entry);
  }
  if (total <= limit_)
    return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const Entry& entry : entries) {
    if (total <= limit_ / 10 * 9)
      return;
    if (fs::remove(entry.path, problem))
      total -= entry.size;
  }
}

} // namespace kernevo
