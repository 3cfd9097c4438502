#include "kernevo/device/nvml.h"

#include "kernevo/base/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <utility>

namespace kernevo {
namespace {

// Documented values of NVML's interface.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kGpuIsLost = 15;
constexpr int kMultiprocessorClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kOfTheChip = 0; // temperature sensor
constexpr unsigned kMostProcesses = 256;

struct ProcessInfo {
  unsigned id = 0;
  unsigned long long memory = 0;
  unsigned part = 0;
  unsigned part_of_part = 0;
};
struct ProcessUse {
  unsigned id = 0;
  unsigned long long when = 0; // microseconds
  unsigned multiprocessors = 0;
  unsigned memory = 0;
  unsigned encoder = 0;
  unsigned decoder = 0;
};

template <class F> void bind(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name)); // NOLINT
}

std::string program_of(unsigned id) {
  std::ifstream file(fmt::format("/proc/{}/comm", id));
  std::string name;
  std::getline(file, name);
  return printable(name);
}

} // namespace

Nvml::Nvml(const std::string& library, const std::string& uuid, const std::string& bus) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    missing_ = printable(dlerror());
    return;
  }
  bind(handle, "nvmlInit_v2", calls_.start);
  bind(handle, "nvmlSystemGetDriverVersion", calls_.driver_version);
  bind(handle, "nvmlDeviceGetHandleByUUID", calls_.by_uuid);
  bind(handle, "nvmlDeviceGetHandleByPciBusId_v2", calls_.by_bus);
  bind(handle, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", calls_.whole_of_part);
  bind(handle, "nvmlDeviceGetClockInfo", calls_.clock);
  bind(handle, "nvmlDeviceGetApplicationsClock", calls_.set_clock);
  bind(handle, "nvmlDeviceGetMaxClockInfo", calls_.most_clock);
  bind(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", calls_.reasons);
  if (calls_.reasons == nullptr)
    bind(handle, "nvmlDeviceGetCurrentClocksEventReasons", calls_.reasons);
  bind(handle, "nvmlDeviceGetTemperature", calls_.temperature);
  bind(handle, "nvmlDeviceGetPowerUsage", calls_.power);
  bind(handle, "nvmlDeviceGetComputeRunningProcesses_v3", calls_.processes);
  bind(handle, "nvmlDeviceGetProcessUtilization", calls_.process_use);
  const int started = calls_.start == nullptr ? -1 : calls_.start();
  if (started != kSuccess) {
    missing_ = started == -1 ? library + " has no nvmlInit_v2"
                             : fmt::format("NVML does not start (error {})", started);
    return;
  }
  std::array<char, 96> text{};
  if (calls_.driver_version != nullptr &&
      calls_.driver_version(text.data(), static_cast<unsigned>(text.size() - 1)) == kSuccess)
    driver_ = printable(text.data());
  const auto find = [&](const auto& call, const std::string& name) {
    if (part_ != nullptr || lost_ || call == nullptr || name.empty())
      return;
    Handle found = nullptr;
    const int done = call(name.c_str(), &found);
    lost_ = done == kGpuIsLost;
    if (done == kSuccess)
      part_ = found;
  };
  find(calls_.by_uuid, uuid);
  find(calls_.by_bus, bus);
  if (part_ == nullptr) {
    missing_ = lost_ ? "the GPU is lost" : "NVML does not know the GPU";
    return;
  }
  handle_ = part_;
  Handle whole = nullptr;
  if (uuid.starts_with("MIG-") && calls_.whole_of_part != nullptr &&
      calls_.whole_of_part(part_, &whole) == kSuccess)
    handle_ = whole;
}

void Nvml::look_at_processes(GpuTelemetry& now) {
  if (calls_.processes == nullptr)
    return;
  std::array<ProcessInfo, kMostProcesses> list{};
  unsigned count = kMostProcesses;
  const int done = calls_.processes(part_, &count, list.data());
  if (done != kSuccess && done != kInsufficientSize)
    return;
  std::map<unsigned, unsigned> use;
  bool use_known = false;
  if (calls_.process_use != nullptr) {
    std::array<ProcessUse, kMostProcesses> samples{};
    unsigned sampled = kMostProcesses;
    const int asked = calls_.process_use(handle_, samples.data(), &sampled, seen_until_);
    constexpr int not_found = 6; // nothing has run since
    use_known = asked == kSuccess || asked == not_found;
    for (unsigned i = 0; asked == kSuccess && i < std::min(sampled, kMostProcesses); ++i) {
      use[samples.at(i).id] = std::max(use[samples.at(i).id], samples.at(i).multiprocessors);
      seen_until_ = std::max(seen_until_, samples.at(i).when);
    }
  }
  now.processes.emplace();
  for (unsigned i = 0; i < std::min(count, kMostProcesses); ++i) {
    const unsigned id = list.at(i).id;
    const auto used = use.find(id);
    const int percent = used == use.end() ? 0 : static_cast<int>(std::min(used->second, 100U));
    now.processes->push_back(
        {id, use_known ? std::optional(percent) : std::nullopt, program_of(id)});
  }
}

GpuTelemetry Nvml::look() {
  GpuTelemetry now;
  now.driver = driver_;
  now.missing = missing_;
  now.lost = lost_;
  if (handle_ == nullptr)
    return now;
  const auto check = [&](int done) {
    lost_ = lost_ || done == kGpuIsLost;
    return done == kSuccess;
  };
  const auto clock = [&](const auto& call, int which) -> std::optional<double> {
    unsigned value = 0;
    return call != nullptr && check(call(handle_, which, &value)) && value > 0
               ? std::optional(static_cast<double>(value))
               : std::nullopt;
  };
  now.multiprocessor_mhz = clock(calls_.clock, kMultiprocessorClock);
  now.memory_mhz = clock(calls_.clock, kMemoryClock);
  now.wanted_mhz = clock(calls_.set_clock, kMultiprocessorClock);
  if (!now.wanted_mhz)
    now.wanted_mhz = clock(calls_.most_clock, kMultiprocessorClock);
  unsigned long long reasons = 0;
  if (calls_.reasons != nullptr && check(calls_.reasons(handle_, &reasons)))
    now.reasons = reasons;
  now.celsius = clock(calls_.temperature, kOfTheChip);
  unsigned milliwatts = 0;
  if (calls_.power != nullptr && check(calls_.power(handle_, &milliwatts)))
    now.watts = milliwatts * 1e-3;
  look_at_processes(now);
  now.lost = lost_;
  return now;
}

} // namespace kernevo
