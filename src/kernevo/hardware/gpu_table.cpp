#include "kernevo/hardware/gpu_table.h"

#include "kernevo/base/file_memo.h"
#include "kernevo/base/files.h"
#include "kernevo/base/one_line.h"
#include "kernevo/base/share_files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/hardware/own_gpus.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <variant>
#include <yaml-cpp/yaml.h>

namespace kernevo {
namespace {

struct IntegerField {
  int Gpu::* member;
};
struct SizeField {
  Bytes Gpu::* member;
  std::uint64_t unit;
  bool zero_allowed = false;
};
struct NumberField {
  double Gpu::* member;
};
struct RateField { // the only kind that may be absent
  std::optional<double> Gpu::* member;
};
struct TextField {
  std::string Gpu::* member;
};
struct ListField {
  std::vector<std::string> Gpu::* member;
};
using Field = std::variant<IntegerField, SizeField, NumberField, RateField, TextField, ListField>;

const std::map<std::string, Field>& fields() {
  static const std::map<std::string, Field> table = {
      {"name", TextField{&Gpu::name}},
      {"aliases", ListField{&Gpu::aliases}},
      {"source", TextField{&Gpu::source}},
      {"compute_capability", IntegerField{&Gpu::compute_capability}},
      {"multiprocessors", IntegerField{&Gpu::multiprocessors}},
      {"max_threads_per_block", IntegerField{&Gpu::max_threads_per_block}},
      {"max_threads_per_multiprocessor", IntegerField{&Gpu::max_threads_per_multiprocessor}},
      {"max_blocks_per_multiprocessor", IntegerField{&Gpu::max_blocks_per_multiprocessor}},
      {"registers_per_multiprocessor", IntegerField{&Gpu::registers_per_multiprocessor}},
      {"registers_per_block", IntegerField{&Gpu::registers_per_block}},
      {"max_registers_per_thread", IntegerField{&Gpu::max_registers_per_thread}},
      {"register_allocation_unit", IntegerField{&Gpu::register_allocation_unit}},
      {"warp_allocation_granularity", IntegerField{&Gpu::warp_allocation_granularity}},
      {"shared_per_multiprocessor_kib", SizeField{&Gpu::shared_per_multiprocessor, 1U << 10U}},
      {"shared_per_block_kib", SizeField{&Gpu::shared_per_block, 1U << 10U}},
      {"shared_per_block_optin_kib", SizeField{&Gpu::shared_per_block_optin, 1U << 10U}},
      {"shared_reserved_per_block_bytes", SizeField{&Gpu::shared_reserved_per_block, 1, true}},
      {"shared_allocation_unit_bytes", SizeField{&Gpu::shared_allocation_unit, 1}},
      {"memory_gib", SizeField{&Gpu::memory, 1U << 30U}},
      {"l1_and_shared_kib", SizeField{&Gpu::l1_and_shared, 1U << 10U}},
      {"l2_cache_kib", SizeField{&Gpu::l2_cache, 1U << 10U}},
      {"clock_ghz", NumberField{&Gpu::clock_ghz}},
      {"sustained_clock_ghz", RateField{&Gpu::sustained_clock_ghz}},
      {"dram_gbps", NumberField{&Gpu::dram_gbps}},
      {"l2_bytes_per_clock", RateField{&Gpu::l2_bytes_per_clock}},
      {"fp32_tflops", RateField{&Gpu::fp32_tflops}},
      {"fp64_tflops", RateField{&Gpu::fp64_tflops}},
      {"fp16_tflops", RateField{&Gpu::fp16_tflops}},
      {"tensor_fp16_tflops", RateField{&Gpu::tensor_fp16_tflops}},
      {"tensor_tf32_tflops", RateField{&Gpu::tensor_tf32_tflops}},
      {"tensor_fp64_tflops", RateField{&Gpu::tensor_fp64_tflops}},
      {"tensor_int8_tops", RateField{&Gpu::tensor_int8_tops}},
  };
  return table;
}

Place place_of(const std::string& file, const YAML::Mark& mark) {
  return {file, mark.line + 1, mark.column + 1};
}

// Sets one field; the complaint says what was expected, or is empty.
class Setter {
public:
  Setter(Gpu& gpu, const YAML::Node& value) : gpu_(gpu), value_(value) {}

  std::string operator()(IntegerField field) const {
    return whole(1, std::numeric_limits<int>::max(),
                 [&](std::int64_t number) { gpu_.*field.member = static_cast<int>(number); });
  }
  std::string operator()(SizeField field) const {
    return whole(field.zero_allowed ? 0 : 1, std::int64_t{1} << 30U, [&](std::int64_t number) {
      gpu_.*field.member = Bytes{static_cast<std::uint64_t>(number) * field.unit};
    });
  }
  std::string operator()(NumberField field) const {
    return positive([&](double number) { gpu_.*field.member = number; });
  }
  std::string operator()(RateField field) const {
    return positive([&](double number) { gpu_.*field.member = number; });
  }
  std::string operator()(TextField field) const {
    if (!value_.IsScalar() || value_.Scalar().empty())
      return "must be a text";
    gpu_.*field.member = value_.Scalar();
    return "";
  }
  std::string operator()(ListField field) const {
    if (!value_.IsSequence())
      return "must be a list of names";
    for (const YAML::Node& item : value_) {
      if (!item.IsScalar() || item.Scalar().empty())
        return "must be a list of names";
      (gpu_.*field.member).push_back(item.Scalar());
    }
    return "";
  }

private:
  template <class Set> std::string whole(std::int64_t low, std::int64_t high, Set set) const {
    std::int64_t number = 0;
    if (!value_.IsScalar() || !YAML::convert<std::int64_t>::decode(value_, number) ||
        number < low || number > high)
      return fmt::format("must be a whole number from {} to {}", low, high);
    set(number);
    return "";
  }
  template <class Set> std::string positive(Set set) const {
    double number = 0;
    if (!value_.IsScalar() || !YAML::convert<double>::decode(value_, number) || !(number > 0) ||
        !std::isfinite(number))
      return "must be a number above 0";
    set(number);
    return "";
  }

  Gpu& gpu_;
  const YAML::Node& value_;
};

Result<Gpu> read_gpu(const YAML::Node& root, const std::string& file) {
  if (!root.IsMap())
    return fail(ErrorCode::input, "a GPU file must be a list of 'key: value' lines",
                place_of(file, root.Mark()));
  std::vector<std::string> known;
  for (const auto& [key, field] : fields())
    known.push_back(key);

  Gpu gpu;
  std::set<std::string> seen;
  for (const auto& entry : root) {
    const Place place = place_of(file, entry.first.Mark());
    if (!entry.first.IsScalar())
      return fail(ErrorCode::input, "a key must be a plain word", place);
    const std::string& key = entry.first.Scalar();
    const auto found = fields().find(key);
    if (found == fields().end())
      return fail(ErrorCode::input,
                  fmt::format("unknown key '{}'{}", key, did_you_mean(key, known)), place);
    if (!seen.insert(key).second)
      return fail(ErrorCode::input, fmt::format("'{}' is given twice", key), place);
    const std::string complaint = std::visit(Setter(gpu, entry.second), found->second);
    if (!complaint.empty())
      return fail(ErrorCode::input, fmt::format("'{}' {}", key, complaint),
                  place_of(file, entry.second.Mark()));
  }
  for (const auto& [key, field] : fields())
    if (!seen.contains(key) && !std::holds_alternative<RateField>(field))
      return fail(ErrorCode::input, fmt::format("'{}' is missing", key), Place{file, 1});
  if (gpu.shared_per_block > gpu.shared_per_block_optin ||
      gpu.shared_per_block_optin + gpu.shared_reserved_per_block > gpu.shared_per_multiprocessor)
    return fail(ErrorCode::input,
                "shared memory per block (with what is reserved) exceeds the multiprocessor's",
                Place{file, 1});
  return gpu;
}

Result<Gpu> load_gpu(const std::filesystem::path& path) {
  KERNEVO_TRY(text, read_text_file(path, std::uintmax_t{1} << 20U));
  try {
    return read_gpu(YAML::Load(text), path.string());
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::input, error.msg, place_of(path.string(), error.mark));
  }
}

// "NVIDIA GeForce RTX 4090", "rtx-4090" and "RTX4090" are one GPU.
std::string normalised(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array<std::string_view, 3> brands = {"nvidia", "geforce", "tesla"};
  for (const std::string_view brand : brands)
    if (plain.starts_with(brand))
      plain.erase(0, brand.size());
  return plain;
}

struct Owner {
  std::string file;
  bool own = false; // a user's
};

Result<Gpu> parsed_gpu(const std::filesystem::path& path) {
  static FileMemo<Gpu> parsed;
  return parsed.get(path, load_gpu);
}

Result<void> add_gpu(const std::filesystem::path& path, bool own,
                     std::map<std::string, Owner>& owners, std::vector<Gpu>& gpus) {
  KERNEVO_TRY(gpu, parsed_gpu(path));
  std::set<std::string> names = {normalised(gpu.name)};
  for (const std::string& alias : gpu.aliases)
    names.insert(normalised(alias));
  for (const std::string& name : names) {
    const auto other = owners.find(name);
    if (other == owners.end())
      continue;
    if (other->second.own == own)
      return fail(ErrorCode::input,
                  fmt::format("the name '{}' already belongs to {}", name, other->second.file),
                  Place{path.string(), 1});
    return {}; // a user's file stands for it
  }
  for (const std::string& name : names)
    owners.emplace(name, Owner{path.filename().string(), own});
  gpus.push_back(std::move(gpu));
  return {};
}

// The list that messages use: the first that was read.
const std::vector<Gpu>& keep(const std::vector<Gpu>* read) {
  static const std::vector<Gpu> gpus =
      read != nullptr ? *read : load_gpus().value_or(std::vector<Gpu>{});
  return gpus;
}

} // namespace

Result<std::vector<Gpu>> load_gpus() {
  KERNEVO_TRY(paths, share_files("gpus"));
  if (paths.empty())
    return fail(ErrorCode::infrastructure, "holds no GPU files (*.yaml)",
                Place{(share_folder().value() / "gpus").string()},
                "reinstall, or set KERNEVO_SHARE to a complete data folder");

  KERNEVO_TRY(own, own_gpu_files());
  std::vector<Gpu> gpus;
  std::map<std::string, Owner> owners; // by normalised name
  // Theirs first: a GPU that somebody keeps a file of goes by that file.
  for (const std::filesystem::path& path : own)
    KERNEVO_CHECK(add_gpu(path, true, owners, gpus));
  for (const std::filesystem::path& path : paths)
    KERNEVO_CHECK(add_gpu(path, false, owners, gpus));
  std::sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) { return a.name < b.name; });
  return gpus;
}

Result<std::map<std::string, std::filesystem::path>> own_gpus() {
  KERNEVO_TRY(paths, own_gpu_files());
  std::map<std::string, std::filesystem::path> own;
  for (const std::filesystem::path& path : paths) {
    KERNEVO_TRY(gpu, parsed_gpu(path));
    own.emplace(gpu.name, path);
  }
  return own;
}

const std::vector<Gpu>& known_gpus() {
  return keep(nullptr);
}

Result<Gpu> find_gpu(const std::string& name) {
  KERNEVO_TRY(gpus, load_gpus());
  keep(&gpus);
  const std::string wanted = normalised(name);
  std::vector<std::string> names;
  std::vector<std::string> all;
  for (Gpu& gpu : gpus) {
    names.push_back(gpu.name);
    all.push_back(gpu.name);
    all.insert(all.end(), gpu.aliases.begin(), gpu.aliases.end());
    const bool alias = std::any_of(gpu.aliases.begin(), gpu.aliases.end(),
                                   [&](const std::string& a) { return normalised(a) == wanted; });
    if (alias || normalised(gpu.name) == wanted)
      return std::move(gpu);
  }
  constexpr std::size_t shown = 200; // bytes of what somebody typed
  return fail(ErrorCode::input,
              fmt::format("unknown GPU '{}'{}", one_line(name, shown), did_you_mean(name, all)),
              std::nullopt, fmt::format("use one of {}", fmt::join(names, ", ")));
}

} // namespace kernevo
