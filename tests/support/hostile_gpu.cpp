#include "hostile_gpu.h"

#include "kernevo/base/random.h"
#include "kernevo/run/open_run.h"
#include "memory_store.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

constexpr int kReference = 20000;

class HostileNoise {
public:
  HostileNoise(const std::string& name, std::uint64_t seed)
      : random_(seed), drifts_(name == "drift" || name == "all"),
        spikes_(name == "spikes" || name == "all"),
        throttled_(name == "throttled" || name == "all") {}

  Disturbance operator()() {
    Disturbance now{0.01 * normal(), false};
    if (drifts_) {
      level_ = 0.999 * level_ + 0.0045 * normal(); // 10 % in the long run
      if (uniform() < 0.002)
        level_ += 0.05 * normal();
      now.log_factor += level_;
    }
    if (spikes_ && uniform() < 0.1)
      now.log_factor += std::abs(0.5 * normal());
    if (throttled_) {
      if (slow_ == 0 && uniform() < 0.003)
        slow_ = 20;
      now.flagged = slow_ > 0;
      now.log_factor += slow_ > 0 ? 0.4 : 0.0;
      slow_ -= slow_ > 0 ? 1 : 0;
    }
    return now;
  }

private:
  double uniform() { return random_.uniform(next_++); }
  double normal() { return random_.normal(next_++); }

  CounterRandom random_;
  std::uint64_t next_ = 0;
  bool drifts_;
  bool spikes_;
  bool throttled_;
  double level_ = 0;
  int slow_ = 0;
};

} // namespace

const std::vector<std::string>& hostile_noises() {
  static const std::vector<std::string> names = {"quiet", "drift", "spikes", "throttled", "all"};
  return names;
}

std::shared_ptr<FakeDevice> hostile_gpu(const std::string& noise, std::uint64_t seed,
                                        const std::shared_ptr<FakeDevice>& companion) {
  FakeScript script = scripted_kernels();
  script.instrumented = false;
  script.own_noise = HostileNoise(noise, seed);
  if (noise == "throttled" || noise == "all")
    script.state = [random = CounterRandom(~seed)](int asked) {
      DeviceState state;
      if (random.uniform(static_cast<std::uint64_t>(asked)) < 1.0 / 12)
        state.disturbances = {"throttled by heat"};
      return state;
    };
  auto device = fake_device(std::move(script));
  device->accompany({companion, "the same GPU"});
  return device;
}

Offered evolve_offering(const std::shared_ptr<FakeDevice>& device, int nanoseconds, int kernels) {
  std::string reference;
  std::istringstream lines(scripted_add(fmt::format("takes({});", kReference)));
  for (std::string line; std::getline(lines, line);)
    reference += "  " + line + "\n";
  const auto context = evolve::make_run_context(
      scripted_task("[[4096]]", "reference_kernel: |\n" + reference), "task.yaml", device);
  EXPECT_TRUE(context) << format_error(context.error());
  evolve::Script script;
  for (int i = 1; i <= kernels; ++i) // each other code, the same time
    script.kernels["offered"].push_back(
        scripted_add(fmt::format("takes({} + {});", nanoseconds - i, i)));
  store::MemoryStore store;
  const auto journal = std::move(store.create("offered")).value();
  std::vector<std::unique_ptr<propose::Proposer>> proposers;
  proposers.push_back(std::make_unique<evolve::ScriptedProposer>(script));
  evolve::Panel panel(std::move(proposers), *journal);
  RunSettings settings;
  settings.proposers = {"scripted"};
  settings.roofline = 10; // nothing gets there
  settings.ahead = 2;
  settings.inputs = 77;
  evolve::OrchestratorOptions options;
  const auto state =
      evolve::start_run(*context, run::first_event(*context, settings, "task.yaml", "offered"),
                        *journal, panel, options);
  Offered offered;
  if (!state) // the reference could not be timed in quiet: nothing was claimed
    return offered;
  for (const auto& [outcome, count] : state->outcomes) {
    if (outcome == "improved")
      offered.promoted += static_cast<int>(count);
    if (outcome == "improved" || outcome == "not_better")
      offered.offered += static_cast<int>(count);
  }
  return offered;
}

} // namespace kernevo
