// What went wrong: the runtime's last error, which each thread has for itself, and a fault of a
// kernel, which ends the context for everybody. The driver's interface knows only the second.
#pragma once

#include <cuda_runtime_api.h>

namespace kernevo::cuda {

// Remembers the error for cudaGetLastError in this thread and returns it.
cudaError_t set_error(cudaError_t error);
// The error remembered, or the fault.
cudaError_t last_error(bool clear);

// The first fault stays; every later call repeats it.
void set_fault(cudaError_t fault);
cudaError_t fault();

// What went wrong in work that nobody waited for, short of a fault: told once, to who waits next.
void note_failure(cudaError_t error);
// The fault, or such an error.
cudaError_t outcome_of_work();

// What the driver does leaves no trace in the runtime's last error.
class KeepsLastError {
public:
  KeepsLastError();
  ~KeepsLastError();
  KeepsLastError(const KeepsLastError&) = delete;
  KeepsLastError& operator=(const KeepsLastError&) = delete;

private:
  cudaError_t before_;
};

} // namespace kernevo::cuda
