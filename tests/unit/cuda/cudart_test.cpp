// The CUDA runtime's functions as nvcc's generated code calls them, with PTX in a hand-made
// container.
#include "cuda_program.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace {

// As the driver wants it before it does anything.
void make_context_current() {
  CUcontext context = nullptr;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
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

TEST(Cudart, ACaptureFollowsEventsIntoOtherStreams) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 4), cudaSuccess);
  const float one = 1;
  const float two = 2;
  cudaMemcpy(device, &one, 4, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(&program().factor, &two, 4, 0, cudaMemcpyHostToDevice);
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  std::array<void*, 1> arguments = {static_cast<void*>(&device)};
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaLaunchKernel(&program().scale, dim3(1), dim3(1), arguments.data(), 0, first);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork, 0);
  cudaLaunchKernel(&program().scale, dim3(1), dim3(1), arguments.data(), 0, second);
  cudaEventRecord(join, second);
  cudaStreamWaitEvent(first, join, 0);
  cudaLaunchKernel(&program().scale, dim3(1), dim3(1), arguments.data(), 0, first);
  ASSERT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
  std::size_t nodes = 0;
  std::size_t roots = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetRootNodes(graph, nullptr, &roots);
  EXPECT_EQ(nodes, 3U);
  EXPECT_EQ(roots, 1U);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  cudaStreamIsCapturing(second, &status);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  cudaGraphLaunch(executable, nullptr);
  float value = 0;
  cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(value, 8);
}

TEST(Cudart, GraphsMadeByHandRunInTheOrderOfTheirEdges) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 4), cudaSuccess);
  const float two = 2;
  const float five = 5;
  cudaMemcpyToSymbol(&program().factor, &two, 4, 0, cudaMemcpyHostToDevice);
  float result = 0;
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t read = nullptr;
  cudaGraphNode_t launch = nullptr;
  cudaGraphNode_t write = nullptr;
  // Made in the wrong order; only the edges say what comes first.
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&read, graph, nullptr, 0, &result, device, 4,
                                     cudaMemcpyDeviceToHost),
            cudaSuccess);
  std::array<void*, 1> arguments = {static_cast<void*>(&device)};
  cudaKernelNodeParams parameters{};
  parameters.func = &program().scale;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments.data();
  EXPECT_EQ(cudaGraphAddKernelNode(&launch, graph, nullptr, 0, &parameters), cudaSuccess);
  EXPECT_EQ(
      cudaGraphAddMemcpyNode1D(&write, graph, nullptr, 0, device, &five, 4, cudaMemcpyHostToDevice),
      cudaSuccess);
  cudaGraphAddDependencies(graph, &write, &launch, nullptr, 1);
  cudaGraphAddDependencies(graph, &launch, &read, nullptr, 1);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  cudaGraphLaunch(executable, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(result, 10);
  const float seven = 7;
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(executable, write, device, &seven, 4,
                                               cudaMemcpyHostToDevice),
            cudaSuccess);
  cudaGraphLaunch(executable, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(result, 14);
  cudaGraphAddDependencies(graph, &read, &write, nullptr, 1);
  EXPECT_NE(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess); // a circle
  cudaGetLastError();
}

TEST(Cudart, ModulesOfTheDriver) {
  CUmodule module = nullptr;
  make_context_current();
  ASSERT_EQ(cuModuleLoadData(&module, kScalePtx), CUDA_SUCCESS);
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&function, module, "scale"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr factor = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal(&factor, &bytes, module, "factor"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4U);
  const float three = 3;
  cuMemcpyHtoD(factor, &three, 4);
  CUdeviceptr data = 0;
  ASSERT_EQ(cuMemAlloc(&data, 8), CUDA_SUCCESS);
  cuMemsetD32(data, 0x40000000, 2); // 2.0f
  std::array<void*, 1> parameters = {&data};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 2, 1, 1, 0, nullptr, parameters.data(), nullptr),
            CUDA_SUCCESS);
  // The same once more, with the arguments in one buffer.
  std::size_t size = sizeof data;
  std::array<void*, 5> extra = {CU_LAUNCH_PARAM_BUFFER_POINTER, &data, CU_LAUNCH_PARAM_BUFFER_SIZE,
                                &size, CU_LAUNCH_PARAM_END};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, extra.data()),
            CUDA_SUCCESS);
  std::array<float, 2> values{};
  cuMemcpyDtoH(values.data(), data, 8);
  EXPECT_EQ(values, (std::array<float, 2>{18, 18}));
  EXPECT_EQ(cuModuleLoadData(&module, "this is no PTX"), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST(Cudart, TheDriverLinksModules) {
  const std::string caller = R"(.version 7.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice (.param .b32 x);
.visible .entry k(.param .u64 out)
{
  .reg .b64 %rd;
  .reg .b32 %r;
  .param .b32 x; .param .b32 r;
  ld.param.u64 %rd, [out];
  st.param.b32 [x], 21;
  call (r), twice, (x);
  ld.param.b32 %r, [r];
  st.global.u32 [%rd], %r;
  ret;
})";
  const std::string callee = R"(.version 7.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice (.param .b32 x)
{
  .reg .b32 %r;
  ld.param.b32 %r, [x];
  add.u32 %r, %r, %r;
  st.param.b32 [r], %r;
  ret;
})";
  make_context_current();
  CUlinkState state = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  for (const std::string& text : {caller, callee}) {
    std::string copy = text;
    ASSERT_EQ(cuLinkAddData(state, CU_JIT_INPUT_PTX, copy.data(), copy.size() + 1, "part", 0,
                            nullptr, nullptr),
              CUDA_SUCCESS);
  }
  void* image = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(cuLinkComplete(state, &image, &bytes), CUDA_SUCCESS);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  cuLinkDestroy(state);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
  CUdeviceptr out = 0;
  cuMemAlloc(&out, 4);
  std::array<void*, 1> parameters = {&out};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters.data(), nullptr),
            CUDA_SUCCESS);
  std::uint32_t value = 0;
  cuMemcpyDtoH(&value, out, 4);
  EXPECT_EQ(value, 42U);
}

TEST(Cudart, TheLevelsOfAMipmapAreArrays) {
  cudaMipmappedArray_t mipmap = nullptr;
  const cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmap, &format, {8, 4, 0}, 10, 0), cudaSuccess);
  cudaArray_t level = nullptr;
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 4), cudaErrorInvalidValue); // 8 4 2 1
  ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 2), cudaSuccess);
  cudaExtent extent{};
  cudaArrayGetInfo(nullptr, &extent, nullptr, level);
  EXPECT_EQ(extent.width, 2U);
  EXPECT_EQ(extent.height, 1U);
  const std::array<float, 2> two = {5, 6};
  EXPECT_EQ(cudaMemcpy2DToArray(level, 0, 0, two.data(), 8, 8, 1, cudaMemcpyHostToDevice),
            cudaSuccess);
  // The texture sees all levels.
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmap;
  cudaTextureDesc description{};
  description.maxMipmapLevelClamp = 3;
  cudaTextureObject_t texture = 0;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr), cudaSuccess);
  cudaResourceDesc again{};
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&again, texture), cudaSuccess);
  EXPECT_EQ(again.res.mipmap.mipmap, mipmap);
  std::array<float, 2> back{};
  cudaMemcpy2DFromArray(back.data(), 8, level, 0, 0, 8, 1, cudaMemcpyDeviceToHost);
  EXPECT_EQ(back, two);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmap), cudaSuccess);
  cudaGetLastError();
}

TEST(Cudart, PointersSayWhoseTheyAre) {
  void* device = nullptr;
  void* host = nullptr;
  void* managed = nullptr;
  cudaMalloc(&device, 8);
  cudaMallocHost(&host, 8);
  cudaMallocManaged(&managed, 8, cudaMemAttachGlobal);
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 4);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  cudaPointerGetAttributes(&attributes, host);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  cudaPointerGetAttributes(&attributes, managed);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  cudaPointerGetAttributes(&attributes, &attributes);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
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
  const bool right =
      launch(1024) == cudaSuccess && cudaDeviceSynchronize() == cudaErrorLaunchFailure &&
      launch(4) == cudaErrorLaunchFailure && cudaDeviceSynchronize() == cudaErrorLaunchFailure;
  std::_Exit(right ? 0 : 1);
}

TEST(CudartDeathTest, AFaultEndsTheContext) {
  EXPECT_EXIT(launch_past_the_end(), testing::ExitedWithCode(0), "out_of_bounds");
}

} // namespace
