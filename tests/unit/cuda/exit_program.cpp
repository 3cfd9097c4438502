// Programs that end in the middle of things; the first argument says how.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>

namespace {

constexpr const char* kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 flag) {
  .reg .pred %p;
  .reg .u32 %r;
  .reg .u64 %a;
  ld.param.u64 %a, [flag];
again:
  ld.volatile.global.u32 %r, [%a];
  setp.eq.u32 %p, %r, 0;
  @%p bra again;
  ret;
}
.visible .entry overwrite(.param .u64 data) {
  .reg .u64 %a;
  ld.param.u64 %a, [data];
  st.global.u32 [%a+512], 1;
  ret;
})";

struct Late {
  CUdeviceptr data = 0;
  ~Late() { cuMemFree(data); } // as Python's finalizers do
};

} // namespace

int main(int count, char** arguments) {
  static Late late;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const bool faults = count > 1 && std::strcmp(arguments[1], "fault") == 0;
  if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate(&context, nullptr, 0, 0) != CUDA_SUCCESS ||
      cuModuleLoadData(&module, kPtx) != CUDA_SUCCESS ||
      cuModuleGetFunction(&function, module, faults ? "overwrite" : "spin") != CUDA_SUCCESS ||
      cuMemAlloc(&late.data, 16) != CUDA_SUCCESS || cuMemsetD8(late.data, 0, 16) != CUDA_SUCCESS)
    return 2;
  std::array<void*, 1> parameters = {&late.data};
  if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters.data(), nullptr) !=
      CUDA_SUCCESS)
    return 2;
  if (!faults)
    return 0; // the kernel never ends
  CUdeviceptr more = 0;
  const bool sticks = cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED &&
                      cuMemAlloc(&more, 4) == CUDA_ERROR_LAUNCH_FAILED &&
                      cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED;
  return sticks ? 0 : 1;
}
