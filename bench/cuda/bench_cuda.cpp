// Launches through the CUDA library beside the same launches on the virtual GPU itself, which is
// what `kernevo run FILE` does. Prints tab-separated `name ours peer ratio`; both sides take turns
// and the best round of each counts.
#include "cuda_program.h"

#include "kernevo/hardware/gpu_table.h"
#include "kernevo/vgpu/execute/machine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <string>

namespace {

using kernevo::vgpu::LaunchConfig;

constexpr int kRounds = 7;
constexpr int kLaunches = 1000;
constexpr unsigned kThreads = 256;

constexpr const char* kPtx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry add_one(.param .u64 data)
{
  .reg .u32 %r<5>;
  .reg .u64 %rd<4>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd3], %f2;
  ret;
}
)";

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "bench: {}\n", why);
  std::exit(3);
}

template <class Work> double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A kernel on so many blocks, by both doors.
class Pair {
public:
  Pair(const char* name, unsigned blocks) : blocks_(blocks) {
    if (cuModuleLoadData(&module_, kPtx) != CUDA_SUCCESS ||
        cuModuleGetFunction(&function_, module_, name) != CUDA_SUCCESS)
      give_up("the library does not load the module");
    takes_data_ = std::strcmp(name, "add_one") == 0;
    const std::size_t bytes = std::size_t{blocks} * kThreads * sizeof(float);
    if (cudaMalloc(&ours_, bytes) != cudaSuccess || cudaMemset(ours_, 0, bytes) != cudaSuccess)
      give_up("the library has no memory");
    auto program = kernevo::vgpu::load_program(kPtx, "bench.ptx");
    auto peers = machine_.allocate(bytes, "data");
    if (!program || !peers)
      give_up("the virtual GPU does not load the module");
    program_ = *program;
    config_.kernel = name;
    config_.grid = {blocks, 1, 1};
    config_.block = {kThreads, 1, 1};
    if (takes_data_) {
      config_.parameters.resize(sizeof *peers);
      std::memcpy(config_.parameters.data(), &*peers, sizeof *peers);
    }
  }

  void ours() {
    std::array<void*, 1> arguments = {static_cast<void*>(&ours_)};
    for (int i = 0; i < kLaunches; ++i)
      if (cuLaunchKernel(function_, blocks_, 1, 1, kThreads, 1, 1, 0, nullptr,
                         takes_data_ ? arguments.data() : nullptr, nullptr) != CUDA_SUCCESS)
        give_up("a launch failed");
    if (cudaDeviceSynchronize() != cudaSuccess)
      give_up("the launches failed");
  }
  void peer() {
    for (int i = 0; i < kLaunches; ++i)
      if (machine_.launch(*program_, config_).fault)
        give_up("a launch failed");
  }

  void measure(const std::string& name, double scale) {
    double best_ours = HUGE_VAL;
    double best_peer = HUGE_VAL;
    for (int round = 0; round < kRounds; ++round) {
      best_ours = std::min(best_ours, seconds([&] { ours(); }));
      best_peer = std::min(best_peer, seconds([&] { peer(); }));
    }
    fmt::print("{}\t{:.4g}\t{:.4g}\t{:.3g}\n", name, best_ours * scale, best_peer * scale,
               best_peer / best_ours);
  }

private:
  unsigned blocks_;
  bool takes_data_ = false;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  void* ours_ = nullptr;
  kernevo::vgpu::Machine machine_{kernevo::find_gpu("A100").value(), {}};
  std::shared_ptr<const kernevo::vgpu::Program> program_;
  LaunchConfig config_;
};

} // namespace

int main() {
  cuInit(0);
  cudaFree(nullptr); // makes the context
  fmt::print("name\tours\tpeer\tratio\n");
  Pair empty("nothing", 1);
  Pair small("add_one", 16);
  empty.measure("empty_launch_us", 1e6 / kLaunches);
  small.measure("thousand_small_launches_ms", 1e3);
  // From the first event on every launch is priced.
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, nullptr);
  empty.measure("empty_launch_with_virtual_time_us", 1e6 / kLaunches);
  small.measure("thousand_small_launches_with_virtual_time_ms", 1e3);
  cudaEventRecord(end, nullptr);
  cudaEventSynchronize(end);
  float milliseconds = 0;
  const double asked = seconds([&] { cudaEventElapsedTime(&milliseconds, begin, end); });
  if (!(milliseconds > 0))
    give_up("no time was modelled");
  fmt::print(stderr,
             "bench: the first time asked for took {:.0f} ms; {} launches took {:.2f} ms "
             "of virtual time\n",
             asked * 1e3, 2 * kRounds * kLaunches, static_cast<double>(milliseconds));
  return 0;
}
