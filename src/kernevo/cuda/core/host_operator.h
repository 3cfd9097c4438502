// What a framework computes on the host in a kernel's place (torch's operators, python/operators):
// it takes its turn in a stream, and its price passes on the stream's clock.
#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>

extern "C" {

// As python/operators/clock.h has it.
struct KernevoOperator {
  const char* name; // "aten::mm"
  std::uint64_t bytes;
  double flops;
  int arithmetic; // 0 fp64, 1 fp32, 2 sixteen bits
};

// Waits, in real time alone, for what the stream was given before.
// cudaErrorStreamCaptureUnsupported: the stream is being captured, so nothing may be computed now.
// `priced`: somebody wants the price.
cudaError_t kernevo_begin_operator(cudaStream_t stream, int* priced);
// Prices it. Inside a graph that is being run the stream is the graph's.
cudaError_t kernevo_end_operator(cudaStream_t stream, const KernevoOperator* done);

// Work of the stream that a graph may do again: operators, that write down themselves what they do.
cudaError_t kernevo_submit_operators(cudaStream_t stream, cudaHostFn_t function, void* data);

} // extern "C"
