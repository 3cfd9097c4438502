#include "kernevo/calibrate/time_probe.h"

#include "kernevo/evaluate/episode.h"
#include "kernevo/timing/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <utility>
#include <vector>

namespace kernevo::calibrate {
namespace {

// A figure that is known no better is none.
constexpr double kMostSpread = 0.10;
constexpr double kSeconds = 60; // of a launch
// What a shot of the largest size may take by the wall clock. On a GPU that is next to nothing; a
// library that plays one computes on this machine's processor.
constexpr double kSecondsOfShot = 0.1;
constexpr double kMostSecondsOfShot = 20;

MeasurePlan plan_of_probe() {
  MeasurePlan plan;
  plan.warm_up.window = 3;
  plan.warm_up.max_shots = 30;
  plan.warm_up.max_time = {5e8};
  plan.min_samples = 6;
  plan.max_samples = 200;
  plan.time_limit = {60e9};
  plan.max_discarded = 100;
  return plan;
}

class Runner {
public:
  Runner(Device& device, LoadedModule& module, const Probe& probe)
      : device_(device), module_(module), probe_(probe) {}

  Result<ProbeTime> run() {
    time_.probe = probe_.name;
    if (probe_.work_per_size == 0) {
      KERNEVO_TRY(point, time_size(probe_.first));
      if (point)
        time_.at = *point;
      return std::move(time_);
    }
    KERNEVO_TRY(first, first_size());
    if (!time_.failed.empty())
      return std::move(time_);
    std::array<Point, kSizes> points;
    for (std::size_t i = 0; i < kSizes; ++i) {
      KERNEVO_TRY(point, time_size(first * static_cast<std::int64_t>(i + 1)));
      if (!point)
        return std::move(time_);
      points.at(i) = *point;
    }
    time_.fit = fit_line(points, time_.failed);
    return std::move(time_);
  }

private:
  struct Run {
    RunRequest request;
    Arena arena;
  };
  Result<Run> run_at(std::int64_t size) const {
    RunRequest request;
    request.plan = probe_.plan(device_.gpu(), size);
    request.seconds = kSeconds;
    KERNEVO_TRY(arena, Arena::create({64})); // what probes work on lies in scratch buffers
    return Run{std::move(request), std::move(arena)};
  }
  Result<std::unique_ptr<DeviceShots>> shots_of(const Run& run) const {
    return device_.shots({&module_, &run.request, &run.arena}, nullptr, CacheState::cold);
  }

  // As large as a shot's cost allows: that of the second, for the first brings in code and tables.
  Result<std::int64_t> first_size() {
    KERNEVO_TRY(run, run_at(probe_.least * static_cast<std::int64_t>(kSizes)));
    KERNEVO_TRY(shots, shots_of(run));
    double seconds = 0;
    for (int shot = 0; shot < 2; ++shot) {
      const auto began = std::chrono::steady_clock::now();
      const auto taken = take_shot(*shots, Side::incumbent);
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (const auto fault = shots->fault()) {
        time_.failed = fault->finding.message;
        return probe_.least;
      }
      if (!taken)
        return tl::unexpected<Error>(taken.error());
    }
    if (seconds > kMostSecondsOfShot)
      time_.failed = fmt::format("a shot takes {:.0f} s here", seconds);
    const auto times = static_cast<std::int64_t>(kSecondsOfShot / std::max(seconds, 1e-6));
    return std::clamp(times * probe_.least, probe_.least, probe_.first);
  }

  // Nothing, with the reason in the record, where the probe is at fault.
  Result<std::optional<Point>> time_size(std::int64_t size) {
    KERNEVO_TRY(run, run_at(size));
    std::optional<Point> point;
    const auto once = [&](int) -> Result<std::vector<std::string>> {
      KERNEVO_TRY(shots, shots_of(run));
      Receipt receipt;
      receipt.device = title_of(device_.identity());
      receipt.stand_in = device_.identity().stand_in;
      auto timing =
          measure(*shots, device_.clock(), Side::incumbent, plan_of_probe(), std::move(receipt));
      if (const auto fault = shots->fault()) {
        time_.failed = fault->finding.message;
        return std::vector<std::string>();
      }
      if (!timing)
        return tl::unexpected<Error>(timing.error());
      time_.shots += timing->samples.size();
      point = Point{static_cast<double>(size), timing->median.value,
                    std::max(timing->interval.high.value - timing->median.value,
                             timing->median.value - timing->interval.low.value)};
      return std::vector<std::string>();
    };
    KERNEVO_TRY(conditions, time_undisturbed(device_, once));
    if (!conditions.disturbances.empty())
      return fail(
          ErrorCode::infrastructure,
          fmt::format("{} is never quiet: {}", device_.identity().name, conditions.complaint()),
          std::nullopt, "end what else runs on it, or let it cool down");
    return point;
  }

  Device& device_;
  LoadedModule& module_;
  const Probe& probe_;
  ProbeTime time_;
};

} // namespace

std::optional<Fit> fit_line(const std::array<Point, kSizes>& points, std::string& why) {
  double mean_size = 0;
  double mean_ns = 0;
  for (const Point& point : points) {
    mean_size += point.size / kSizes;
    mean_ns += point.ns / kSizes;
  }
  double along = 0;
  double across = 0;
  for (const Point& point : points) {
    along += (point.size - mean_size) * (point.size - mean_size);
    across += (point.size - mean_size) * (point.ns - mean_ns);
  }
  const double slope = along > 0 ? across / along : 0;
  const double grown = slope * (points.back().size - points.front().size);
  if (!(grown > 0)) {
    why = "it takes no longer when it does more";
    return std::nullopt;
  }
  double bend = 0;
  for (const Point& point : points)
    bend = std::max(bend, std::abs(point.ns - mean_ns - slope * (point.size - mean_size)));
  const double noise = points.front().half_width + points.back().half_width;
  const double spread = std::max(bend, noise) / grown;
  if (spread > kMostSpread) {
    why = fmt::format("{} by {:.0f} %",
                      bend > noise ? "its times are off a line" : "noise hides it", spread * 100);
    return std::nullopt;
  }
  return Fit{slope, spread};
}

Result<ProbeTime> time_probe(Device& device, LoadedModule& module, const Probe& probe) {
  return Runner(device, module, probe).run();
}

} // namespace kernevo::calibrate
