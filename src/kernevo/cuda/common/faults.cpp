#include "kernevo/cuda/common/faults.h"

#include "kernevo/base/random.h"
#include "kernevo/base/suggest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kernevo::cuda {
namespace {

// Results of the driver.
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kIllegalAddress = 700;
constexpr int kOutOfResources = 701;
constexpr int kUnknown = 999;

enum class Wants { nothing, number, percent, file };
struct Kind {
  std::string_view name;
  Wants wants = Wants::nothing;
  bool counted = true; // may say from when on
};
constexpr std::array<Kind, 9> kKinds = {{{"out-of-memory"},
                                         {"launch-failure"},
                                         {"sticky-error"},
                                         {"lost-device", Wants::file},
                                         {"throttle", Wants::number},
                                         {"foreign-process", Wants::number},
                                         {"counters-refused"},
                                         {"timer-noise", Wants::percent, false},
                                         {"timer-drift", Wants::percent, false}}};

bool is_whole(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size() && number >= 1 &&
         number <= most;
}

tl::unexpected<Error> wrong(std::string_view item, const std::string& why) {
  return fail(ErrorCode::usage, fmt::format("KERNEVO_CUDA_FAULTS: '{}' {}", item, why));
}

Result<std::pair<std::string, FaultOrder>> parse_one(std::string_view item) {
  const std::size_t equal = item.find('=');
  const std::string_view head = item.substr(0, equal);
  const std::size_t at = head.find('@');
  const std::string name(head.substr(0, at));
  const auto* kind = std::ranges::find(kKinds, std::string_view(name), &Kind::name);
  if (kind == kKinds.end()) {
    std::vector<std::string> names;
    for (const Kind& known : kKinds)
      names.emplace_back(known.name);
    return wrong(item, fmt::format("is no fault{}; there are {}", did_you_mean(name, names),
                                   fmt::join(names, ", ")));
  }
  FaultOrder order;
  if (at != std::string_view::npos) {
    const std::string_view from = head.substr(at + 1);
    if (!kind->counted)
      return wrong(item, "has no beginning: leave out what follows '@'");
    if (!is_whole(from, 1'000'000'000))
      return wrong(item, "needs a number from 1 after '@'");
    order.from = std::strtoull(std::string(from).c_str(), nullptr, 10);
  }
  if (equal != std::string_view::npos)
    order.value = item.substr(equal + 1);
  switch (kind->wants) {
  case Wants::nothing:
    if (equal != std::string_view::npos)
      return wrong(item, "takes no value: leave out what follows '='");
    break;
  case Wants::number:
    if (!is_whole(order.value, 1'000'000'000))
      return wrong(item, "needs a number from 1 after '='");
    break;
  case Wants::percent:
    if (!is_whole(order.value, 99))
      return wrong(item, "needs a percentage from 1 to 99 after '='");
    break;
  case Wants::file:
    if (order.value.empty() || order.value.front() != '/')
      return wrong(item, "needs the full path of a file after '='");
    break;
  }
  return std::pair(name, std::move(order));
}

} // namespace

Result<std::map<std::string, FaultOrder>> parse_faults(std::string_view text) {
  std::map<std::string, FaultOrder> orders;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    KERNEVO_TRY(one, parse_one(text.substr(0, end)));
    if (!orders.insert(std::move(one)).second)
      return wrong(text.substr(0, end), "is given twice");
    if (end != std::string_view::npos && end + 1 == text.size())
      return wrong(text, "ends in a comma");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return orders;
}

Faults& Faults::get() {
  static Faults* const faults = [] {
    const char* set = std::getenv("KERNEVO_CUDA_FAULTS");
    auto orders = parse_faults(set == nullptr ? "" : set);
    if (!orders) {
      fmt::print(stderr, "kernevo: {}\n", format_error(orders.error()));
      std::_Exit(2);
    }
    return new Faults(std::move(*orders)); // never destroyed: programs call from their destructors
  }();
  return *faults;
}

const FaultOrder* Faults::order(const char* name) const {
  const auto found = orders_.find(name);
  return found == orders_.end() ? nullptr : &found->second;
}

bool Faults::due(const char* name, std::uint64_t count) const {
  const FaultOrder* ordered = order(name);
  return ordered != nullptr && count >= ordered->from;
}

bool Faults::lost() const {
  const FaultOrder* ordered = order("lost-device");
  return ordered != nullptr && access(ordered->value.c_str(), F_OK) == 0;
}

int Faults::start() {
  return lost() ? kNoDevice : 0;
}

int Faults::call() {
  if (orders_.empty())
    return 0;
  return ended_by_ != 0 ? ended_by_.load() : lost() ? kUnknown : 0;
}

int Faults::allocation() {
  if (orders_.empty())
    return 0;
  return due("out-of-memory", ++allocations_) ? kOutOfMemory : call();
}

int Faults::launch() {
  if (orders_.empty())
    return 0;
  if (const int ended = call(); ended != 0)
    return ended;
  const std::uint64_t count = ++launches_;
  if (const FaultOrder* refused = order("launch-failure");
      refused != nullptr && count == refused->from)
    return kOutOfResources;
  if (due("lost-device", count)) {
    const int file =
        open(order("lost-device")->value.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0)
      close(file);
    ended_by_ = kUnknown;
  } else if (due("sticky-error", count)) {
    ended_by_ = kIllegalAddress;
  }
  return 0; // as on a GPU, whoever asks next is told
}

double Faults::elapsed(double milliseconds) {
  if (orders_.empty())
    return milliseconds;
  const std::uint64_t count = times_++;
  double factor = 1;
  if (const FaultOrder* noise = order("timer-noise"))
    factor += (2 * CounterRandom(static_cast<std::uint64_t>(getpid())).uniform(count) - 1) *
              std::atof(noise->value.c_str()) / 100;
  if (const FaultOrder* drift = order("timer-drift"))
    factor += static_cast<double>(count) / 100 * std::atof(drift->value.c_str()) / 100;
  return milliseconds * factor;
}

bool Faults::counters_refused() {
  return !orders_.empty() && due("counters-refused", ++counter_asks_);
}

Faults::Sight Faults::look() {
  Sight sight;
  if (orders_.empty())
    return sight;
  const std::uint64_t count = ++looks_;
  if (due("throttle", count))
    sight.clock_mhz = static_cast<unsigned>(std::atol(order("throttle")->value.c_str()));
  if (due("foreign-process", count))
    sight.foreign_process =
        static_cast<unsigned>(std::atol(order("foreign-process")->value.c_str()));
  return sight;
}

} // namespace kernevo::cuda
