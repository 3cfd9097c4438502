#include "kernevo/model/gpu.h"

#include <algorithm>

namespace kernevo {

double Gpu::peak_operations_per_second(DType dtype) const {
  const double fp32 = fp32_tflops.value_or(0);
  // Integer rates have no public figure. A multiply-add per fp32 lane and cycle bounds them: int64
  // needs at least two, and a dot product of four int8 counts as four.
  double tera = 0;
  switch (dtype) {
  case DType::float32: tera = fp32; break;
  case DType::float64:
    tera = std::max(fp64_tflops.value_or(0), tensor_fp64_tflops.value_or(0));
    break;
  case DType::float16:
    tera = std::max({tensor_fp16_tflops.value_or(0), fp16_tflops.value_or(0), fp32});
    break;
  case DType::bfloat16:
    // Before sm_80 bfloat16 has no arithmetic of its own and runs as float32.
    tera = compute_capability < 80 ? fp32 : std::max(tensor_fp16_tflops.value_or(0), fp32);
    break;
  case DType::int8: tera = std::max(tensor_int8_tops.value_or(0), 4 * fp32); break;
  case DType::int32: tera = fp32; break;
  case DType::int64: tera = fp32 / 2; break;
  }
  return tera * 1e12;
}

} // namespace kernevo
