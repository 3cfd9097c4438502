// What a launch costs, as the price worker tells it to a library that runs launches: the timing
// model's answer in a few figures, and the messages between the two.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/timing.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// Modelled, never measured.
struct LaunchPrice {
  Nanoseconds time;
  double error = 0; // relative; how far off validation was for two launches in three
  bool from_machine_code = false;
  std::string note; // why the PTX alone had to do; empty when it had not
  std::string limiter;
  std::string bottleneck;         // the tag of the first finding; empty: nothing stands out
  std::string message;            // the same in a sentence with figures
  double occupancy = 0;           // share of the warps a multiprocessor could hold
  double waves = 0;               // blocks of the grid / blocks the whole GPU holds at once
  std::vector<TimingTerm> bounds; // the time each resource alone would need, longest first
  // Every metric of docs/profiling.md the launch has, where they were asked for.
  std::map<std::string, double> metrics = {};
};

std::string to_json(const LaunchPrice& price);
Result<LaunchPrice> launch_price_from_json(std::string_view text);

// What the assembler makes of a kernel.
struct AssembledKernel {
  int registers = 0; // of a thread
  Bytes stack;       // of a thread

  bool operator==(const AssembledKernel&) const = default;
};

// The GPU comes first and once, a module before what is asked of its kernels.
struct PriceRequest {
  enum class Kind : std::uint8_t { gpu, module, launch, kernel };
  Kind kind = Kind::gpu;
  std::string gpu;
  std::uint64_t module = 0;       // of all but the GPU: a number of the sender's
  std::vector<std::string> texts; // of a module: its PTX; several were linked
  std::string kernel;             // of a launch and of a kernel: as in the PTX
  LaunchCounts counts;            // of a launch
  bool metrics = false;           // of a launch: they are wanted
};

std::string_view name_of(PriceRequest::Kind kind);
std::string to_json(const PriceRequest& request);
Result<PriceRequest> price_request_from_json(std::string_view text);

// To every request. A GPU and a module are answered with nothing when all is well.
struct PriceAnswer {
  std::optional<LaunchPrice> price;      // of a launch
  std::optional<AssembledKernel> kernel; // of a kernel
  std::optional<Error> error;
};

std::string to_json(const PriceAnswer& answer);
Result<PriceAnswer> price_answer_from_json(std::string_view text);

} // namespace kernevo
