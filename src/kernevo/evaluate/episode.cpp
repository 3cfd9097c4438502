#include "kernevo/evaluate/episode.h"

#include "kernevo/evaluate/device_turn.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <utility>

namespace kernevo {
namespace {

constexpr int kTries = 3;
constexpr Nanoseconds kRest = {2e9}; // after the first; twice as long after the second

void add(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& one : more)
    if (std::find(list.begin(), list.end(), one) == list.end())
      list.push_back(one);
}

} // namespace

std::unique_lock<std::mutex> take_turn(const Device& device) {
  static std::mutex of_all;
  static std::map<std::string, std::unique_ptr<std::mutex>> turns; // by name
  std::mutex* turn = nullptr;
  {
    const std::lock_guard lock(of_all);
    auto& one = turns[device.identity().name];
    if (!one)
      one = std::make_unique<std::mutex>();
    turn = one.get();
  }
  return std::unique_lock(*turn);
}

std::string Conditions::complaint() const {
  if (disturbances.empty())
    return {};
  return fmt::format("{}, each of {} times", fmt::join(disturbances, "; "), tries);
}

Result<Conditions> time_undisturbed(Device& device, const TimeOnce& time) {
  const auto turn = take_turn(device);
  Conditions conditions;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (attempt > 0)
      device.rest(Nanoseconds{kRest.value * attempt});
    KERNEVO_TRY(before, device.state());
    const auto timed = time(attempt);
    KERNEVO_TRY(after, device.state());
    if (!timed) {
      // Not one quiet shot, perhaps: worth another try where the device says why.
      const bool disturbed = !before.disturbances.empty() || !after.disturbances.empty();
      if (timed.error().code != ErrorCode::infrastructure || !disturbed || attempt + 1 == kTries)
        return tl::unexpected<Error>(timed.error());
      continue;
    }
    const std::vector<std::string>& trouble = *timed;
    conditions.disturbances.clear();
    add(conditions.disturbances, before.disturbances);
    add(conditions.disturbances, after.disturbances);
    add(conditions.disturbances, trouble);
    conditions.before = std::move(before);
    conditions.after = std::move(after);
    ++conditions.tries;
    if (conditions.disturbances.empty())
      break;
  }
  return conditions;
}

Receipt under(Receipt receipt, const Conditions& conditions) {
  const DeviceState& state = conditions.after;
  if (state.clocks.multiprocessor_mhz || state.clocks.memory_mhz)
    receipt.clocks = state.clocks;
  receipt.celsius = state.celsius;
  receipt.watts = state.watts;
  return receipt;
}

void mark(Timing& timing, const Conditions& conditions) {
  timing.receipt = under(std::move(timing.receipt), conditions);
  if (conditions.disturbances.empty())
    return;
  timing.quality.grade = TimingGrade::disturbed;
  timing.quality.reason = conditions.complaint();
}

} // namespace kernevo
