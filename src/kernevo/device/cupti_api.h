// The binary interface of CUPTI's range profiler (CUDA 12.6 and newer), as far as counting needs
// it: documented types, values and names. Structures end where those of the first version end;
// newer libraries read from structSize what a caller knows. Our own declarations, so that no header
// of NVIDIA's is needed to build; tests/unit/device holds them against cupti_range_profiler.h where
// that is there.
#pragma once

#include "kernevo/device/cuda_api.h"

#include <cstddef>
#include <cstdint>

namespace kernevo::cupti {

using Status = int; // CUptiResult
using HostObject = struct HostObjectOfCupti*;
using RangeObject = struct RangeObjectOfCupti*;

namespace status {
constexpr Status success = 0;
constexpr Status invalid_parameter = 1;
constexpr Status invalid_operation = 7;
constexpr Status hardware_busy = 26;
constexpr Status not_initialized = 15;
constexpr Status invalid_metric_name = 17;
constexpr Status not_supported = 27;
constexpr Status insufficient_privileges = 35;
constexpr Status multiple_subscribers = 39;
constexpr Status virtualized_insufficient_privileges = 40;
constexpr Status mig_device = 43;
constexpr Status unknown = 999;
} // namespace status

constexpr int kRangeProfiler = 0; // CUPTI_PROFILER_TYPE_RANGE_PROFILER
constexpr int kUserRange = 2;
constexpr int kUserReplay = 3;

// What every structure of parameters begins with.
struct Head {
  std::size_t size = 0; // up to the end of the last field
  void* reserved = nullptr;
};

struct Initialize : Head {};

struct ChipName : Head {
  std::size_t device = 0;
  const char* name = nullptr; // out
};

struct Availability : Head {
  driver::Context context = nullptr;
  std::size_t bytes = 0; // in and out
  std::uint8_t* image = nullptr;
};

struct HostInitialize : Head {
  int profiler = kRangeProfiler;
  const char* chip = nullptr;
  const std::uint8_t* availability = nullptr;
  HostObject object = nullptr; // out
};
struct HostDeinitialize : Head {
  HostObject object = nullptr;
};
struct MetricProperties : Head {
  HostObject object = nullptr;
  const char* name = nullptr;
  const char* description = nullptr; // out, as all that follow
  const char* hardware_unit = nullptr;
  const char* unit = nullptr;
  int type = 0;
};
struct AddMetrics : Head {
  HostObject object = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
};
struct ConfigSize : Head {
  HostObject object = nullptr;
  std::size_t bytes = 0; // out
};
struct Config : Head {
  HostObject object = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};
struct PassCount : Head {
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
  std::size_t passes = 0; // out
};
struct Evaluate : Head {
  HostObject object = nullptr;
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t range = 0;
  const char** names = nullptr;
  std::size_t count = 0;
  double* values = nullptr;
};

struct Enable : Head {
  driver::Context context = nullptr;
  RangeObject object = nullptr; // out
};
struct Disable : Head {
  RangeObject object = nullptr;
};
struct DataSize : Head {
  RangeObject object = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
  std::size_t ranges = 0;
  std::uint32_t nodes = 0;
  std::size_t bytes = 0; // out
};
struct DataInitialize : Head {
  RangeObject object = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* data = nullptr;
};
struct SetConfig : Head {
  RangeObject object = nullptr;
  std::size_t config_bytes = 0;
  const std::uint8_t* config = nullptr;
  std::size_t data_bytes = 0;
  std::uint8_t* data = nullptr;
  int range = kUserRange;
  int replay = kUserReplay;
  std::size_t ranges = 0; // at most, in a pass
  std::uint16_t levels = 1;
  std::uint16_t least_level = 1;
  std::size_t pass = 0;
  std::uint16_t target_level = 1;
};
struct Start : Head {
  RangeObject object = nullptr;
};
struct Stop : Head {
  RangeObject object = nullptr;
  std::size_t pass = 0; // out, as all that follow
  std::size_t target_level = 0;
  std::uint8_t all_passes = 0;
};
struct PushRange : Head {
  RangeObject object = nullptr;
  const char* name = nullptr;
};
struct PopRange : Head {
  RangeObject object = nullptr;
};
struct Decode : Head {
  RangeObject object = nullptr;
  std::size_t dropped = 0; // out
};
struct DataInfo : Head {
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t ranges = 0; // out
};
struct RangeInfo : Head {
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t range = 0;
  const char* delimiter = "/";
  const char* name = nullptr; // out
};

// What a caller writes into Head::size: the end of the last field, which is not the padded size.
template <class T, class Field> std::size_t size_to(const T& parameters, const Field& last) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&last) -        // NOLINT
                                  reinterpret_cast<const char*>(&parameters)) + // NOLINT
         sizeof(Field);
}
inline std::size_t size_of(const Initialize& p) {
  return size_to(p, p.reserved);
}
inline std::size_t size_of(const ChipName& p) {
  return size_to(p, p.name);
}
inline std::size_t size_of(const Availability& p) {
  return size_to(p, p.image);
}
inline std::size_t size_of(const HostInitialize& p) {
  return size_to(p, p.object);
}
inline std::size_t size_of(const HostDeinitialize& p) {
  return size_to(p, p.object);
}
inline std::size_t size_of(const MetricProperties& p) {
  return size_to(p, p.type);
}
inline std::size_t size_of(const AddMetrics& p) {
  return size_to(p, p.count);
}
inline std::size_t size_of(const ConfigSize& p) {
  return size_to(p, p.bytes);
}
inline std::size_t size_of(const Config& p) {
  return size_to(p, p.image);
}
inline std::size_t size_of(const PassCount& p) {
  return size_to(p, p.passes);
}
inline std::size_t size_of(const Evaluate& p) {
  return size_to(p, p.values);
}
inline std::size_t size_of(const Enable& p) {
  return size_to(p, p.object);
}
inline std::size_t size_of(const Disable& p) {
  return size_to(p, p.object);
}
inline std::size_t size_of(const DataSize& p) {
  return size_to(p, p.bytes);
}
inline std::size_t size_of(const DataInitialize& p) {
  return size_to(p, p.data);
}
inline std::size_t size_of(const SetConfig& p) {
  return size_to(p, p.target_level);
}
inline std::size_t size_of(const Start& p) {
  return size_to(p, p.object);
}
inline std::size_t size_of(const Stop& p) {
  return size_to(p, p.all_passes);
}
inline std::size_t size_of(const PushRange& p) {
  return size_to(p, p.name);
}
inline std::size_t size_of(const PopRange& p) {
  return size_to(p, p.object);
}
inline std::size_t size_of(const Decode& p) {
  return size_to(p, p.dropped);
}
inline std::size_t size_of(const DataInfo& p) {
  return size_to(p, p.ranges);
}
inline std::size_t size_of(const RangeInfo& p) {
  return size_to(p, p.name);
}

// X(member, exported name, parameters).
#define KERNEVO_CUPTI_FUNCTIONS(X)                                                                 \
  X(initialize, "cuptiProfilerInitialize", Initialize)                                             \
  X(chip_name, "cuptiDeviceGetChipName", ChipName)                                                 \
  X(availability, "cuptiProfilerGetCounterAvailability", Availability)                             \
  X(host_initialize, "cuptiProfilerHostInitialize", HostInitialize)                                \
  X(host_deinitialize, "cuptiProfilerHostDeinitialize", HostDeinitialize)                          \
  X(properties, "cuptiProfilerHostGetMetricProperties", MetricProperties)                          \
  X(add_metrics, "cuptiProfilerHostConfigAddMetrics", AddMetrics)                                  \
  X(config_size, "cuptiProfilerHostGetConfigImageSize", ConfigSize)                                \
  X(config, "cuptiProfilerHostGetConfigImage", Config)                                             \
  X(pass_count, "cuptiProfilerHostGetNumOfPasses", PassCount)                                      \
  X(evaluate, "cuptiProfilerHostEvaluateToGpuValues", Evaluate)                                    \
  X(enable, "cuptiRangeProfilerEnable", Enable)                                                    \
  X(disable, "cuptiRangeProfilerDisable", Disable)                                                 \
  X(data_size, "cuptiRangeProfilerGetCounterDataSize", DataSize)                                   \
  X(data_initialize, "cuptiRangeProfilerCounterDataImageInitialize", DataInitialize)               \
  X(set_config, "cuptiRangeProfilerSetConfig", SetConfig)                                          \
  X(start, "cuptiRangeProfilerStart", Start)                                                       \
  X(stop, "cuptiRangeProfilerStop", Stop)                                                          \
  X(push_range, "cuptiRangeProfilerPushRange", PushRange)                                          \
  X(pop_range, "cuptiRangeProfilerPopRange", PopRange)                                             \
  X(decode, "cuptiRangeProfilerDecodeData", Decode)                                                \
  X(data_info, "cuptiRangeProfilerGetCounterDataInfo", DataInfo)                                   \
  X(range_info, "cuptiRangeProfilerCounterDataGetRangeInfo", RangeInfo)

struct Functions {
#define KERNEVO_MEMBER(member, name, parameters) Status (*member)(parameters*) = nullptr;
  KERNEVO_CUPTI_FUNCTIONS(KERNEVO_MEMBER)
#undef KERNEVO_MEMBER
  Status (*version)(std::uint32_t*) = nullptr;
  Status (*error_text)(Status, const char**) = nullptr;
  int (*stand_in)(char*, int) = nullptr; // of a library that plays one; null in NVIDIA's
};

} // namespace kernevo::cupti
