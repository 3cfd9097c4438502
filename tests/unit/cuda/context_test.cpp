// Contexts per thread, as a real driver has them, and pointers that must be given.
#include <array>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <thread>

namespace {

// In a thread of its own, which starts with nothing.
template <class Body> void in_a_new_thread(const Body& body) {
  std::thread(body).join();
}

class CudaContext : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(cuInit(0), CUDA_SUCCESS); }
};

TEST_F(CudaContext, AThreadStartsWithNone) {
  in_a_new_thread([] {
    auto* context = reinterpret_cast<CUcontext>(1); // NOLINT
    CUdevice device = 0;
    CUdeviceptr data = 0;
    EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuMemAlloc(&data, 4), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPopCurrent(&context), CUDA_ERROR_INVALID_CONTEXT);
  });
}

TEST_F(CudaContext, TheRuntimeMakesThePrimaryOneCurrent) {
  in_a_new_thread([] {
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    CUcontext current = nullptr;
    CUcontext primary = nullptr;
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
    EXPECT_EQ(current, primary);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  });
}

TEST_F(CudaContext, ThreadsHaveStacks) {
  in_a_new_thread([] {
    CUcontext first = nullptr;
    CUcontext second = nullptr;
    CUcontext current = nullptr;
    ASSERT_EQ(cuCtxCreate(&first, nullptr, 0, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, 0), CUDA_SUCCESS);
    unsigned flags = 0;
    EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
    EXPECT_EQ(flags, static_cast<unsigned>(CU_CTX_SCHED_BLOCKING_SYNC));
    EXPECT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, second);
    EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS) << "takes the top away";
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(cuCtxPushCurrent(second), CUDA_SUCCESS);
    in_a_new_thread([second] { EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS); });
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr) << "another thread destroyed it";
    EXPECT_EQ(cuCtxSetCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxDestroy(first), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxDestroy(first), CUDA_ERROR_INVALID_CONTEXT);
  });
}

TEST_F(CudaContext, NullPointersAreRefused) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetName(nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetUuid(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceTotalMem(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxGetCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxGetDevice(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocManaged(nullptr, 4, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocPitch(nullptr, nullptr, 4, 4, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetInfo(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_CONTEXT, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuEventCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoadData(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLinkCreate(0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGet(nullptr, 3), CUDA_ERROR_INVALID_VALUE);
  CUdevice device = 0;
  EXPECT_EQ(cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
}

// What the driver does leaves no trace in the runtime, and the other way round.
TEST_F(CudaContext, TheDriverHasNoLastError) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  (void)cudaGetLastError();
  CUstream none = reinterpret_cast<CUstream>(&context); // NOLINT
  EXPECT_EQ(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(none), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuGraphDestroy(reinterpret_cast<CUgraph>(&context)),
            CUDA_ERROR_INVALID_VALUE); // NOLINT
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaFree(&context), cudaErrorInvalidValue);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  in_a_new_thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "another thread's"; });
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(CudaContext, AskingForAnEntryPointLeavesNoError) {
  (void)cudaGetLastError();
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNothing", &function, 13000, 0, &status),
            cudaErrorSymbolNotFound);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &function, 13000, 0, &status),
            cudaSuccess);
  EXPECT_NE(function, nullptr);
}

} // namespace
