// Streams run by themselves: who waits for whom, and kernels that wait for the host.
#include "cuda_program.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;

// Waits until the host writes a number, and passes it on.
constexpr const char* kLatchPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry latch(.param .u64 flag, .param .u64 out) {
  .reg .pred %p;
  .reg .u32 %r;
  .reg .u64 %a, %b;
  ld.param.u64 %a, [flag];
  ld.param.u64 %b, [out];
again:
  ld.volatile.global.u32 %r, [%a];
  setp.eq.u32 %p, %r, 0;
  @%p bra again;
  st.global.u32 [%b], %r;
  ret;
}
.visible .entry overread(.param .u64 data, .param .u64 out) {
  .reg .u32 %r<5>;
  .reg .u64 %a, %b;
  ld.param.u64 %a, [data];
  ld.param.u64 %b, [out];
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a+32];
  st.global.u32 [%b], %r3;
  ret;
}
.visible .entry overwrite(.param .u64 data) {
  .reg .u64 %a;
  ld.param.u64 %a, [data];
  st.global.u32 [%a+44], 1;
  ret;
})";

class Asynchronous : public testing::Test {
protected:
  void SetUp() override {
    CUcontext context = nullptr;
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kLatchPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&latch_, module_, "latch"), CUDA_SUCCESS);
    void* memory = nullptr;
    ASSERT_EQ(cuMemAllocHost(&memory, 8), CUDA_SUCCESS);
    flag_ = static_cast<unsigned*>(memory);
    flag_[0] = flag_[1] = 0;
    ASSERT_EQ(cuStreamCreate(&one_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    release(1);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    cuStreamDestroy(one_);
    cuStreamDestroy(other_);
    cuMemFreeHost(flag_);
    cuModuleUnload(module_);
  }
  CUresult hold(CUstream stream) {
    auto* out = flag_ + 1;
    std::array<void*, 2> parameters = {&flag_, &out};
    return cuLaunchKernel(latch_, 1, 1, 1, 1, 1, 1, 0, stream, parameters.data(), nullptr);
  }
  void release(unsigned value) const { __atomic_store_n(flag_, value, __ATOMIC_RELEASE); }

  CUmodule module_ = nullptr;
  CUfunction latch_ = nullptr;
  unsigned* flag_ = nullptr; // and the place the kernel writes to
  CUstream one_ = nullptr;
  CUstream other_ = nullptr;
};

TEST_F(Asynchronous, AKernelWaitsForTheHost) {
  ASSERT_EQ(hold(one_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(one_), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(flag_[1], 0U);
  release(7);
  EXPECT_EQ(cuStreamSynchronize(one_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(one_), CUDA_SUCCESS);
  EXPECT_EQ(flag_[1], 7U);
}

TEST_F(Asynchronous, OtherStreamsGoOn) {
  ASSERT_EQ(hold(one_), CUDA_SUCCESS);
  const std::vector<float> values(4, 2);
  CUdeviceptr data = 0;
  ASSERT_EQ(cuMemAlloc(&data, 16), CUDA_SUCCESS) << "while a kernel runs";
  std::vector<float> back(4);
  EXPECT_EQ(cuMemcpyHtoDAsync(data, values.data(), 16, other_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync(back.data(), data, 16, other_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(other_), CUDA_SUCCESS);
  EXPECT_EQ(back, values);
  EXPECT_EQ(cuStreamQuery(one_), CUDA_ERROR_NOT_READY);
  release(1);
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
}

TEST_F(Asynchronous, EventsJoinStreams) {
  CUevent held = nullptr;
  CUevent after = nullptr;
  ASSERT_EQ(cuEventCreate(&held, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&after, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(held), CUDA_SUCCESS) << "never recorded";
  ASSERT_EQ(hold(one_), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(held, one_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(other_, held, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(after, other_), CUDA_SUCCESS);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(cuEventQuery(after), CUDA_ERROR_NOT_READY);
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, held, after), CUDA_ERROR_NOT_READY);
  release(1);
  EXPECT_EQ(cuEventSynchronize(after), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(held), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, held, after), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
  cuEventDestroy(held);
  cuEventDestroy(after);
}

TEST_F(Asynchronous, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  CUstream blocking = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(hold(blocking), CUDA_SUCCESS);
  CUevent last = nullptr;
  ASSERT_EQ(cuEventCreate(&last, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(last, nullptr), CUDA_SUCCESS);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(cuEventQuery(last), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(one_), CUDA_SUCCESS) << "a stream that does not care";
  release(1);
  EXPECT_EQ(cuEventSynchronize(last), CUDA_SUCCESS);

  release(0);
  ASSERT_EQ(hold(nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(last, blocking), CUDA_SUCCESS);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(cuEventQuery(last), CUDA_ERROR_NOT_READY);
  release(1);
  EXPECT_EQ(cuEventSynchronize(last), CUDA_SUCCESS);
  cuEventDestroy(last);
  cuStreamDestroy(blocking);
}

TEST_F(Asynchronous, TheThreadsOwnStreamIsItsOwn) {
  ASSERT_EQ(hold(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  std::atomic<bool> done = false;
  std::thread([&] {
    float* const data = nullptr;
    (void)data;
    EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
    done = true;
  }).join();
  EXPECT_TRUE(done);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  release(1);
  EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
}

TEST_F(Asynchronous, HostFunctionsRunInTurnAndMayNotWait) {
  struct Seen {
    std::atomic<int> calls = 0;
    std::atomic<cudaError_t> refused = cudaSuccess;
  } seen;
  const auto note = [](void* data) {
    auto& to = *static_cast<Seen*>(data);
    to.refused = cudaStreamSynchronize(nullptr);
    ++to.calls;
  };
  ASSERT_EQ(hold(one_), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(one_, note, &seen), CUDA_SUCCESS);
  EXPECT_EQ(seen.calls, 0);
  release(1);
  EXPECT_EQ(cuStreamSynchronize(one_), CUDA_SUCCESS);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.refused, cudaErrorNotPermitted);
}

TEST_F(Asynchronous, PageableMemoryIsTheProgramsAgainAtOnce) {
  CUdeviceptr data = 0;
  ASSERT_EQ(cuMemAlloc(&data, 4), CUDA_SUCCESS);
  ASSERT_EQ(hold(one_), CUDA_SUCCESS);
  int value = 5;
  ASSERT_EQ(cuMemcpyHtoDAsync(data, &value, 4, one_), CUDA_SUCCESS) << "does not wait";
  value = 6;
  release(1);
  int back = 0;
  ASSERT_EQ(cuMemcpyDtoHAsync(&back, data, 4, one_), CUDA_SUCCESS);
  EXPECT_EQ(back, 5) << "and a read into pageable memory is done when the call returns";
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
}

TEST_F(Asynchronous, AStreamMayWaitForAWord) {
  CUdeviceptr word = 0;
  ASSERT_EQ(cuMemHostGetDevicePointer(&word, flag_, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitValue32(one_, word, 3, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(one_), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuStreamWriteValue32(other_, word, 4, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one_), CUDA_SUCCESS);
}

TEST_F(Asynchronous, ThreadsLaunchSideBySide) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      float* const data = device_vector({1, 2, 3, 4});
      for (int round = 0; round < 25; ++round)
        if (launch_scale(data, 4, cudaStreamPerThread) != cudaSuccess)
          ++wrong;
      if (cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess)
        ++wrong;
      cudaFree(data);
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

// As on hardware, whose memory is given in larger pieces; what is asked for is what is reported.
TEST_F(Asynchronous, KernelsMayReachTheEndOfTheGranule) {
  CUfunction overread = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&overread, module_, "overread"), CUDA_SUCCESS);
  CUdeviceptr data = 0;
  ASSERT_EQ(cuMemAlloc(&data, 44), CUDA_SUCCESS);
  std::size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange(nullptr, &bytes, data), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 44U);
  std::vector<unsigned> values(11, 9);
  ASSERT_EQ(cuMemcpyHtoD(data, values.data(), 44), CUDA_SUCCESS);
  auto* out = flag_ + 1;
  std::array<void*, 2> parameters = {&data, &out};
  ASSERT_EQ(cuLaunchKernel(overread, 1, 1, 1, 1, 1, 1, 0, one_, parameters.data(), nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one_), CUDA_SUCCESS);
  EXPECT_EQ(flag_[1], 9U);
  CUfunction overwrite = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&overwrite, module_, "overwrite"), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchKernel(overwrite, 1, 1, 1, 1, 1, 1, 0, one_, parameters.data(), nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(values.data(), data, 45), CUDA_ERROR_INVALID_VALUE) << "copies may not";
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
}

// In a process of its own: faults stick, and nothing is waited for at the end.
class Child : public Asynchronous {
protected:
  // What the program's end says; -1 when it did not come within ten seconds.
  template <class Body> static int run(const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
      body();
      std::exit(3); // the body ends it
    }
    for (int i = 0; i < 1000; ++i) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
      std::this_thread::sleep_for(10ms);
    }
    kill(child, SIGKILL);
    return -1;
  }
};

TEST_F(Child, OfAProcessThatUsedTheGpuHasNone) {
  ASSERT_EQ(hold(one_), CUDA_SUCCESS); // a thread of ours works
  EXPECT_EQ(run([] {
              CUdeviceptr data = 0;
              const bool none = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                                cuMemAlloc(&data, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                                cudaDeviceSynchronize() == cudaErrorInitializationError;
              std::exit(none ? 0 : 1);
            }),
            0);
}

} // namespace
