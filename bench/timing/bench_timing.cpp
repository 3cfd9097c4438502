// How often the comparison of two kernels is wrong, and how often it finds a difference that is
// there, by noise. Prints a tab-separated table:
//   bench_timing [--trials N] [--seed S] [--time NS] [--blocks N] [--recorded] [--only NAME]...
// With --recorded, series of recorded times are read from the standard input instead of simulated
// noise: lines of "NAME time time ...", each the shots of one kernel in order (run.py makes them).
#include "kernevo/timing/compare_interleaved.h"
#include "kernevo/timing/statistics.h"
#include "simulated_shots.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <sstream>

namespace kernevo {
namespace {

struct Rates {
  std::array<double, 5> by_standing{}; // fractions of the trials
  double covered = 0;                  // true ratio inside the interval, of those with one
  double shots = 0;                    // median, warm-up included
  double most_shots = 0;

  double of(Standing standing) const { return by_standing[static_cast<std::size_t>(standing)]; }
};

struct Setting {
  int trials = 0;
  std::uint64_t seed = 0;
  Nanoseconds time;
  ComparePlan plan;
};

Rates run(const NoiseModel& model, double speed_up, const Setting& setting) {
  Rates rates;
  std::vector<double> shots;
  double intervals = 0;
  for (int trial = 0; trial < setting.trials; ++trial) {
    const std::uint64_t seed = setting.seed + static_cast<std::uint64_t>(trial);
    // The noise and the coins must not share their draws.
    SimulatedShots device(setting.time, {setting.time.value / speed_up}, model.start(~seed));
    Receipt receipt;
    receipt.device = "simulated";
    receipt.seed = seed;
    receipt.episode = "bench";
    const auto episode = compare_interleaved(device, device, setting.plan, receipt);
    if (!episode)
      throw std::runtime_error(format_error(episode.error()));
    rates.by_standing[static_cast<std::size_t>(episode->comparison.standing)] += 1;
    if (const auto& ratio = episode->comparison.ratio) {
      intervals += 1;
      rates.covered += ratio->low <= speed_up && speed_up <= ratio->high ? 1 : 0;
    }
    shots.push_back(static_cast<double>(device.shots()));
  }
  for (double& rate : rates.by_standing)
    rate /= setting.trials;
  rates.covered /= std::max(1.0, intervals);
  rates.shots = median_of(shots);
  rates.most_shots = *std::ranges::max_element(shots);
  return rates;
}

// What is common elsewhere, for scale: 100 shots of one, then 100 of the other, the means compared.
double naive_false_faster(const NoiseModel& model, const Setting& setting) {
  int faster = 0;
  for (int trial = 0; trial < setting.trials; ++trial) {
    SimulatedShots device(setting.time, setting.time,
                          model.start(~(setting.seed + static_cast<std::uint64_t>(trial))));
    std::array<double, 2> sums{};
    for (const Side side : {Side::incumbent, Side::candidate})
      for (int shot = 0; shot < 100; ++shot)
        sums[static_cast<std::size_t>(side)] += device.shoot(side)->time.value;
    faster += sums[1] < sums[0] ? 1 : 0;
  }
  return static_cast<double>(faster) / setting.trials;
}

void print_row(const NoiseModel& model, const Setting& setting) {
  const Rates same = run(model, 1, setting);
  const Rates one = run(model, 1.01, setting);
  const Rates two = run(model, 1.02, setting);
  const Rates five = run(model, 1.05, setting);
  fmt::print(
      "{}\t{:.2f}\t{:.2f}\t{:.1f}\t{:.1f}\t{:.1f}\t{:.1f}\t{:.1f}\t{:.1f}\t{:.2f}\t{:.0f}\t{:"
      ".0f}\t{:.0f}\t{:.0f}\n",
      model.name, 100 * same.of(Standing::faster), 100 * same.of(Standing::slower),
      100 * same.of(Standing::same), 100 * same.of(Standing::ambiguous),
      100 * one.of(Standing::faster), 100 * two.of(Standing::faster),
      100 * five.of(Standing::faster), 100 * std::min(same.covered, two.covered),
      100 * two.of(Standing::slower), same.shots, two.shots, two.most_shots,
      100 * naive_false_faster(model, setting));
  std::fflush(stdout);
}

std::vector<NoiseModel> read_recorded(std::istream& in) {
  std::map<std::string, std::vector<std::vector<double>>> series;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::vector<double> times;
    for (double time = 0; words >> time;)
      if (std::isfinite(time) && time > 0)
        times.push_back(time);
    if (!times.empty())
      series[name].push_back(std::move(times));
  }
  std::vector<NoiseModel> models;
  for (const auto& [name, one] : series)
    models.push_back(recorded_noise(name, one));
  return models;
}

} // namespace
} // namespace kernevo

int main(int argc, char** argv) {
  using namespace kernevo;
  CLI::App app("False verdicts and power of the comparison of two kernels, by noise");
  Setting setting;
  bool recorded = false;
  std::vector<std::string> only;
  setting.trials = 2000;
  setting.seed = 1;
  setting.time = {100e3};
  app.add_option("--trials", setting.trials, "comparisons per cell")->check(CLI::PositiveNumber);
  app.add_option("--seed", setting.seed, "of the first trial");
  app.add_option("--time", setting.time.value, "of the kernel, ns")->check(CLI::PositiveNumber);
  app.add_option("--blocks", setting.plan.paired.max_blocks, "at most, of four shots each");
  app.add_flag("--recorded", recorded, "read recorded series from the standard input");
  app.add_option("--only", only, "these noises only");
  CLI11_PARSE(app, argc, argv);

  const std::vector<NoiseModel> models = recorded ? read_recorded(std::cin) : noise_models();
  fmt::print(
      "noise\tfalse_faster_%\tfalse_slower_%\tsame_%\tambiguous_%\tpower_1%\tpower_2%"
      "\tpower_5%\tcovered_%\twrong_way_%\tshots_same\tshots_2%\tshots_most\tnaive_false_%\n");
  for (const NoiseModel& model : models)
    if (only.empty() || std::ranges::find(only, model.name) != only.end())
      print_row(model, setting);
}
