#include "kernevo/toolchain/build_cache.h"

#include "kernevo/base/files.h"
#include "kernevo/base/hash.h"
#include "kernevo/model/json.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

// Part of every key: to be raised when the same request would now build differently.
constexpr std::string_view kFormat = "kernevo-build-1";
constexpr std::size_t kHashLength = 64;

void add(std::string& into, std::string_view part) {
  into += fmt::format("{}:", part.size()); // lengths keep neighbouring parts apart
  into += part;
}

void add_file(std::string& into, const fs::path& path) {
  std::error_code problem;
  add(into, path.string());
  if (path.empty())
    return;
  const auto size = fs::file_size(path, problem);
  const auto time = fs::last_write_time(path, problem);
  add(into, problem ? "absent" : fmt::format("{} {}", size, time.time_since_epoch().count()));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

} // namespace

BuildCache BuildCache::from_environment() {
  if (const std::string set = environment("KERNEVO_CACHE"); !set.empty())
    return BuildCache(set == "off" ? fs::path() : fs::path(set));
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty())
    return BuildCache(fs::path(xdg) / "kernevo");
  if (const std::string home = environment("HOME"); !home.empty())
    return BuildCache(fs::path(home) / ".cache" / "kernevo");
  return BuildCache(fs::path());
}

BuildCache::BuildCache(fs::path folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_(limit_bytes) {}

fs::path BuildCache::entry(const std::string& key) const {
  return folder_ / "builds" / key.substr(0, 2) / (key + ".json");
}

std::optional<Build> BuildCache::find(const std::string& key) const {
  if (folder_.empty())
    return std::nullopt;
  const fs::path path = entry(key);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    return std::nullopt;
  const auto text = read_text_file(path);
  if (!text || text->size() <= kHashLength)
    return std::nullopt;
  const std::string_view body = std::string_view(*text).substr(kHashLength + 1);
  if (text->substr(0, kHashLength) != sha256_hex(body))
    return std::nullopt;
  auto build = build_from_json(body);
  if (!build)
    return std::nullopt;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored); // used just now
  build->from_cache = true;
  return *build;
}

Result<void> BuildCache::store(const std::string& key, const Build& build) const {
  if (folder_.empty())
    return {};
  const fs::path path = entry(key);
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  if (problem)
    return fail(ErrorCode::infrastructure,
                fmt::format("the build cache cannot be written: {}", problem.message()),
                Place{folder_.string()}, "set KERNEVO_CACHE to a writable folder, or to 'off'");
  const std::string body = to_json(build);
  if (auto written = write_file_atomically(path, sha256_hex(body) + "\n" + body); !written) {
    written.error().message = "the build cache cannot be written: " + written.error().message;
    written.error().fix = "set KERNEVO_CACHE to a writable folder, or to 'off'";
    return written;
  }
  if (key.starts_with("00") || key.starts_with("80")) // one store in 128 pays for looking around
    prune();
  return {};
}

Result<fs::path> BuildCache::probe() const {
  if (folder_.empty())
    return folder_;
  KERNEVO_CHECK(store("probe", Build{}));
  std::error_code ignored;
  fs::remove(entry("probe"), ignored);
  return folder_;
}

void BuildCache::prune() const {
  struct Entry {
    fs::path path;
    std::uint64_t size;
    fs::file_time_type time;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(folder_ / "builds", problem), end; !problem && at != end;
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

std::string build_key(const Toolchain& toolchain, const CompileRequest& request, bool nvcc) {
  std::string text;
  add(text, kFormat);
  add(text, nvcc ? "nvcc" : "nvrtc");
  add(text, toolchain.version);
  add_file(text, nvcc ? toolchain.nvcc : toolchain.nvrtc);
  add_file(text, request.resources ? toolchain.ptxas : fs::path());
  add(text, request.source);
  add(text, request.file);
  add(text, fmt::format("{}", request.first_line));
  add(text, request.architecture);
  for (const auto& [name, value] : request.macros) {
    add(text, name);
    add(text, value);
  }
  add(text, "flags");
  for (const std::string& flag : request.flags)
    add(text, flag);
  add(text, "names");
  for (const std::string& name : request.name_expressions)
    add(text, name);
  add(text, fmt::format("{} {}", request.max_registers.value_or(0), request.resources));
  return sha256_hex(text);
}

} // namespace kernevo
