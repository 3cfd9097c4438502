// Kernels launched by kernels, as nvcc's code calls the device runtime.
#include "harness.h"

namespace kernevo::vgpu::testing {
namespace {

constexpr const char* kDeclarations = R"(
.extern .func (.param .b64 result) __cudaCDP2GetParameterBufferV2
  (.param .b64 f, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 result) __cudaCDP2LaunchDeviceV2
  (.param .b64 buffer, .param .b64 stream);
)";

// launch(kernel, blocks, threads, stream) of a kernel with one pointer and one word, as a block of
// PTX; %rd10 is the pointer, %r20 the word.
std::string launch_of(const std::string& kernel, int blocks, int threads, int stream) {
  return R"({
    .param .b64 p0; .param .align 4 .b8 p1[12]; .param .align 4 .b8 p2[12]; .param .b32 p3;
    .param .b64 r0;
    mov.u64 %rd11, )" +
         kernel + R"(;
    st.param.b64 [p0], %rd11;
    st.param.b32 [p1], )" +
         std::to_string(blocks) + R"(; st.param.b32 [p1+4], 1; st.param.b32 [p1+8], 1;
    st.param.b32 [p2], )" +
         std::to_string(threads) + R"(; st.param.b32 [p2+4], 1; st.param.b32 [p2+8], 1;
    st.param.b32 [p3], 0;
    call.uni (r0), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3);
    ld.param.b64 %rd12, [r0];
  }
  st.u64 [%rd12], %rd10;
  st.u32 [%rd12+8], %r20;
  {
    .param .b64 p0; .param .b64 p1; .param .b32 r0;
    st.param.b64 [p0], %rd12;
    st.param.b64 [p1], )" +
         std::to_string(stream) + R"(;
    call.uni (r0), __cudaCDP2LaunchDeviceV2, (p0, p1);
    ld.param.b32 %r21, [r0];
  }
)";
}

// *data = *data * 10 + word, by one thread: the order of the launches shows.
constexpr const char* kAppend = R"(
.visible .entry append(.param .u64 data, .param .u32 word)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [word];
  ld.global.u32 %r2, [%rd1];
  mad.lo.u32 %r3, %r2, 10, %r1;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";
constexpr const char* kCount = R"(
.visible .entry count(.param .u64 data, .param .u32 word)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [word];
  red.global.add.u32 [%rd1], %r1;
  ret;
}
)";

TEST(DeviceLaunch, ChildrenRunWithTheirArgumentsAndShape) {
  // 8 threads launch 3 x 5 threads each, which add the launching thread's number.
  Bench bench(
      kernel("ld.param.u64 %rd10, [out]; mov.u32 %r20, %r0;" + launch_of("count", 3, 5, 0) + "ret;",
             std::string(kDeclarations) + kCount));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(8));
  const LaunchResult result = bench.launch("k", {1, 1, 1}, {8, 1, 1}, Parameters().add(out));
  ASSERT_FALSE(result.fault) << result.fault->message;
  EXPECT_EQ(bench.content<std::uint32_t>(out)[0], 15U * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7));
  EXPECT_EQ(result.statistics.device_launches, 8U);
}

TEST(DeviceLaunch, InOrderAndTheTailLast) {
  std::string body = "ld.param.u64 %rd10, [out];";
  body += "mov.u32 %r20, 3;" + launch_of("append", 1, 1, 3); // the tail stream
  body += "mov.u32 %r20, 1;" + launch_of("append", 1, 1, 0);
  body += "mov.u32 %r20, 2;" + launch_of("append", 1, 1, 0);
  Bench bench(kernel(body + "ret;", std::string(kDeclarations) + kAppend));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(1));
  const LaunchResult result = bench.launch("k", {1, 1, 1}, {1, 1, 1}, Parameters().add(out));
  ASSERT_FALSE(result.fault) << result.fault->message;
  EXPECT_EQ(bench.content<std::uint32_t>(out)[0], 123U);
}

TEST(DeviceLaunch, CopiesAndFillsWaitForTheLaunchesBefore) {
  // append 5 to out[0], copy it to out[1], fill out[0] with 0x01010101.
  std::string body = "ld.param.u64 %rd10, [out]; mov.u32 %r20, 5;" + launch_of("append", 1, 1, 0);
  body += R"({
    .param .b64 p0; .param .b64 p1; .param .b64 p2; .param .b32 p3; .param .b64 p4; .param .b32 r0;
    add.u64 %rd13, %rd10, 4;
    st.param.b64 [p0], %rd13; st.param.b64 [p1], %rd10; st.param.b64 [p2], 4;
    st.param.b32 [p3], 3; st.param.b64 [p4], 0;
    call.uni (r0), __cudaCDP2MemcpyAsync, (p0, p1, p2, p3, p4);
  }
  {
    .param .b64 p0; .param .b32 p1; .param .b64 p2; .param .b64 p3; .param .b32 r0;
    st.param.b64 [p0], %rd10; st.param.b32 [p1], 1; st.param.b64 [p2], 4; st.param.b64 [p3], 0;
    call.uni (r0), __cudaCDP2MemsetAsync, (p0, p1, p2, p3);
  }
  ret;)";
  Bench bench(kernel(body, std::string(kDeclarations) + R"(
.extern .func (.param .b32 result) __cudaCDP2MemcpyAsync
  (.param .b64 to, .param .b64 from, .param .b64 bytes, .param .b32 kind, .param .b64 stream);
.extern .func (.param .b32 result) __cudaCDP2MemsetAsync
  (.param .b64 to, .param .b32 value, .param .b64 bytes, .param .b64 stream);
)" + kAppend));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>{3, 9});
  const LaunchResult result = bench.launch("k", {1, 1, 1}, {1, 1, 1}, Parameters().add(out));
  ASSERT_FALSE(result.fault) << result.fault->message;
  EXPECT_EQ(bench.content<std::uint32_t>(out), (std::vector<std::uint32_t>{0x01010101, 35}));
}

TEST(DeviceLaunch, AKernelThatLaunchesItselfForEverIsStopped) {
  MachineOptions options;
  options.instruction_budget = 200'000;
  Bench bench(header() + kDeclarations + R"(
.visible .entry again(.param .u64 data, .param .u32 word)
{
  .reg .b64 %rd<20>;
  .reg .b32 %r<30>;
  ld.param.u64 %rd10, [data];
  mov.u32 %r20, 0;
)" + launch_of("again", 1, 1, 3) +
                  "ret; }",
              options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(1));
  const LaunchResult result =
      bench.launch("again", {1, 1, 1}, {1, 1, 1}, Parameters().add(out).add(std::uint32_t{0}));
  ASSERT_TRUE(result.fault.has_value());
  EXPECT_EQ(result.fault->kind, FindingKind::instruction_budget);
}

TEST(DeviceLaunch, AFaultOfAChildIsTheLaunchs) {
  Bench bench(kernel("mov.u64 %rd10, 64; mov.u32 %r20, 1;" + launch_of("count", 1, 1, 0) + "ret;",
                     std::string(kDeclarations) + kCount));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(1));
  const LaunchResult result = bench.launch("k", {1, 1, 1}, {1, 1, 1}, Parameters().add(out));
  ASSERT_TRUE(result.fault.has_value());
  EXPECT_EQ(result.fault->kernel, "count");
}

} // namespace
} // namespace kernevo::vgpu::testing
