#include "simulated_shots.h"

#include "kernevo/base/random.h"
#include "kernevo/timing/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace kernevo {
namespace {

// Draws in order from a counter-based generator.
class Draws {
public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  double uniform() { return random_.uniform(next_++); }
  double normal() { return random_.normal(next_++); }

private:
  CounterRandom random_;
  std::uint64_t next_ = 0;
};

// A noise from a function of (shot number, draws) to a log factor.
template <class F> std::function<Noise(std::uint64_t)> log_noise(F make) {
  return [make](std::uint64_t seed) -> Noise {
    return [step = make(), draws = Draws(seed), shot = 0.0]() mutable {
      const double value = step(shot, draws);
      shot += 1;
      return Disturbance{value, false};
    };
  };
}

// Memoryless: a value from the shot's number and fresh draws.
template <class F> std::function<Noise(std::uint64_t)> plain(F value) {
  return log_noise([value] { return value; });
}

// The phase is the one in which a sine over four shots favours one side of ABBA most.
double wave(double shot, double period, double amplitude) {
  return amplitude * std::sin(2 * std::numbers::pi * shot / period + 0.75 * std::numbers::pi);
}

NoiseModel gaussian(const std::string& name, double deviation) {
  return {name, "normal, independent",
          plain([=](double, Draws& draws) { return deviation * draws.normal(); })};
}

NoiseModel clocks(const std::string& name, double gap, double jump) {
  return {name, "two clocks, jumping between them", log_noise([=] {
            return [=, slow = false](double, Draws& draws) mutable {
              if (draws.uniform() < jump)
                slow = !slow;
              return (slow ? gap : 0.0) + 0.01 * draws.normal();
            };
          })};
}

NoiseModel autoregressive(const std::string& name, double memory, double deviation) {
  return {name, "AR(1)", log_noise([=] {
            return [=, state = 0.0](double, Draws& draws) mutable {
              state = memory * state + deviation * std::sqrt(1 - memory * memory) * draws.normal();
              return state;
            };
          })};
}

Noise throttled(std::uint64_t seed) {
  return [draws = Draws(seed), slow = 0]() mutable {
    if (slow == 0 && draws.uniform() < 0.003)
      slow = 10;
    const bool now = slow > 0;
    slow -= now ? 1 : 0;
    return Disturbance{(now ? 0.4 : 0.0) + 0.01 * draws.normal(), now};
  };
}

} // namespace

const std::vector<NoiseModel>& noise_models() {
  static const std::vector<NoiseModel> models = {
      gaussian("gaussian_1", 0.01),
      gaussian("gaussian_5", 0.05),
      {"lognormal_tail", "1 % normal, every tenth shot up to several times slower",
       plain([](double, Draws& draws) {
         const double spike = draws.uniform() < 0.1 ? std::abs(0.5 * draws.normal()) : 0.0;
         return spike + 0.01 * draws.normal();
       })},
      {"skewed", "exponential, 3 %, one-sided",
       plain([](double, Draws& draws) { return -0.03 * std::log(1 - draws.uniform()); })},
      clocks("bimodal_slow", 0.08, 0.02),
      clocks("bimodal_fast", 0.08, 0.5),
      {"linear_drift", "0.1 % slower every shot, 1 % normal",
       plain([](double shot, Draws& draws) { return 0.001 * shot + 0.01 * draws.normal(); })},
      {"cooling_drift", "0.05 % faster every shot, 2 % normal",
       plain([](double shot, Draws& draws) { return -0.0005 * shot + 0.02 * draws.normal(); })},
      {"slow_wave", "5 % sine over 100 shots, 1 % normal", plain([](double shot, Draws& draws) {
         return wave(shot, 100, 0.05) + 0.01 * draws.normal();
       })},
      {"resonant_wave", "3 % sine over 4 shots, in step with the blocks, 1 % normal",
       plain(
           [](double shot, Draws& draws) { return wave(shot, 4, 0.03) + 0.01 * draws.normal(); })},
      {"steps", "10 % steps at random, 1 % normal", log_noise([] {
         return [level = 0.0](double, Draws& draws) mutable {
           if (draws.uniform() < 0.01)
             level = 0.1 * draws.normal();
           return level + 0.01 * draws.normal();
         };
       })},
      autoregressive("ar1_0.9", 0.9, 0.05),
      autoregressive("ar1_0.5", 0.5, 0.03),
      autoregressive("ar1_negative", -0.5, 0.03),
      {"slow_start", "starts at 3.6 times the time, settles in 10 shots, 1 % normal",
       plain([](double shot, Draws& draws) {
         return std::log(3.6) * std::exp(-shot / 3) + 0.01 * draws.normal();
       })},
      {"fast_start", "starts 12 % fast, settles in 60 shots, 1 % normal",
       plain([](double shot, Draws& draws) {
         return -0.12 * std::exp(-shot / 20) + 0.01 * draws.normal();
       })},
      {"throttled", "40 % slow for 10 shots now and then, and the device says so, 1 % normal",
       throttled},
  };
  return models;
}

const NoiseModel& noise_model(std::string_view name) {
  const auto found = std::ranges::find(noise_models(), name, &NoiseModel::name);
  assert(found != noise_models().end());
  return *found;
}

NoiseModel recorded_noise(std::string name, const std::vector<std::vector<double>>& series) {
  auto factors = std::make_shared<std::vector<double>>();
  for (const std::vector<double>& one : series) {
    const double centre = median_of(one);
    for (const double time : one)
      factors->push_back(std::log(time / centre));
  }
  assert(!factors->empty());
  return {std::move(name), "recorded", [factors](std::uint64_t seed) -> Noise {
            std::size_t at = CounterRandom(seed).bits(0) % factors->size();
            return [factors, at]() mutable {
              const Disturbance value{(*factors)[at], false};
              at = (at + 1) % factors->size();
              return value;
            };
          }};
}

Result<Shot> SimulatedShots::shoot(Side side) {
  const Disturbance now = noise_();
  double time =
      (side == Side::incumbent ? incumbent_ : candidate_).value * std::exp(now.log_factor);
  if (resolution_.value > 0)
    time = std::max(1.0, std::round(time / resolution_.value)) * resolution_.value;
  constexpr double kBetweenShots = 20e3; // launch, flush, read the events
  now_ = now_ + Nanoseconds{time + kBetweenShots};
  ++shots_;
  return Shot{{time}, now.flagged};
}

} // namespace kernevo
