#include "kernevo/explain/match_ncu.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <utility>

namespace kernevo {
namespace {

std::string extent_text(const std::array<std::uint32_t, 3>& extent) {
  return fmt::format("({})", fmt::join(extent, ", "));
}

bool is_the_launch(const NcuLaunch& read, const LaunchCounts& planned) {
  return read.readings.kernel == bare_kernel_name(planned.kernel) &&
         (!read.grid || *read.grid == planned.grid) &&
         (!read.block || *read.block == planned.block);
}

class Matching {
public:
  Matching(const std::vector<NcuLaunch>& launches, const std::string& file, const CounterMap& map,
           const Gpu& gpu)
      : launches_(launches), file_(file), map_(map), gpu_(gpu), used_(launches.size(), false) {}

  Result<CounterReadings> find(const PlannedCase& wanted, const LaunchCounts& planned) {
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (used_[i] || !is_the_launch(launches_[i], planned))
        continue;
      KERNEVO_CHECK(check(launches_[i]));
      used_[i] = true;
      return launches_[i].readings;
    }
    return tl::unexpected<Error>(absent(wanted, planned));
  }

private:
  Result<void> check(const NcuLaunch& launch) const {
    const Place place{file_, launch.line};
    if (launch.compute_capability && *launch.compute_capability != gpu_.compute_capability)
      return fail(ErrorCode::input,
                  fmt::format("'{}' was counted on a GPU of compute capability {}.{}, {} has {}.{}",
                              launch.readings.kernel, *launch.compute_capability / 10,
                              *launch.compute_capability % 10, gpu_.name,
                              gpu_.compute_capability / 10, gpu_.compute_capability % 10),
                  place, "name the GPU it was counted on with --gpu or --device");
    const MetricSource* missing = map_.missing(launch.readings);
    if (missing == nullptr)
      return {};
    const std::set<std::string> names = missing->counted.front().names();
    return fail(ErrorCode::input,
                fmt::format("'{}' has no {}, which {} comes of", launch.readings.kernel,
                            fmt::join(names, " and "), missing->metric),
                place,
                "run ncu with --page raw and '--set full' or the --metrics of "
                "docs/profiling.md");
  }

  Error absent(const PlannedCase& wanted, const LaunchCounts& planned) const {
    std::size_t others = 0;
    std::set<std::string> kernels;
    for (const NcuLaunch& launch : launches_) {
      kernels.insert(launch.readings.kernel);
      others += launch.readings.kernel == bare_kernel_name(planned.kernel) ? 1 : 0;
    }
    Error error{ErrorCode::input, "", Place{file_}, ""};
    if (others == 0) {
      error.message = fmt::format("holds no launch of '{}', only of {}", planned.kernel,
                                  fmt::join(kernels, ", "));
      error.fix = "let ncu run this kernel";
    } else {
      error.message = fmt::format("holds no{} launch of '{}' with grid {} and block {}, as the "
                                  "shape '{}' wants it",
                                  was_used(planned) ? " further" : "", planned.kernel,
                                  extent_text(planned.grid), extent_text(planned.block), wanted.id);
      error.fix = "let ncu run this shape with these parameters, or name one it has with --case";
    }
    return error;
  }

  bool was_used(const LaunchCounts& planned) const {
    for (std::size_t i = 0; i < launches_.size(); ++i)
      if (used_[i] && is_the_launch(launches_[i], planned))
        return true;
    return false;
  }

  const std::vector<NcuLaunch>& launches_;
  const std::string& file_;
  const CounterMap& map_;
  const Gpu& gpu_;
  std::vector<bool> used_;
};

} // namespace

Result<HardwareCounters> match_ncu(const std::vector<NcuLaunch>& launches, const std::string& file,
                                   const std::vector<PlannedCase>& cases, const CounterMap& map,
                                   const Gpu& gpu) {
  HardwareCounters counters;
  counters.origin = CounterOrigin::file;
  counters.source = std::filesystem::path(file).filename().string();
  Matching matching(launches, file, map, gpu);
  for (const PlannedCase& one : cases)
    for (const LaunchCounts* planned : one.launches) {
      KERNEVO_TRY(readings, matching.find(one, *planned));
      counters.cases[one.id].push_back(std::move(readings));
    }
  return counters;
}

} // namespace kernevo
