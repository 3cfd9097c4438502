#include "kernevo/toolchain/build_cache.h"

#include "kernevo/base/hash.h"
#include "kernevo/model/json.h"
#include "kernevo/toolchain/toolkit_files.h"

#include <fmt/format.h>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

// Part of every key: to be raised when the same request would now build differently.
constexpr std::string_view kFormat = "kernevo-build-2";

void add(std::string& into, std::string_view part) {
  into += fmt::format("{}:", part.size()); // lengths keep neighbouring parts apart
  into += part;
}

// Folders of a 256th of the entries each.
fs::path entry(const std::string& key) {
  return fs::path(key.substr(0, 2)) / (key + ".json");
}

} // namespace

BuildCache BuildCache::from_environment() {
  return BuildCache(cache_folder());
}

BuildCache::BuildCache(fs::path folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)),
      files_(folder_.empty() ? fs::path() : folder_ / "builds", limit_bytes) {}

std::optional<Build> BuildCache::find(const std::string& key) const {
  const auto content = files_.find(entry(key));
  if (!content)
    return std::nullopt;
  auto build = build_from_json(*content);
  if (!build)
    return std::nullopt;
  build->from_cache = true;
  return *build;
}

Result<void> BuildCache::store(const std::string& key, const Build& build) const {
  auto stored = files_.store(entry(key), to_json(build));
  if (!stored) {
    stored.error().message = "the build cache cannot be written: " + stored.error().message;
    return stored;
  }
  if (key.starts_with("00") || key.starts_with("80")) // one store in 128 pays for looking around
    prune();
  return {};
}

Result<fs::path> BuildCache::probe() const {
  KERNEVO_CHECK(store("probe", Build{}));
  files_.remove(entry("probe"));
  return folder_;
}

void BuildCache::prune() const {
  files_.prune();
}

std::string build_key(const Toolchain& toolchain, const CompileRequest& request, bool nvcc,
                      CompilerReach reach) {
  std::string text;
  add(text, kFormat);
  add(text, nvcc ? "nvcc" : "nvrtc");
  add(text, toolchain.version);
  add(text, (nvcc ? toolchain.nvcc : toolchain.nvrtc).string());
  add(text, toolkit_identity(toolchain, nvcc));
  add(text, reach == CompilerReach::toolkit ? "caged" : "free");
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
