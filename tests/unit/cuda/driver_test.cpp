// The driver's interface as a program uses it, rightly and wrongly.
#include "cuda_program.h"

#include <array>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "test_folder.h"

namespace {

class CudaDriver : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kScalePtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&function_, module_, "scale"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&data_, 16), CUDA_SUCCESS);
  }
  void TearDown() override {
    cuMemFree(data_);
    (void)cudaGetLastError();
  }
  CUresult launch(void** parameters, void** extra = nullptr, CUstream stream = nullptr) const {
    return cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream, parameters, extra);
  }
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  CUdeviceptr data_ = 0;
};

TEST_F(CudaDriver, AModuleIsUnloadedOnce) {
  EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module_), CUDA_ERROR_INVALID_HANDLE);
  CUfunction function = nullptr;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuModuleGetFunction(&function, module_, "scale"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetGlobal(&address, &bytes, module_, "factor"), CUDA_ERROR_INVALID_HANDLE);
  std::array<void*, 1> parameters = {&data_};
  EXPECT_EQ(launch(parameters.data()), CUDA_ERROR_INVALID_HANDLE) << "its kernels are gone";
  EXPECT_EQ(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  int nothing = 0;
  auto* const never = reinterpret_cast<CUmodule>(&nothing); // NOLINT
  EXPECT_EQ(cuModuleUnload(never), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&function, never, "scale"), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaDriver, ACapturedLaunchKeepsItsModule) {
  const float one = 1;
  const float three = 3;
  CUdeviceptr factor = 0;
  ASSERT_EQ(cuModuleGetGlobal(&factor, nullptr, module_, "factor"), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(factor, &three, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(data_, &one, 4), CUDA_SUCCESS);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  std::array<void*, 1> parameters = {&data_};
  ASSERT_EQ(launch(parameters.data(), nullptr, stream), CUDA_SUCCESS);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
  EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  float value = 0;
  EXPECT_EQ(cuMemcpyDtoH(&value, data_, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 3);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(CudaDriver, BlockArgumentsAndGridMayComeOneAfterTheOther) {
  const float one = 1;
  const float three = 3;
  CUdeviceptr factor = 0;
  ASSERT_EQ(cuModuleGetGlobal(&factor, nullptr, module_, "factor"), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(factor, &three, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(data_, &one, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetBlockShape(function_, 1, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuParamSetSize(function_, sizeof data_), CUDA_SUCCESS);
  EXPECT_EQ(cuParamSetv(function_, 0, &data_, sizeof data_), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunch(function_), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchGrid(function_, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchGridAsync(function_, 1, 1, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  float value = 0;
  EXPECT_EQ(cuMemcpyDtoH(&value, data_, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 27);
  EXPECT_EQ(cuFuncSetBlockShape(function_, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchGrid(function_, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSetv(function_, -4, &data_, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSetSize(function_, 1U << 20U), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSetSize(function_, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunch(function_), CUDA_ERROR_INVALID_VALUE) << "it wants eight bytes";
}
#pragma GCC diagnostic pop

TEST_F(CudaDriver, WhatIsNoModuleIsRefused) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(nullptr, kScalePtx), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoadData(&module, "\x7f"
                                      "ELF and nothing more"),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoad(&module, "/nowhere/module.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuModuleLoad(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(module, nullptr);
  const kernevo::TestFolder folder;
  EXPECT_EQ(cuModuleLoad(&module, folder.write("module.ptx", kScalePtx).c_str()), CUDA_SUCCESS);
  EXPECT_NE(module, nullptr);
}

TEST_F(CudaDriver, NamesOfAModuleMustBeThere) {
  CUfunction function = nullptr;
  CUdeviceptr address = 0;
  EXPECT_EQ(cuModuleGetFunction(&function, module_, ""), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunction(&function, module_, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleGetGlobal(&address, nullptr, module_, "scale"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetGlobal(&address, nullptr, module_, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(address, 0U);
  CUfunction again = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&again, module_, "scale"), CUDA_SUCCESS);
  EXPECT_EQ(again, function_) << "one handle for one kernel";
}

TEST_F(CudaDriver, ArgumentsAreCounted) {
  EXPECT_EQ(launch(nullptr), CUDA_ERROR_INVALID_VALUE);
  std::size_t small = 4;
  std::array<void*, 5> extra = {CU_LAUNCH_PARAM_BUFFER_POINTER, &data_, CU_LAUNCH_PARAM_BUFFER_SIZE,
                                &small, CU_LAUNCH_PARAM_END};
  EXPECT_EQ(launch(nullptr, extra.data()), CUDA_ERROR_INVALID_VALUE);
  std::array<void*, 1> none = {nullptr};
  EXPECT_EQ(launch(none.data()), CUDA_ERROR_INVALID_VALUE);
  int nothing = 0;
  std::array<void*, 1> parameters = {&data_};
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(&nothing), 1, 1, 1, 1, 1, 1, 0, // NOLINT
                           nullptr, parameters.data(), nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(function_, 1, 1, 1, 2048, 1, 1, 0, nullptr, parameters.data(), nullptr),
            CUDA_ERROR_INVALID_VALUE)
      << "the runtime's number for it is none of the driver's";
  EXPECT_EQ(launch(parameters.data()), CUDA_SUCCESS);
}

TEST_F(CudaDriver, MemoryIsCheckedOnBothSides) {
  std::array<char, 32> host{};
  EXPECT_EQ(cuMemAlloc(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr none = 0;
  EXPECT_EQ(cuMemAlloc(&none, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(data_, host.data(), 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), data_ + 8, 9), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(data_, 0, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(data_, 0, ~std::size_t{0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD16(data_, 0x1234, 8), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), data_, 16), CUDA_SUCCESS);
  EXPECT_EQ(host[15], 0x12);
  EXPECT_EQ(cuMemsetD2D8(data_, 8, 1, 8, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr gone = 0;
  ASSERT_EQ(cuMemAlloc(&gone, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(gone), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(gone), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(gone, host.data(), 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoD(data_, gone, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetAddressRange(nullptr, nullptr, gone), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange(&base, &bytes, data_ + 3), CUDA_SUCCESS);
  EXPECT_EQ(base, data_);
  EXPECT_EQ(bytes, 16U);
}

TEST_F(CudaDriver, ContextsAndLinksAreHandlesUntilDestroyed) {
  CUcontext context = nullptr;
  CUcontext current = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxCreate(&context, nullptr, 0, 5), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuCtxCreate(nullptr, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  CUlinkState link = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  void* image = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(cuLinkComplete(link, &image, &bytes), CUDA_ERROR_INVALID_VALUE) << "of nothing";
  EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, nullptr, 8, "part", 0, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLinkComplete(link, &image, &bytes), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaDriver, AddressesAreReservedThenMapped) {
  constexpr std::size_t kBytes = 2U << 20U;
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAddressReserve(&address, 100, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemAddressReserve(&address, kBytes, 0, 0, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemMap(address, kBytes, 0, 77, 0), CUDA_ERROR_INVALID_VALUE) << "no such memory";
  ASSERT_EQ(cuMemCreate(&handle, kBytes, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(address, kBytes / 2, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(address, kBytes, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(address, kBytes, 0, handle, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemSetAccess(address, kBytes, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemSetAccess(address, 2 * kBytes, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(address, kBytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE) << "gone with the mapping";
  EXPECT_EQ(cuMemAddressFree(address, kBytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(address, kBytes), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaDriver, FunctionsAreFoundByName) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(cuGetProcAddress("cuMemFree", &found, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_NE(found, nullptr);
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &found, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(found, nullptr);
  const char* name = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &name), CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_INVALID_VALUE");
}

} // namespace
