// Events carry the modelled time of what ran between them: through the library as a program has
// it, with the price worker behind.
#include "cuda_program.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace {

// work(times, out): a loop of so many rounds, then one store. again(handle, left): --*left, and the
// condition says whether there is any.
constexpr const char* kLoop = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry work(.param .u32 times, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .u32 %r<6>;
  .reg .u64 %rd<4>;
  .reg .f32 %f<4>;
  ld.param.u32 %r1, [times];
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, 0;
  mov.f32 %f1, 0f3F800000;
LOOP:
  fma.rn.f32 %f1, %f1, 0f3F7FFF00, 0f3A83126F;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra LOOP;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.u32 %r3, %r3, %r4, %r5;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f1;
  ret;
}
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry again(.param .u64 handle, .param .u64 left)
{
  .reg .u64 %rd<3>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [left];
  ld.global.u32 %r1, [%rd2];
  sub.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  { .param .b64 h; .param .b32 v;
    st.param.b64 [h], %rd1;
    st.param.b32 [v], %r1;
    call.uni cudaGraphSetConditional, (h, v); }
  ret;
}
)";

class VirtualEvents : public testing::Test {
protected:
  static constexpr unsigned kMostBlocks = 2048;
  static constexpr unsigned kThreads = 128;

  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kLoop), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&work_, module_, "work"), CUDA_SUCCESS);
    ASSERT_EQ(cudaMalloc(&out_, std::size_t{kMostBlocks} * kThreads * sizeof(float)), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&begin_), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&end_), cudaSuccess);
  }
  void TearDown() override {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaFree(out_);
    cuModuleUnload(module_);
    (void)cudaGetLastError();
  }
  void launch(unsigned blocks, unsigned times, cudaStream_t stream = nullptr) {
    std::array<void*, 2> arguments = {&times, &out_};
    ASSERT_EQ(
        cuLaunchKernel(work_, blocks, 1, 1, kThreads, 1, 1, 0, stream, arguments.data(), nullptr),
        CUDA_SUCCESS);
  }
  // Milliseconds from one event to the other.
  float between() {
    float milliseconds = -1;
    EXPECT_EQ(cudaEventSynchronize(begin_), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(end_), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin_, end_), cudaSuccess);
    return milliseconds;
  }
  template <class Work> float time_of(const Work& work, cudaStream_t stream = nullptr) {
    EXPECT_EQ(cudaEventRecord(begin_, stream), cudaSuccess);
    work();
    EXPECT_EQ(cudaEventRecord(end_, stream), cudaSuccess);
    return between();
  }

  CUmodule module_ = nullptr;
  CUfunction work_ = nullptr;
  void* out_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

TEST_F(VirtualEvents, NothingTakesNoTime) {
  EXPECT_EQ(time_of([] {}), 0);
}

TEST_F(VirtualEvents, TheSameLaunchTakesTheSameTimeAndTwoTakeTwice) {
  const float once = time_of([&] { launch(64, 100); });
  EXPECT_GT(once, 1e-3F); // a microsecond
  EXPECT_LT(once, 0.1F);
  EXPECT_FLOAT_EQ(time_of([&] { launch(64, 100); }), once);
  EXPECT_NEAR(time_of([&] {
                launch(64, 100);
                launch(64, 100);
              }),
              2 * once, 1e-4 * once);
}

TEST_F(VirtualEvents, AKernelIsPricedByWhatItDoesNotByItsShape) {
  const float little = time_of([&] { launch(1024, 10); });
  const float much = time_of([&] { launch(1024, 10'000); });
  EXPECT_GT(much, 20 * little);
  // Once it is known that its launches differ, each kind is counted.
  const float counted = time_of([&] { launch(1024, 10'000); });
  EXPECT_NEAR(counted, much, 0.5 * much);
  EXPECT_FLOAT_EQ(time_of([&] { launch(1024, 10); }), little);
  EXPECT_FLOAT_EQ(time_of([&] { launch(1024, 10'000); }), counted);
}

TEST_F(VirtualEvents, CopiesTakeTheTimeOfTheLink) {
  std::vector<char> host(std::size_t{1} << 20U);
  const float small = time_of(
      [&] { cudaMemcpy(out_, host.data(), std::size_t{1} << 18U, cudaMemcpyHostToDevice); });
  const float large = time_of(
      [&] { cudaMemcpy(out_, host.data(), std::size_t{1} << 20U, cudaMemcpyHostToDevice); });
  // 2.5 us to start and 8 GB/s.
  EXPECT_NEAR(large - small, 786'432 / 8e9 * 1e3, 1e-4);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, std::size_t{1} << 20U), cudaSuccess);
  EXPECT_LT(
      time_of([&] { cudaMemcpy(out_, pinned, std::size_t{1} << 20U, cudaMemcpyHostToDevice); }),
      0.5F * large);
  EXPECT_LT(time_of([&] { cudaMemset(out_, 0, std::size_t{1} << 20U); }), 0.05F * large);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(VirtualEvents, SmallKernelsOfTwoStreamsRunBesideEachOther) {
  std::array<cudaStream_t, 2> streams = {};
  for (cudaStream_t& stream : streams)
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto both = [&](unsigned blocks) {
    return time_of(
        [&] {
          cudaStreamWaitEvent(streams[1], begin_, 0);
          launch(blocks, 2000, streams[0]);
          launch(blocks, 2000, streams[1]);
          cudaEvent_t other = nullptr;
          cudaEventCreate(&other);
          cudaEventRecord(other, streams[1]);
          cudaStreamWaitEvent(streams[0], other, 0);
          cudaEventDestroy(other);
        },
        streams[0]);
  };
  const auto one = [&](unsigned blocks) {
    return time_of([&] { launch(blocks, 2000, streams[0]); }, streams[0]);
  };
  EXPECT_NEAR(both(8), one(8), 0.01 * one(8));
  EXPECT_NEAR(both(2048), 2 * one(2048), 0.01 * one(2048));
  for (const cudaStream_t stream : streams)
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(VirtualEvents, TheDefaultStreamWaitsForBlockingStreams) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  const float alone = time_of([&] { launch(64, 2000); });
  EXPECT_NEAR(time_of([&] {
                launch(64, 2000, blocking);
                launch(64, 2000);
              }),
              2 * alone, 1e-3 * alone);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}

TEST_F(VirtualEvents, AGraphTakesItsLongestWay) {
  cudaStream_t stream = nullptr;
  cudaStream_t branch = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&branch), cudaSuccess);
  const float alone = time_of([&] { launch(8, 2000, stream); }, stream);
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&join), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  launch(8, 2000, stream);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(branch, fork, 0);
  launch(8, 2000, stream);
  launch(8, 2000, branch);
  cudaEventRecord(join, branch);
  cudaStreamWaitEvent(stream, join, 0);
  launch(8, 2000, stream);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_NEAR(time_of([&] { cudaGraphLaunch(executable, stream); }, stream), 3 * alone,
              0.01 * alone);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(branch);
}

TEST_F(VirtualEvents, AGraphThatLoopsTakesTheTimeOfItsRounds) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaGraphConditionalHandle handle = 0;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault),
            cudaSuccess);
  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = handle;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop), cudaSuccess);
  CUfunction again = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&again, module_, "again"), CUDA_SUCCESS);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, loop.conditional.phGraph_out[0], nullptr, nullptr,
                                          0, cudaStreamCaptureModeGlobal),
            cudaSuccess);
  std::array<void*, 2> arguments = {&handle, &out_};
  ASSERT_EQ(cuLaunchKernel(again, 1, 1, 1, 1, 1, 1, 0, stream, arguments.data(), nullptr),
            CUDA_SUCCESS);
  void* const counter = out_;
  out_ = static_cast<char*>(out_) + 256; // where the other kernel writes
  launch(8, 2000, stream);
  out_ = counter;
  ASSERT_EQ(cudaStreamEndCapture(stream, nullptr), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  const auto rounds = [&](unsigned count) {
    EXPECT_EQ(cudaMemcpy(out_, &count, sizeof count, cudaMemcpyHostToDevice), cudaSuccess);
    return time_of([&] { cudaGraphLaunch(executable, stream); }, stream);
  };
  const float once = rounds(1);
  EXPECT_GT(once, 1e-3F);
  EXPECT_NEAR(rounds(6), 6 * once, 0.02 * once);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  cudaStreamDestroy(stream);
}

TEST_F(VirtualEvents, TheDriversEventsCarryTheSameTime) {
  const float once = time_of([&] { launch(64, 100); });
  CUevent begin = nullptr;
  CUevent end = nullptr;
  ASSERT_EQ(cuEventCreate(&begin, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&end, 0), CUDA_SUCCESS);
  cuEventRecord(begin, nullptr);
  launch(64, 100);
  cuEventRecord(end, nullptr);
  cuEventSynchronize(end);
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
  EXPECT_FLOAT_EQ(milliseconds, once);
  cuEventDestroy(begin);
  cuEventDestroy(end);
}

} // namespace
