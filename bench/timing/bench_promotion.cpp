// How often a kernel is called faster that is not, and how often one that is 2 % faster is found,
// through everything that stands between a noisy GPU and an announcement: `compare`, and a step of
// an evolution. Prints a tab-separated table:
//   bench_promotion [--trials N] [--seed S] [--only NAME]...
#include "hostile_gpu.h"
#include "kernevo/evaluate/compare.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace kernevo {
namespace {

struct Rate {
  int yes = 0;
  int of = 0;
  double percent() const { return of == 0 ? 0.0 : 100.0 * yes / of; }
};

// Those that were disturbed each time, and so not scored, are not counted for power.
struct Compared {
  Rate faster;
  int unscored = 0;
};

Compared compare_often(const std::string& noise, const char* candidate, int trials,
                       std::uint64_t seed) {
  const Task task = task_of(scripted_task("[[4096]]"));
  const KernelFile a = kernel_of(scripted_add("takes(20000);"), "a.cu");
  const KernelFile b = kernel_of(scripted_add(candidate), "b.cu");
  const auto companion = fake_device();
  Compared compared;
  for (int trial = 0; trial < trials; ++trial) {
    const auto device = hostile_gpu(noise, seed + static_cast<std::uint64_t>(trial), companion);
    CompareOptions options;
    options.small_only = true;
    options.bench.seed = ~(seed + static_cast<std::uint64_t>(trial)) >> 16U;
    const auto result = compare_kernels(*device, task, {&a, {}}, {&b, {}}, options);
    if (!result || result->wrong)
      throw std::runtime_error(result ? result->wrong->summary : format_error(result.error()));
    if (!disturbance_of(result->candidate).empty()) {
      ++compared.unscored;
      compared.faster.yes += replaces_incumbent(result->overall) ? 1 : 0; // must never be
      continue;
    }
    ++compared.faster.of;
    compared.faster.yes += replaces_incumbent(result->overall) ? 1 : 0;
  }
  return compared;
}

Rate evolve_often(const std::string& noise, int nanoseconds, int kernels, int trials,
                  std::uint64_t seed) {
  const auto companion = fake_device();
  Rate rate;
  for (int trial = 0; trial < trials; ++trial) {
    const auto device = hostile_gpu(noise, seed + static_cast<std::uint64_t>(trial), companion);
    const Offered offered = evolve_offering(device, nanoseconds, kernels);
    rate.yes += offered.promoted;
    rate.of += offered.offered;
  }
  return rate;
}

} // namespace
} // namespace kernevo

int main(int argc, char** argv) {
  using namespace kernevo;
  CLI::App app("False promotions and power on a GPU that drifts, spikes and is throttled");
  int trials = 1000;
  std::uint64_t seed = 1;
  std::vector<std::string> only;
  app.add_option("--trials", trials, "comparisons per cell; runs of three kernels")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", seed, "of the first trial");
  app.add_option("--only", only, "these noises only");
  CLI11_PARSE(app, argc, argv);
  fmt::print("noise\tcompare_false_faster_%\tcompare_power_2%_%\tunscored_%\tevolve_false_%"
             "\tevolve_power_2%_%\tevolve_told\n");
  for (const std::string& noise : hostile_noises()) {
    if (!only.empty() && std::ranges::find(only, noise) == only.end())
      continue;
    const Compared same = compare_often(noise, "takes(19999 + 1);", trials, seed);
    const Compared faster = compare_often(noise, "takes(19608);", trials, seed);
    const Rate promoted = evolve_often(noise, 20000, 3, trials, seed);
    const Rate found = evolve_often(noise, 19608, 1, trials, seed);
    fmt::print("{}\t{:.2f}\t{:.1f}\t{:.1f}\t{:.2f}\t{:.1f}\t{}\n", noise, same.faster.percent(),
               faster.faster.percent(), 100.0 * same.unscored / trials, promoted.percent(),
               found.percent(), promoted.of);
    std::fflush(stdout);
  }
}
