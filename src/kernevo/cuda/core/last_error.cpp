#include "kernevo/cuda/core/last_error.h"

#include "kernevo/cuda/common/faults.h"
#include <atomic>

namespace kernevo::cuda {
namespace {

cudaError_t& of_this_thread() {
  static thread_local cudaError_t error = cudaSuccess;
  return error;
}

std::atomic<cudaError_t>& of_the_context() {
  static std::atomic<cudaError_t> fault = cudaSuccess;
  return fault;
}

std::atomic<cudaError_t>& failure() {
  static std::atomic<cudaError_t> error = cudaSuccess;
  return error;
}

} // namespace

cudaError_t set_error(cudaError_t error) {
  if (error != cudaSuccess)
    of_this_thread() = error;
  return error;
}

cudaError_t last_error(bool clear) {
  if (const cudaError_t broken = fault(); broken != cudaSuccess)
    return broken;
  const cudaError_t error = of_this_thread();
  if (clear)
    of_this_thread() = cudaSuccess;
  return error;
}

void set_fault(cudaError_t fault) {
  cudaError_t none = cudaSuccess;
  of_the_context().compare_exchange_strong(none, fault);
}

cudaError_t fault() {
  if (const int ordered = Faults::get().call(); ordered != 0)
    return static_cast<cudaError_t>(ordered);
  return of_the_context();
}

void note_failure(cudaError_t error) {
  cudaError_t none = cudaSuccess;
  if (error != cudaSuccess && fault() == cudaSuccess)
    failure().compare_exchange_strong(none, error);
}

cudaError_t outcome_of_work() {
  const cudaError_t broken = fault();
  const cudaError_t failed = failure().exchange(cudaSuccess);
  return broken != cudaSuccess ? broken : failed;
}

KeepsLastError::KeepsLastError() : before_(of_this_thread()) {}

KeepsLastError::~KeepsLastError() {
  of_this_thread() = before_;
}

} // namespace kernevo::cuda
