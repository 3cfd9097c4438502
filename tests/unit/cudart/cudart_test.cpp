// The CUDA runtime's functions as nvcc's generated code calls them, with PTX in a hand-made
// container.
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name,
                            int thread_limit, uint3* tid, uint3* bid, dim3* block, dim3* grid,
                            int* warp);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int ext,
                       std::size_t bytes, int constant, int global);
}

namespace {

constexpr const char* kPtx = R"(.version 7.0
.target sm_80
.address_size 64
.const .align 4 .f32 factor;
.visible .entry scale(.param .u64 data)
{
  .reg .u32 %r<2>;
  .reg .u64 %rd<4>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ld.const.f32 %f2, [factor];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd3], %f3;
  ret;
}
)";

template <class T> void append(std::vector<char>& to, T value) {
  const auto at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

std::vector<char> image_of(std::string ptx, std::uint32_t compressed = 0) {
  ptx.resize((ptx.size() + 8) / 8 * 8, '\0');
  std::vector<char> image;
  append<std::uint32_t>(image, 0xBA55ED50);
  append<std::uint16_t>(image, 1);
  append<std::uint16_t>(image, 16);
  append<std::uint64_t>(image, 64 + ptx.size());
  append<std::uint16_t>(image, 1); // PTX
  append<std::uint16_t>(image, 0x101);
  append<std::uint32_t>(image, 64);
  append<std::uint64_t>(image, ptx.size());
  append<std::uint32_t>(image, compressed);
  append<std::uint32_t>(image, 0);
  append<std::uint32_t>(image, 0);
  append<std::uint32_t>(image, 80);
  image.resize(16 + 64);
  image.insert(image.end(), ptx.begin(), ptx.end());
  return image;
}

struct Wrapper {
  std::uint32_t magic = 0x466243B1;
  std::uint32_t version = 1;
  const char* image = nullptr;
  void* rest = nullptr;
};

// Static, as in a program: the runtime keeps their addresses.
struct Registered {
  Registered() {
    good.image = good_image.data();
    void** handle = __cudaRegisterFatBinary(&good);
    __cudaRegisterFunction(handle, &scale, nullptr, "scale", -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    __cudaRegisterVar(handle, &factor, nullptr, "factor", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
    packed.image = packed_image.data();
    handle = __cudaRegisterFatBinary(&packed);
    __cudaRegisterFunction(handle, &compressed, nullptr, "scale", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(handle);
  }
  std::vector<char> good_image = image_of(kPtx);
  std::vector<char> packed_image = image_of(kPtx, 17);
  Wrapper good;
  Wrapper packed;
  char scale = 0;
  char factor = 0;
  char compressed = 0;
};
Registered& program() {
  static Registered registered;
  return registered;
}

TEST(Cudart, LaunchesWithSymbolsAndCopies) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  std::array<float, 4> values = {1, 2, 3, 4};
  const float factor = 3;
  EXPECT_EQ(cudaMemcpy(device, values.data(), 16, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(&program().factor, &factor, 4, 0, cudaMemcpyHostToDevice),
            cudaSuccess);
  std::array<void*, 1> arguments = {static_cast<void*>(&device)};
  EXPECT_EQ(cudaLaunchKernel(&program().scale, dim3(1), dim3(4), arguments.data(), 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpy(values.data(), device, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values, (std::array<float, 4>{3, 6, 9, 12}));
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST(Cudart, CapturedWorkRunsWhenTheGraphDoes) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 4), cudaSuccess);
  const float one = 1;
  const float two = 2;
  cudaMemcpy(device, &one, 4, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(&program().factor, &two, 4, 0, cudaMemcpyHostToDevice);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamCreate(&stream);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  std::array<void*, 1> arguments = {static_cast<void*>(&device)};
  cudaLaunchKernel(&program().scale, dim3(1), dim3(1), arguments.data(), 0, stream);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  float value = 0;
  cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(value, 1); // nothing has run yet
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
  cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(value, 4);
}

TEST(Cudart, MistakesAreErrors) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  std::array<char, 32> host{};
  EXPECT_EQ(cudaMemcpy(device, host.data(), 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaFree(static_cast<char*>(device) + 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&program().factor, host.data(), 5, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(host.data(), host.data(), 1, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaLaunchKernel(host.data(), dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  std::array<void*, 1> arguments = {static_cast<void*>(&device)};
  EXPECT_EQ(cudaLaunchKernel(&program().scale, dim3(1), dim3(4096), arguments.data(), 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&program().compressed, dim3(1), dim3(1), arguments.data(), 0, nullptr),
            cudaErrorInvalidKernelImage);
  (void)cudaGetLastError();
}

// After a fault every later launch repeats the error. Ends the process.
void launch_past_the_end() {
  void* device = nullptr;
  (void)cudaMalloc(&device, 16);
  std::array<void*, 1> arguments = {static_cast<void*>(&device)};
  const auto launch = [&](unsigned threads) {
    return cudaLaunchKernel(&program().scale, dim3(1), dim3(threads), arguments.data(), 0, nullptr);
  };
  const bool right = launch(8) == cudaErrorLaunchFailure && launch(4) == cudaErrorLaunchFailure &&
                     cudaDeviceSynchronize() == cudaErrorLaunchFailure;
  std::_Exit(right ? 0 : 1);
}

TEST(CudartDeathTest, AFaultEndsTheContext) {
  EXPECT_EXIT(launch_past_the_end(), testing::ExitedWithCode(0), "out_of_bounds");
}

} // namespace
