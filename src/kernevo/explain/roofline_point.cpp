#include "kernevo/explain/roofline_point.h"

#include <algorithm>

namespace kernevo {
namespace {

constexpr double kLanes = 32;
constexpr double kSchedulers = 4;

const char* tensor_unit_for(const PlannedWork& planned) {
  switch (planned.dtype) {
  case DType::float16:
  case DType::bfloat16: return "tensor fp16";
  case DType::float32: return planned.allow_tf32 ? "tensor tf32" : "";
  case DType::float64: return "tensor fp64";
  case DType::int8: return "tensor int8";
  default: return "";
  }
}

} // namespace

RooflinePoint find_roofline_point(const LaunchEvidence& e, const Arithmetic& arithmetic) {
  RooflinePoint point;
  double longest = 0;
  for (const auto& [unit, count] : arithmetic) {
    point.operations += count;
    const double peak = peak_of(e.gpu, unit);
    if (peak > 0 && count / peak > longest) {
      longest = count / peak;
      point.ceiling = {unit, peak};
    }
  }
  if (point.ceiling.unit.empty()) {
    point.instructions = true;
    point.operations = 0;
    const double blocks = double(e.counts.grid[0]) * e.counts.grid[1] * e.counts.grid[2];
    for (const InstructionCounts& i : e.counts.instructions)
      point.operations += static_cast<double>(i.threads) * blocks / e.counts.represented();
    point.ceiling = {"instructions",
                     e.gpu.multiprocessors * kSchedulers * kLanes * e.gpu.clock_ghz * 1e9};
  }
  const double seconds = e.prediction.time.value * 1e-9;
  point.rate = point.operations / seconds;
  const MemoryTraffic& t = e.prediction.traffic;
  point.dram_bytes = t.dram_read_bytes + t.dram_write_bytes;
  point.l2_bytes = t.l2_read_bytes + t.l2_write_bytes;
  point.dram_rate = e.gpu.dram_gbps * 1e9;
  if (const double busy = e.prediction.share_of("l2") * seconds; busy > 0 && point.l2_bytes > 0)
    point.l2_rate = point.l2_bytes / busy;
  if (const std::string unit = tensor_unit_for(e.planned);
      !point.instructions && !unit.empty() && unit != point.ceiling.unit)
    if (const double peak = peak_of(e.gpu, unit); peak > point.ceiling.rate)
      point.unused = RooflineCeiling{unit, peak};
  return point;
}

} // namespace kernevo
