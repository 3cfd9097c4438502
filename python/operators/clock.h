// The virtual GPU's side of an operator: what was given to the stream before is done first, and
// what the operator would take there passes on its clock.
#pragma once

#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <cstdint>

namespace kernevo {

// As src/kernevo/cuda/core/host_operator.h has it.
struct OperatorWork {
  const char* name;
  std::uint64_t bytes;
  double flops;
  int arithmetic; // 0 fp64, 1 fp32, 2 sixteen bits
};

template <class F> F* of_virtual_gpu(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  TORCH_CHECK(found != nullptr,
              "kernevo: the CUDA libraries of this process are not kernevo's, or "
              "older ones: there is no '",
              name, "'; run 'kernevo setup python'");
  return reinterpret_cast<F*>(found);
}

enum class Turn { now, priced, captured };

// Waits for the operator's turn in the stream.
inline Turn begin_operator(cudaStream_t stream) {
  static auto* const begin = of_virtual_gpu<int(cudaStream_t, int*)>("kernevo_begin_operator");
  int priced = 0;
  const int error = begin(stream, &priced);
  if (error == cudaErrorStreamCaptureUnsupported)
    return Turn::captured;
  TORCH_CHECK(error == 0, "CUDA error: ", cudaGetErrorString(static_cast<cudaError_t>(error)));
  return priced != 0 ? Turn::priced : Turn::now;
}

inline void end_operator(cudaStream_t stream, const OperatorWork& work) {
  static auto* const end =
      of_virtual_gpu<int(cudaStream_t, const OperatorWork*)>("kernevo_end_operator");
  end(stream, &work);
}

} // namespace kernevo
