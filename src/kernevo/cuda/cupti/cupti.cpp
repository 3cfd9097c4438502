// libkernevo_cupti.so, CUPTI for the virtual GPU: the range profiler with its order of calls,
// several passes and errors, over what the virtual GPU counts and models (core/counted_range.h).
// Ranges are the user's and so is their replay; what other modes ask for is NOT_SUPPORTED.
#include "kernevo/cuda/common/faults.h"
#include "kernevo/cuda/common/identity.h"
#include "kernevo/cuda/core/counted_range.h"
#include "kernevo/device/cupti_api.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

extern "C" int kernevo_kernevoStandIn(char* text, int size);
extern "C" int kernevo_cuCtxSynchronize();

namespace {

using namespace kernevo::cupti; // NOLINT: this file is that interface
using kernevo::cuda::Faults;

// Hardware has few registers for counts: so many counters of ours are read in one pass.
constexpr std::size_t kCountersInPass = 12;
constexpr std::uint32_t kVersion = 130000;
constexpr char kImageMark = 'K'; // what an image of ours begins with

} // namespace

// A list of names is all there is to schedule.
struct kernevo::cupti::HostObjectOfCupti {
  std::vector<std::string> names;
};

struct kernevo::cupti::RangeObjectOfCupti {
  std::vector<std::string> names; // of the configuration
  std::size_t most_ranges = 0;
  std::uint8_t* data = nullptr;
  std::size_t data_bytes = 0;
  bool configured = false;
  bool started = false;
  bool in_range = false;
  std::size_t pass = 0;
  std::size_t ranges = 0; // of this pass
  std::size_t dropped = 0;
  // By range: its name, and what the passes so far have read.
  std::vector<std::pair<std::string, std::map<std::string, double>>> read;
};

namespace {

// Who passes a structure that is too small, or none, does not know this interface.
template <class P> bool is_whole(const P* parameters) {
  return parameters != nullptr && parameters->size >= size_of(*parameters);
}

std::string config_text(const std::vector<std::string>& names) {
  std::string text(1, kImageMark);
  for (const std::string& name : names)
    text += name + '\n';
  return text;
}

std::vector<std::string> names_of_config(const std::uint8_t* image, std::size_t bytes) {
  std::vector<std::string> names;
  if (image == nullptr || bytes == 0 || image[0] != kImageMark)
    return names;
  std::string name;
  for (std::size_t i = 1; i < bytes; ++i)
    if (image[i] == '\n') {
      names.push_back(name);
      name.clear();
    } else {
      name += static_cast<char>(image[i]);
    }
  return names;
}

std::size_t passes_for(std::size_t counters) {
  return (counters + kCountersInPass - 1) / kCountersInPass;
}

// Counter data: the decoded ranges by the address of their image. It is the caller's memory, and
// what it holds is nobody's business but ours.
std::map<const std::uint8_t*, std::vector<std::pair<std::string, std::map<std::string, double>>>>&
decoded() {
  static auto* const all =
      new std::map<const std::uint8_t*,
                   std::vector<std::pair<std::string, std::map<std::string, double>>>>;
  return *all;
}

Status refusal() {
  return Faults::get().counters_refused() ? status::insufficient_privileges : status::success;
}

} // namespace

extern "C" {

Status cuptiGetVersion(std::uint32_t* version) {
  if (version == nullptr)
    return status::invalid_parameter;
  *version = kVersion;
  return status::success;
}

Status cuptiGetResultString(Status value, const char** text) {
  if (text == nullptr)
    return status::invalid_parameter;
  switch (value) {
  case status::success: *text = "CUPTI_SUCCESS"; break;
  case status::invalid_parameter: *text = "CUPTI_ERROR_INVALID_PARAMETER"; break;
  case status::invalid_operation: *text = "CUPTI_ERROR_INVALID_OPERATION"; break;
  case status::not_initialized: *text = "CUPTI_ERROR_NOT_INITIALIZED"; break;
  case status::invalid_metric_name: *text = "CUPTI_ERROR_INVALID_METRIC_NAME"; break;
  case status::not_supported: *text = "CUPTI_ERROR_NOT_SUPPORTED"; break;
  case status::insufficient_privileges: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
  default: *text = "CUPTI_ERROR_UNKNOWN"; break;
  }
  return status::success;
}

int kernevoStandIn(char* text, int size) {
  return kernevo_kernevoStandIn(text, size);
}

Status cuptiProfilerInitialize(Initialize* p) {
  return is_whole(p) ? status::success : status::invalid_parameter;
}

Status cuptiDeviceGetChipName(ChipName* p) {
  static const std::string name =
      fmt::format("sm_{}", kernevo::cuda::played_gpu().compute_capability);
  if (!is_whole(p) || p->device != 0)
    return status::invalid_parameter;
  p->name = name.c_str();
  return status::success;
}

// As on a GPU, here and where counting starts is where permission is asked for.
Status cuptiProfilerGetCounterAvailability(Availability* p) {
  if (!is_whole(p))
    return status::invalid_parameter;
  if (const Status refused = refusal(); refused != status::success)
    return refused;
  if (p->image != nullptr && p->bytes < 1)
    return status::invalid_parameter;
  p->bytes = 1;
  if (p->image != nullptr)
    *p->image = static_cast<std::uint8_t>(kImageMark);
  return status::success;
}

Status cuptiProfilerHostInitialize(HostInitialize* p) {
  ChipName chip;
  chip.size = size_of(chip);
  cuptiDeviceGetChipName(&chip);
  if (!is_whole(p) || p->chip == nullptr || std::strcmp(p->chip, chip.name) != 0 ||
      p->profiler != kRangeProfiler)
    return status::invalid_parameter;
  p->object = new HostObjectOfCupti;
  return status::success;
}

Status cuptiProfilerHostDeinitialize(HostDeinitialize* p) {
  if (!is_whole(p) || p->object == nullptr)
    return status::invalid_parameter;
  delete p->object;
  return status::success;
}

Status cuptiProfilerHostGetMetricProperties(MetricProperties* p) {
  if (!is_whole(p) || p->object == nullptr || p->name == nullptr)
    return status::invalid_parameter;
  if (kernevo_range_counter(p->name) == 0)
    return status::invalid_metric_name;
  p->description = "counted or modelled by the virtual GPU";
  p->hardware_unit = "";
  p->unit = "";
  p->type = 0;
  return status::success;
}

Status cuptiProfilerHostConfigAddMetrics(AddMetrics* p) {
  if (!is_whole(p) || p->object == nullptr || p->names == nullptr)
    return status::invalid_parameter;
  for (std::size_t i = 0; i < p->count; ++i)
    if (kernevo_range_counter(p->names[i]) == 0)
      return status::invalid_metric_name;
  for (std::size_t i = 0; i < p->count; ++i)
    p->object->names.emplace_back(p->names[i]);
  return status::success;
}

Status cuptiProfilerHostGetConfigImageSize(ConfigSize* p) {
  if (!is_whole(p) || p->object == nullptr)
    return status::invalid_parameter;
  p->bytes = config_text(p->object->names).size();
  return status::success;
}

Status cuptiProfilerHostGetConfigImage(Config* p) {
  if (!is_whole(p) || p->object == nullptr || p->image == nullptr)
    return status::invalid_parameter;
  const std::string text = config_text(p->object->names);
  if (p->bytes < text.size())
    return status::invalid_parameter;
  std::memcpy(p->image, text.data(), text.size());
  return status::success;
}

Status cuptiProfilerHostGetNumOfPasses(PassCount* p) {
  if (!is_whole(p))
    return status::invalid_parameter;
  p->passes = passes_for(names_of_config(p->image, p->bytes).size());
  return p->passes == 0 ? status::invalid_parameter : status::success;
}

Status cuptiProfilerHostEvaluateToGpuValues(Evaluate* p) {
  if (!is_whole(p) || p->object == nullptr || p->names == nullptr || p->values == nullptr)
    return status::invalid_parameter;
  const auto found = decoded().find(p->data);
  if (found == decoded().end() || p->range >= found->second.size())
    return status::invalid_parameter;
  const auto& read = found->second[p->range].second;
  for (std::size_t i = 0; i < p->count; ++i) {
    const auto value = read.find(p->names[i]);
    p->values[i] = value == read.end() ? std::numeric_limits<double>::quiet_NaN() : value->second;
  }
  return status::success;
}

Status cuptiRangeProfilerEnable(Enable* p) {
  if (!is_whole(p) || p->context == nullptr)
    return status::invalid_parameter;
  p->object = new RangeObjectOfCupti;
  return status::success;
}

Status cuptiRangeProfilerDisable(Disable* p) {
  if (!is_whole(p) || p->object == nullptr)
    return status::invalid_parameter;
  decoded().erase(p->object->data);
  delete p->object;
  return status::success;
}

Status cuptiRangeProfilerGetCounterDataSize(DataSize* p) {
  if (!is_whole(p) || p->object == nullptr || p->names == nullptr || p->nodes < p->ranges)
    return status::invalid_parameter;
  p->bytes = 1 + p->count * p->ranges * sizeof(double);
  return status::success;
}

Status cuptiRangeProfilerCounterDataImageInitialize(DataInitialize* p) {
  if (!is_whole(p) || p->object == nullptr || p->data == nullptr || p->bytes == 0)
    return status::invalid_parameter;
  *p->data = static_cast<std::uint8_t>(kImageMark);
  return status::success;
}

Status cuptiRangeProfilerSetConfig(SetConfig* p) {
  if (!is_whole(p) || p->object == nullptr || p->data == nullptr || p->data_bytes == 0 ||
      *p->data != static_cast<std::uint8_t>(kImageMark) || p->ranges == 0)
    return status::invalid_parameter;
  if (p->range != kUserRange || p->replay != kUserReplay || p->levels != 1 || p->least_level != 1)
    return status::not_supported;
  RangeObjectOfCupti& object = *p->object;
  object.names = names_of_config(p->config, p->config_bytes);
  if (object.names.empty())
    return status::invalid_parameter;
  object.most_ranges = p->ranges;
  object.data = p->data;
  object.data_bytes = p->data_bytes;
  object.pass = p->pass;
  object.configured = true;
  return status::success;
}

Status cuptiRangeProfilerStart(Start* p) {
  if (!is_whole(p) || p->object == nullptr)
    return status::invalid_parameter;
  if (!p->object->configured || p->object->started)
    return status::invalid_operation;
  if (const Status refused = refusal(); refused != status::success)
    return refused;
  p->object->started = true;
  p->object->ranges = 0;
  return status::success;
}

Status cuptiRangeProfilerPushRange(PushRange* p) {
  if (!is_whole(p) || p->object == nullptr || p->name == nullptr)
    return status::invalid_parameter;
  RangeObjectOfCupti& object = *p->object;
  if (!object.started || object.in_range)
    return status::invalid_operation;
  kernevo_cuCtxSynchronize(); // what was launched before belongs to no range
  if (kernevo_range_open() != 0)
    return status::not_supported;
  object.in_range = true;
  if (object.ranges < object.read.size())
    object.read[object.ranges].first = p->name;
  else if (object.ranges < object.most_ranges)
    object.read.emplace_back(p->name, std::map<std::string, double>());
  return status::success;
}

Status cuptiRangeProfilerPopRange(PopRange* p) {
  if (!is_whole(p) || p->object == nullptr)
    return status::invalid_parameter;
  RangeObjectOfCupti& object = *p->object;
  if (!object.in_range)
    return status::invalid_operation;
  object.in_range = false;
  kernevo_cuCtxSynchronize();
  std::map<std::string, double> counted;
  kernevo_range_close(
      [](const char* name, double value, void* data) {
        (*static_cast<std::map<std::string, double>*>(data))[name] = value;
      },
      &counted);
  const std::size_t range = object.ranges++;
  if (range >= object.read.size()) {
    ++object.dropped;
    return status::success;
  }
  // Only what this pass has registers for.
  const std::size_t first = object.pass * kCountersInPass;
  const std::size_t end = std::min(first + kCountersInPass, object.names.size());
  for (std::size_t i = first; i < end; ++i)
    if (const auto value = counted.find(object.names[i]); value != counted.end())
      object.read[range].second[object.names[i]] = value->second;
  return status::success;
}

Status cuptiRangeProfilerStop(Stop* p) {
  if (!is_whole(p) || p->object == nullptr)
    return status::invalid_parameter;
  RangeObjectOfCupti& object = *p->object;
  if (!object.started || object.in_range)
    return status::invalid_operation;
  object.started = false;
  ++object.pass;
  p->pass = object.pass;
  p->target_level = 1;
  p->all_passes = object.pass >= passes_for(object.names.size()) ? 1 : 0;
  return status::success;
}

Status cuptiRangeProfilerDecodeData(Decode* p) {
  if (!is_whole(p) || p->object == nullptr)
    return status::invalid_parameter;
  if (p->object->started || !p->object->configured)
    return status::invalid_operation;
  decoded()[p->object->data] = p->object->read;
  p->dropped = p->object->dropped;
  return status::success;
}

Status cuptiRangeProfilerGetCounterDataInfo(DataInfo* p) {
  if (!is_whole(p))
    return status::invalid_parameter;
  const auto found = decoded().find(p->data);
  p->ranges = found == decoded().end() ? 0 : found->second.size();
  return found == decoded().end() ? status::invalid_parameter : status::success;
}

Status cuptiRangeProfilerCounterDataGetRangeInfo(RangeInfo* p) {
  if (!is_whole(p))
    return status::invalid_parameter;
  const auto found = decoded().find(p->data);
  if (found == decoded().end() || p->range >= found->second.size())
    return status::invalid_parameter;
  p->name = found->second[p->range].first.c_str();
  return status::success;
}
}
