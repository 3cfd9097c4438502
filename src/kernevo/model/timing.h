// How long a kernel takes, how well that is known, and what must be the same for the figure to be
// obtained again. Measured and modelled times are one record with a method, so that no reader can
// overlook which it holds.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/units.h"
#include "kernevo/model/loaded_code.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

enum class TimingMethod {
  measured, // samples taken on a GPU
  modelled, // the terms of a model
  stand_in, // samples taken as on a GPU, of a driver that plays one: its times are modelled
};
inline bool has_samples(TimingMethod method) {
  return method != TimingMethod::modelled;
}

// Whether the figure can be leaned on.
enum class TimingGrade {
  good,     // the wanted precision was reached on a steady device; a model within its validation
  noisy,    // a limit came before the wanted precision
  drifting, // the device was still getting faster or slower while it was measured
  extrapolated, // a model used outside what it was validated on
  disturbed,    // the device said so each time it was tried: throttled, or shared with somebody
};

enum class CacheState { cold, hot };

struct TimingQuality {
  TimingGrade grade = TimingGrade::good;
  std::string reason; // one line, for people

  // Of measured timings; all zero for modelled ones.
  double relative_noise = 0; // 1.4826 MAD / median: a standard deviation that spikes do not move
  double autocorrelation_time = 0; // samples that carry the information of one independent one
  std::uint64_t warm_up_shots = 0;
  std::uint64_t far_out = 0;   // samples over 5 relative_noise from the median; kept
  std::uint64_t discarded = 0; // shots the device itself called disturbed (throttled, pre-empted)
};

// A part of a modelled time that can be explained on its own.
struct TimingTerm {
  std::string name;
  Nanoseconds time;
};

struct Clocks {
  std::optional<double> multiprocessor_mhz;
  std::optional<double> memory_mhz;
  bool locked = false;
};

struct Receipt {
  std::string device; // "cuda:0 NVIDIA A100-SXM4-40GB", "virtual:A100"
  std::optional<Clocks> clocks;
  std::optional<double> celsius;
  std::optional<double> watts;
  std::string driver;   // empty for a device that has none
  std::string stand_in; // what plays the GPU; empty for one that is real, or modelled openly
  // What was loaded of the kernel; absent where the device leaves no choice.
  std::optional<LoadedCode> code;
  std::uint64_t seed = 0;
  std::string shapes; // the case as the task names its dimensions: "M=1024 N=1024 K=512"
  std::optional<CacheState> cache;
  std::map<std::string, std::string> tools; // name -> version
  // Timings taken in turns on one device share an episode; empty when taken alone.
  std::string episode;
};

struct TimeInterval {
  Nanoseconds low;
  Nanoseconds high;
  double confidence = 0; // a fraction; of a model: how often its validation fell inside
};

struct Timing {
  TimingMethod method = TimingMethod::measured;
  std::vector<Nanoseconds> samples; // in the order taken, nothing removed by value
  std::vector<TimingTerm> terms;    // modelled: what the time is made of
  Nanoseconds median;               // of the samples; of a model its prediction
  TimeInterval interval;            // of the median; of a model its stated error
  TimingQuality quality;
  Receipt receipt;
};

// The time of one of several shapes, and between what it is believed to be.
struct ShapeTime {
  std::string shape;
  Nanoseconds time;
  Nanoseconds low;
  Nanoseconds high;

  bool operator==(const ShapeTime&) const = default;
};

std::string_view name_of(TimingMethod value);
std::string_view name_of(TimingGrade value);
std::string_view name_of(CacheState value);

// The one door into the record: the same parts if they make sense together, else what is wrong.
Result<Timing> make_timing(Timing parts);

} // namespace kernevo
