#include "kernevo/hardware/architecture_table.h"

#include "kernevo/base/file_memo.h"
#include "kernevo/base/files.h"
#include "kernevo/base/share_files.h"
#include "kernevo/base/suggest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <yaml-cpp/yaml.h>

namespace kernevo {
namespace {

using Number = double Architecture::*;

const std::map<std::string, Number>& numbers() {
  static const std::map<std::string, Number> table = {
      {"fp32_lanes", &Architecture::fp32_lanes},
      {"integer_multiply_lanes", &Architecture::integer_multiply_lanes},
      {"integer_lanes", &Architecture::integer_lanes},
      {"fp16_lanes", &Architecture::fp16_lanes},
      {"fp64_lanes", &Architecture::fp64_lanes},
      {"special_function_lanes", &Architecture::special_function_lanes},
      {"load_store_units", &Architecture::load_store_units},
      {"shared_bytes_per_clock", &Architecture::shared_bytes_per_clock},
      {"l1_bytes_per_clock", &Architecture::l1_bytes_per_clock},
      {"l2_bytes_per_clock", &Architecture::l2_bytes_per_clock},
      {"shared_latency", &Architecture::shared_latency},
      {"l1_latency", &Architecture::l1_latency},
      {"l2_latency", &Architecture::l2_latency},
      {"dram_latency", &Architecture::dram_latency},
      {"constant_latency", &Architecture::constant_latency},
      {"special_function_latency", &Architecture::special_function_latency},
      {"fp64_latency", &Architecture::fp64_latency},
      {"tensor_latency", &Architecture::tensor_latency},
      {"instruction_cache_kib", &Architecture::instruction_cache_kib},
      {"host_link_gbps", &Architecture::host_link_gbps},
  };
  return table;
}

Result<Architecture> read(const std::filesystem::path& path) {
  KERNEVO_TRY(text, read_text_file(path));
  const std::string file = path.string();
  const auto place = [&](const YAML::Mark& mark) {
    return Place{file, mark.line + 1, mark.column + 1};
  };
  Architecture architecture;
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap())
      return fail(ErrorCode::input, "an architecture file must be a list of 'key: value' lines",
                  Place{file, 1});
    std::vector<std::string> known = {"source"};
    for (const auto& [key, member] : numbers())
      known.push_back(key);
    std::set<std::string> missing(known.begin(), known.end());
    for (const auto& entry : root) {
      const auto key = entry.first.as<std::string>();
      if (missing.erase(key) == 0)
        return fail(ErrorCode::input,
                    fmt::format("unknown or repeated key '{}'{}", key, did_you_mean(key, known)),
                    place(entry.first.Mark()));
      if (key == "source") {
        architecture.source = entry.second.as<std::string>();
        continue;
      }
      double value = 0;
      if (!YAML::convert<double>::decode(entry.second, value) || !(value > 0) ||
          !std::isfinite(value))
        return fail(ErrorCode::input, fmt::format("'{}' must be a number above 0", key),
                    place(entry.second.Mark()));
      architecture.*numbers().at(key) = value;
    }
    if (!missing.empty())
      return fail(ErrorCode::input, fmt::format("'{}' is missing", *missing.begin()),
                  Place{file, 1});
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::input, error.msg, place(error.mark));
  }
  return architecture;
}

// 86 of "sm_86.yaml".
std::optional<int> capability_of(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  int number = 0;
  if (!stem.starts_with("sm_") ||
      std::from_chars(stem.data() + 3, stem.data() + stem.size(), number).ptr !=
          stem.data() + stem.size())
    return std::nullopt;
  return number;
}

} // namespace

Result<bool> has_architecture(int compute_capability) {
  KERNEVO_TRY(paths, share_files("architectures"));
  return std::ranges::any_of(paths, [&](const std::filesystem::path& path) {
    return capability_of(path) == compute_capability;
  });
}

Result<Architecture> find_architecture(int compute_capability) {
  KERNEVO_TRY(paths, share_files("architectures"));
  std::optional<int> best;
  std::filesystem::path best_path;
  for (const std::filesystem::path& path : paths)
    if (const auto found = capability_of(path);
        found && *found <= compute_capability && (!best || *found > *best)) {
      best = found;
      best_path = path;
    }
  if (!best)
    return fail(ErrorCode::infrastructure,
                fmt::format("holds no architecture at or below sm_{}", compute_capability),
                Place{(share_folder().value() / "architectures").string()},
                "reinstall, or set KERNEVO_SHARE to a complete data folder");
  static FileMemo<Architecture> parsed;
  KERNEVO_TRY(architecture, parsed.get(best_path, read));
  architecture.compute_capability = compute_capability;
  return architecture;
}

} // namespace kernevo
