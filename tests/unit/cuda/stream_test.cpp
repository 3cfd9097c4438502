// Streams, events and captures as a program uses them, rightly and wrongly.
#include "cuda_program.h"

#include <array>
#include <gtest/gtest.h>
#include <string>

namespace {

class CudaStream : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&destroyed_), cudaSuccess);
    ASSERT_EQ(cudaStreamDestroy(destroyed_), cudaSuccess);
  }
  void TearDown() override {
    cudaStreamDestroy(stream_);
    (void)cudaGetLastError();
  }
  cudaStream_t stream_ = nullptr;
  cudaStream_t destroyed_ = nullptr;
};

void append_letter(void* text) {
  static_cast<std::string*>(text)->push_back('h');
}

void append_for_stream(cudaStream_t /*stream*/, cudaError_t /*error*/, void* text) {
  static_cast<std::string*>(text)->push_back('c');
}

TEST_F(CudaStream, WorkIsDoneInTheOrderOfTheCalls) {
  float* const data = device_vector({1, 2});
  ASSERT_EQ(set_factor(3), cudaSuccess);
  std::string order;
  EXPECT_EQ(launch_scale(data, 2, stream_), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(stream_, append_letter, &order), cudaSuccess);
  EXPECT_EQ(cudaStreamAddCallback(stream_, append_for_stream, &order, 0), cudaSuccess);
  EXPECT_EQ(launch_scale(data, 1, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(order, "hc");
  EXPECT_EQ(host_vector(data, 2), (std::vector<float>{9, 6}));
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_F(CudaStream, ADestroyedStreamIsRefusedByEveryCall) {
  float* const data = device_vector({1});
  unsigned flags = 0;
  int priority = 0;
  void* pointer = nullptr;
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamDestroy(destroyed_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(destroyed_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(destroyed_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamGetFlags(destroyed_, &flags), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamGetPriority(destroyed_, &priority), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamIsCapturing(destroyed_, &status), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamBeginCapture(destroyed_, cudaStreamCaptureModeGlobal),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamEndCapture(destroyed_, &graph), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(launch_scale(data, 1, destroyed_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemsetAsync(data, 0, 4, destroyed_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMallocAsync(&pointer, 4, destroyed_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFreeAsync(data, destroyed_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchHostFunc(destroyed_, append_letter, &pointer),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(host_vector(data, 1), std::vector<float>{1}) << "nothing was done";
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_F(CudaStream, TheDefaultStreamsAreNobodysToDestroy) {
  for (const cudaStream_t stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
    (void)cudaGetLastError();
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
}

TEST_F(CudaStream, WithoutAPlaceForTheAnswerThereIsNone) {
  EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLaunchHostFunc(stream_, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAddCallback(stream_, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamIsCapturing(stream_, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(nullptr, cudaDevAttrMaxPitch, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetPCIBusId(nullptr, 20, 0), cudaErrorInvalidValue);
  std::array<char, 20> text{};
  EXPECT_EQ(cudaDeviceGetPCIBusId(text.data(), -1, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetPCIBusId(text.data(), 4, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetPCIBusId(text.data(), 20, 0), cudaSuccess);
  EXPECT_EQ(std::string(text.data()), "0000:00:00.0");
}

TEST_F(CudaStream, EventsTellTheTimeBetweenThem) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  cudaEvent_t untimed = nullptr;
  ASSERT_EQ(cudaEventCreate(&begin), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorInvalidResourceHandle)
      << "neither was recorded";
  EXPECT_EQ(cudaEventRecord(begin, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(end, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(untimed, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventElapsedTime(nullptr, begin, end), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, untimed), cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();
  EXPECT_EQ(cudaEventQuery(end), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(end, stream_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventSynchronize(end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, end, 0), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(begin, destroyed_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(begin), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(untimed), cudaSuccess);
}

TEST_F(CudaStream, ACaptureIsEndedOnceAndByTheStreamThatBegan) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorIllegalState);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreate(&other), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(stream_, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

TEST_F(CudaStream, ACaptureWhoseGraphIsDestroyedIsInvalid) {
  float* const data = device_vector({1});
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream_, graph, nullptr, nullptr, 0,
                                          cudaStreamCaptureModeGlobal),
            cudaSuccess);
  ASSERT_EQ(launch_scale(data, 1, stream_), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(launch_scale(data, 1, stream_), cudaErrorStreamCaptureInvalidated);
  cudaGraph_t none = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &none), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(none, nullptr);
  (void)cudaGetLastError();
  EXPECT_EQ(launch_scale(data, 1, stream_), cudaSuccess) << "the stream is free again";
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

// --- launches and errors

TEST(CudaLaunch, ArgumentsThatAreMissingAreRefused) {
  EXPECT_EQ(cudaLaunchKernel(&program().scale, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  std::array<void*, 1> none = {nullptr};
  EXPECT_EQ(cudaLaunchKernel(&program().scale, dim3(1), dim3(1), none.data(), 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaLaunchKernel(nullptr, dim3(1), dim3(1), none.data(), 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  float* const data = device_vector({1});
  EXPECT_EQ(launch_scale(data, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch_scale(data, 1), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST(CudaLaunch, AnErrorIsToldOnceAndPeekedAtOften) {
  EXPECT_EQ(cudaSetDevice(3), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice");
  EXPECT_STRNE(cudaGetErrorString(cudaErrorInvalidDevice), "");
  EXPECT_STRNE(cudaGetErrorName(static_cast<cudaError_t>(123456)), nullptr);
}

void errors_after_a_fault() {
  float* const data = device_vector({1});
  const bool failed = launch_scale(data, 1024) == cudaSuccess &&
                      cudaStreamSynchronize(nullptr) == cudaErrorLaunchFailure;
  const bool sticky = cudaGetLastError() == cudaErrorLaunchFailure &&
                      cudaGetLastError() == cudaErrorLaunchFailure &&
                      cudaStreamSynchronize(nullptr) == cudaErrorLaunchFailure &&
                      launch_scale(data, 1) == cudaErrorLaunchFailure;
  std::_Exit(failed && sticky ? 0 : 1);
}

TEST(CudaLaunchDeathTest, AFaultIsNotClearedByAsking) {
  EXPECT_EXIT(errors_after_a_fault(), testing::ExitedWithCode(0), "out_of_bounds");
}

} // namespace
