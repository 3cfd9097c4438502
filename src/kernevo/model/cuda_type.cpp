#include "kernevo/model/cuda_type.h"

namespace kernevo {

std::string_view cuda_type(DType dtype) {
  switch (dtype) {
  case DType::float32: return "float";
  case DType::float16: return "__half";
  case DType::bfloat16: return "__nv_bfloat16";
  case DType::float64: return "double";
  case DType::int32: return "int";
  case DType::int8: return "signed char";
  case DType::int64: return "long long";
  }
  return "float";
}

std::string_view cuda_header(DType dtype) {
  if (dtype == DType::float16)
    return "cuda_fp16.h";
  return dtype == DType::bfloat16 ? "cuda_bf16.h" : "";
}

} // namespace kernevo
