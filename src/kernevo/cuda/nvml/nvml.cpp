// libnvidia-ml.so.1 for the virtual GPU: who it is, what it holds, and a steady state, disturbed
// only on order (common/faults.h). What a GPU that is none cannot know is NOT_SUPPORTED. The types
// are NVML's documented binary interface, declared here because the toolkit brings no header.
#include "kernevo/cuda/common/faults.h"
#include "kernevo/cuda/common/identity.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

using kernevo::Gpu;
using kernevo::cuda::Faults;

enum Status : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kGpuIsLost = 15,
};

struct PlayedDevice {};
using Device = PlayedDevice*;
PlayedDevice the_device;
std::atomic<int> users = 0;

constexpr unsigned kTemperature = 40; // Celsius: a GPU in a cool room that does what it is asked
constexpr unsigned kMilliwatts = 100'000;
constexpr unsigned kMilliwattsAtMost = 400'000;
constexpr unsigned kMemoryMhz = 1215;
constexpr unsigned long long kHeat = 0x20; // clocks reason: SW thermal slowdown
constexpr unsigned kForeignPercent = 80;
constexpr const char* kDriver = "580.00.kernevo";
constexpr int kCudaVersion = 13020;

struct PciInfo {
  std::array<char, 16> short_bus;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_id;
  unsigned subsystem_id;
  std::array<char, 32> long_bus;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct Memory2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct OldProcess {
  unsigned pid;
  unsigned long long memory;
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
struct ProcessSample {
  unsigned pid;
  unsigned long long when;
  unsigned sm;
  unsigned memory;
  unsigned encoder;
  unsigned decoder;
};

Status ready(Device device) {
  if (users.load() == 0)
    return kUninitialized;
  if (device != &the_device)
    return kInvalidArgument;
  return Faults::get().lost() ? kGpuIsLost : kSuccess;
}

// The driver's own checks come first: not started, no device, no place to write to.
#define KERNEVO_NVML(device, ...)                                                                  \
  do {                                                                                             \
    if (const Status no = ready(device); no != kSuccess)                                           \
      return no;                                                                                   \
    if (!all_given(__VA_ARGS__))                                                                   \
      return kInvalidArgument;                                                                     \
  } while (false)

template <class... Pointers> bool all_given(Pointers... pointers) {
  return (... && (pointers != nullptr));
}

int give(std::string_view text, char* to, unsigned length) {
  if (to == nullptr)
    return kInvalidArgument;
  if (length <= text.size())
    return kInsufficientSize;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return kSuccess;
}

const Gpu& gpu() {
  return kernevo::cuda::played_gpu();
}

std::string uuid_text() {
  const auto id = kernevo::cuda::played_uuid(gpu());
  std::string text = "GPU-";
  for (std::size_t i = 0; i < id.size(); ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id.at(i));
  return text;
}

unsigned full_clock() {
  return static_cast<unsigned>(gpu().clock_ghz * 1000 + 0.5);
}

// 0: graphics, 1: multiprocessors, 2: memory, 3: video.
int clock_of(int type, unsigned full, unsigned* mhz) {
  if (type < 0 || type > 3)
    return kInvalidArgument;
  *mhz = type == 2 ? kMemoryMhz : full;
  return kSuccess;
}

// What the last look at the clock showed; the reasons go with it.
std::atomic<unsigned> shown_clock = 0;

struct Seen {
  std::vector<unsigned> ours;
  unsigned foreign = 0;
};
std::atomic<unsigned> shown_foreign = 0;

Seen processes() {
  return {kernevo::cuda::announced_processes(), shown_foreign.load()};
}

template <class Item, class Make>
int list(unsigned* count, Item* items, const std::vector<unsigned>& ids, Make make) {
  const auto room = *count;
  *count = static_cast<unsigned>(ids.size());
  if (room < ids.size())
    return kInsufficientSize;
  if (!ids.empty() && items == nullptr)
    return kInvalidArgument;
  for (std::size_t i = 0; i < ids.size(); ++i)
    items[i] = make(ids[i]);
  return kSuccess;
}

std::vector<unsigned> all_processes() {
  Seen seen = processes();
  if (seen.foreign != 0)
    seen.ours.push_back(seen.foreign);
  return seen.ours;
}

} // namespace

extern "C" {

int nvmlInit_v2() {
  if (Faults::get().lost())
    return kGpuIsLost;
  ++users;
  return kSuccess;
}
int nvmlInit() {
  return nvmlInit_v2();
}
int nvmlInitWithFlags(unsigned /*flags*/) {
  return nvmlInit_v2();
}
int nvmlShutdown() {
  int now = users.load();
  while (now > 0 && !users.compare_exchange_weak(now, now - 1)) {
  }
  return now > 0 ? kSuccess : kUninitialized;
}
const char* nvmlErrorString(int status) {
  switch (status) {
  case kSuccess: return "Success";
  case kUninitialized: return "Uninitialized";
  case kInvalidArgument: return "Invalid Argument";
  case kNotSupported: return "Not Supported";
  case kNotFound: return "Not Found";
  case kInsufficientSize: return "Insufficient Size";
  case kGpuIsLost: return "GPU is lost";
  default: return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return users.load() == 0 ? kUninitialized : give(kDriver, text, length);
}
int nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return users.load() == 0 ? kUninitialized : give("13.580.00", text, length);
}
int nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr)
    return kInvalidArgument;
  *version = kCudaVersion;
  return kSuccess;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}
int nvmlSystemGetProcessName(unsigned id, char* text, unsigned length) {
  if (users.load() == 0)
    return kUninitialized;
  std::ifstream file(fmt::format("/proc/{}/comm", id));
  std::string name;
  return std::getline(file, name) ? give(name, text, length) : kNotFound;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  if (users.load() == 0)
    return kUninitialized;
  if (count == nullptr)
    return kInvalidArgument;
  *count = 1;
  return kSuccess;
}
int nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (users.load() == 0)
    return kUninitialized;
  if (device == nullptr || index != 0)
    return kInvalidArgument;
  *device = &the_device;
  return ready(*device);
}
int nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}
int nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  if (users.load() == 0)
    return kUninitialized;
  if (uuid == nullptr || device == nullptr)
    return kInvalidArgument;
  if (uuid_text() != uuid)
    return kNotFound;
  *device = &the_device;
  return ready(*device);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, Device* device) {
  if (users.load() == 0)
    return kUninitialized;
  if (bus == nullptr || device == nullptr)
    return kInvalidArgument;
  // Both of "0000:00:00.0" and "00000000:00:00.0" are in use.
  if (!std::string_view(bus).ends_with(kernevo::cuda::played_bus()))
    return kNotFound;
  *device = &the_device;
  return ready(*device);
}
int nvmlDeviceGetHandleByPciBusId(const char* bus, Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus, device);
}

int nvmlDeviceGetName(Device device, char* text, unsigned length) {
  KERNEVO_NVML(device, text);
  return give(kernevo::cuda::played_name(gpu()), text, length);
}
int nvmlDeviceGetUUID(Device device, char* text, unsigned length) {
  KERNEVO_NVML(device, text);
  return give(uuid_text(), text, length);
}
int nvmlDeviceGetIndex(Device device, unsigned* index) {
  KERNEVO_NVML(device, index);
  *index = 0;
  return kSuccess;
}
int nvmlDeviceGetMinorNumber(Device device, unsigned* number) {
  KERNEVO_NVML(device, number);
  *number = 0;
  return kSuccess;
}
int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  KERNEVO_NVML(device, info);
  *info = {};
  const std::string bus = kernevo::cuda::played_bus();
  std::copy(bus.begin(), bus.end(), info->short_bus.begin());
  const std::string longer = "0000" + bus;
  std::copy(longer.begin(), longer.end(), info->long_bus.begin());
  return kSuccess;
}
int nvmlDeviceGetPciInfo_v2(Device device, PciInfo* info) {
  return nvmlDeviceGetPciInfo_v3(device, info);
}
int nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  KERNEVO_NVML(device, major, minor);
  *major = gpu().compute_capability / 10;
  *minor = gpu().compute_capability % 10;
  return kSuccess;
}

// Nothing is counted across processes: all of it is free but for what nobody can have.
int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  KERNEVO_NVML(device, memory);
  *memory = {gpu().memory.value, gpu().memory.value, 0};
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo_v2(Device device, Memory2* memory) {
  KERNEVO_NVML(device, memory);
  *memory = {memory->version, gpu().memory.value, 0, gpu().memory.value, 0};
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(Device device, Utilization* rates) {
  KERNEVO_NVML(device, rates);
  *rates = {shown_foreign.load() != 0 ? kForeignPercent : 0, 0};
  return kSuccess;
}
int nvmlDeviceGetTemperature(Device device, int sensor, unsigned* celsius) {
  KERNEVO_NVML(device, celsius);
  if (sensor != 0)
    return kInvalidArgument;
  *celsius = kTemperature;
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  KERNEVO_NVML(device, milliwatts);
  *milliwatts = kMilliwatts;
  return kSuccess;
}
int nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatts) {
  KERNEVO_NVML(device, milliwatts);
  *milliwatts = kMilliwattsAtMost;
  return kSuccess;
}
int nvmlDeviceGetPowerManagementLimit(Device device, unsigned* milliwatts) {
  return nvmlDeviceGetEnforcedPowerLimit(device, milliwatts);
}

int nvmlDeviceGetClockInfo(Device device, int type, unsigned* mhz) {
  KERNEVO_NVML(device, mhz);
  if (type == 2)
    return clock_of(type, 0, mhz);
  const Faults::Sight sight = Faults::get().look();
  shown_clock = sight.clock_mhz;
  shown_foreign = sight.foreign_process;
  return clock_of(type, sight.clock_mhz != 0 ? sight.clock_mhz : full_clock(), mhz);
}
int nvmlDeviceGetMaxClockInfo(Device device, int type, unsigned* mhz) {
  KERNEVO_NVML(device, mhz);
  return clock_of(type, full_clock(), mhz);
}
int nvmlDeviceGetApplicationsClock(Device device, int type, unsigned* mhz) {
  return nvmlDeviceGetMaxClockInfo(device, type, mhz);
}
int nvmlDeviceGetDefaultApplicationsClock(Device device, int type, unsigned* mhz) {
  return nvmlDeviceGetMaxClockInfo(device, type, mhz);
}
int nvmlDeviceGetClock(Device device, int type, int which, unsigned* mhz) {
  return which == 0 ? nvmlDeviceGetClockInfo(device, type, mhz)
                    : nvmlDeviceGetMaxClockInfo(device, type, mhz);
}
int nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* reasons) {
  KERNEVO_NVML(device, reasons);
  *reasons = shown_clock.load() != 0 ? kHeat : 0;
  return kSuccess;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}
int nvmlDeviceGetSupportedClocksEventReasons(Device device, unsigned long long* reasons) {
  KERNEVO_NVML(device, reasons);
  *reasons = kHeat;
  return kSuccess;
}
int nvmlDeviceGetSupportedClocksThrottleReasons(Device device, unsigned long long* reasons) {
  return nvmlDeviceGetSupportedClocksEventReasons(device, reasons);
}

int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, Process* items) {
  KERNEVO_NVML(device, count);
  return list(count, items, all_processes(), [](unsigned id) { return Process{id, 0, ~0U, ~0U}; });
}
int nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, Process* items) {
  return nvmlDeviceGetComputeRunningProcesses_v3(device, count, items);
}
int nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, OldProcess* items) {
  KERNEVO_NVML(device, count);
  return list(count, items, all_processes(), [](unsigned id) { return OldProcess{id, 0}; });
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* count, Process* /*items*/) {
  KERNEVO_NVML(device, count);
  *count = 0;
  return kSuccess;
}
int nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, unsigned* count, Process* items) {
  return nvmlDeviceGetGraphicsRunningProcesses_v3(device, count, items);
}
int nvmlDeviceGetGraphicsRunningProcesses(Device device, unsigned* count, OldProcess* /*items*/) {
  return nvmlDeviceGetGraphicsRunningProcesses_v3(device, count, nullptr);
}
// Only one on order is known to work all the time.
int nvmlDeviceGetProcessUtilization(Device device, ProcessSample* samples, unsigned* count,
                                    unsigned long long seen_until) {
  KERNEVO_NVML(device, count);
  std::vector<unsigned> busy;
  if (shown_foreign.load() != 0)
    busy.push_back(shown_foreign.load());
  if (busy.empty()) {
    *count = 0;
    return kNotFound;
  }
  return list(count, samples, busy, [&](unsigned id) {
    return ProcessSample{id, seen_until + 1, kForeignPercent, 0, 0, 0};
  });
}

int nvmlDeviceGetComputeMode(Device device, int* mode) {
  KERNEVO_NVML(device, mode);
  *mode = 0;
  return kSuccess;
}
int nvmlDeviceGetPersistenceMode(Device device, int* mode) {
  KERNEVO_NVML(device, mode);
  *mode = 1;
  return kSuccess;
}
int nvmlDeviceGetPerformanceState(Device device, int* state) {
  KERNEVO_NVML(device, state);
  *state = 0;
  return kSuccess;
}
int nvmlDeviceGetMultiGpuBoard(Device device, unsigned* several) {
  KERNEVO_NVML(device, several);
  *several = 0;
  return kSuccess;
}

#define KERNEVO_NOT_SUPPORTED(name)                                                                \
  int name() {                                                                                     \
    return users.load() == 0 ? kUninitialized : kNotSupported;                                     \
  }
#include "kernevo/cuda/nvml/not_supported.def"

} // extern "C"
