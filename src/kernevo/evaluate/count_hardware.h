// What a device's own counters say of a kernel on the shapes of its task.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/explain/counter_map.h"
#include "kernevo/model/counter_readings.h"

namespace kernevo {

// On the inputs it is timed with. Nothing where the device has no counters of hardware; where it
// has and gives none, or not those that are needed, the answer says why.
Result<std::optional<HardwareCounters>> count_hardware(Device& device,
                                                       const PreparedKernel& prepared,
                                                       const CounterMap& map,
                                                       const BenchOptions& options);

} // namespace kernevo
