// Random numbers: the CPU's generator draws them, the GPU's says where it stands. Each operator
// that draws starts the CPU's from (seed, offset) of the GPU's and moves the offset on, so that
// seeds, saved states and recomputation work, and the CPU's own sequence is left as it was.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

#include <optional>

namespace kernevo {

inline uint64_t mixed(uint64_t seed, uint64_t offset) {
  uint64_t x = seed + 0x9e3779b97f4a7c15ULL * (offset + 1);
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

// A number that no other draw of this process gets.
inline uint64_t next_seed(const std::optional<at::Generator>& asked) {
  at::Generator generator = asked ? *asked : at::cuda::detail::getDefaultCUDAGenerator();
  auto* const of_gpu = at::check_generator<at::CUDAGeneratorImpl>(generator);
  const std::lock_guard<std::mutex> lock(of_gpu->mutex_);
  const uint64_t offset = of_gpu->philox_offset_per_thread();
  of_gpu->set_philox_offset_per_thread(offset + 4);
  return mixed(of_gpu->current_seed(), offset);
}

// In its scope the CPU's default generator starts from the seed.
class SeededCpu {
public:
  explicit SeededCpu(uint64_t seed) {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    ours_ = at::check_generator<at::CPUGeneratorImpl>(generator);
    const std::lock_guard<std::mutex> lock(ours_->mutex_);
    engine_ = ours_->engine();
    float_ = ours_->next_float_normal_sample();
    double_ = ours_->next_double_normal_sample();
    ours_->set_current_seed(seed);
  }
  ~SeededCpu() {
    const std::lock_guard<std::mutex> lock(ours_->mutex_);
    ours_->set_engine(engine_);
    ours_->set_next_float_normal_sample(float_);
    ours_->set_next_double_normal_sample(double_);
  }
  SeededCpu(const SeededCpu&) = delete;
  SeededCpu& operator=(const SeededCpu&) = delete;

private:
  at::CPUGeneratorImpl* ours_ = nullptr;
  at::mt19937 engine_;
  std::optional<float> float_;
  std::optional<double> double_;
};

} // namespace kernevo
