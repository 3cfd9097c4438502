// Faults on order: what goes wrong on real GPUs and never on this one, so that programs which must
// survive it can be tested. $KERNEVO_CUDA_FAULTS is a list with commas:
//   out-of-memory@N        the Nth allocation of a process, and every later one, finds no memory
//   launch-failure@N       the Nth launch is refused; the next may go well
//   sticky-error@N         the Nth launch ends the context: every later call fails
//   lost-device@N=FILE     at the Nth launch the GPU is lost, and stays so for every process while
//                          FILE exists, which is made then
//   throttle=MHZ           NVML shows this clock and heat as the reason; throttle@N=MHZ: from its
//                          Nth look on
//   foreign-process=ID     NVML shows another process at work; foreign-process@N=ID likewise
//   counters-refused       reading counters is not allowed; counters-refused@N: from the Nth
//                          time on that somebody asks
//   timer-noise=PERCENT    times between events vary at random by as much, to both sides
//   timer-drift=PERCENT    and grow by as much from one hundred to the next
#pragma once

#include "kernevo/base/result.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kernevo::cuda {

struct FaultOrder {
  std::uint64_t from = 1; // the first that it concerns, counted from 1
  std::string value;      // after '='
};
// By name. The error says which is unknown, and which there are.
Result<std::map<std::string, FaultOrder>> parse_faults(std::string_view text);

class Faults {
public:
  // Those of the environment; what cannot be read ends the process with a line that says why.
  static Faults& get();
  explicit Faults(std::map<std::string, FaultOrder> orders) : orders_(std::move(orders)) {}

  // Of a driver's call; 0 where it shall go as it goes.
  int start(); // cuInit: CUDA_ERROR_NO_DEVICE
  int call();  // any: what has ended the context
  int allocation();
  int launch();
  double elapsed(double milliseconds);

  // Of NVML.
  bool lost() const;
  struct Sight {
    unsigned clock_mhz = 0;       // 0: as it is
    unsigned foreign_process = 0; // 0: none
  };
  Sight look(); // one more look at the clock

  // Of CUPTI.
  bool counters_refused();

private:
  const FaultOrder* order(const char* name) const;
  bool due(const char* name, std::uint64_t count) const;

  std::map<std::string, FaultOrder> orders_;
  std::atomic<std::uint64_t> allocations_ = 0;
  std::atomic<std::uint64_t> launches_ = 0;
  std::atomic<std::uint64_t> times_ = 0;
  std::atomic<std::uint64_t> looks_ = 0;
  std::atomic<std::uint64_t> counter_asks_ = 0;
  std::atomic<int> ended_by_ = 0;
};

} // namespace kernevo::cuda
