#include "harness.h"

namespace kernevo::vgpu::testing {
namespace {

struct Ran {
  LaunchResult result;
  std::vector<std::uint32_t> out;
};

Ran run_kernel(const std::string& ptx, std::uint32_t threads = 32, MachineOptions options = {}) {
  Bench bench(ptx, options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(threads));
  Ran ran;
  ran.result = bench.launch("k", {1, 1, 1}, {threads, 1, 1}, Parameters().add(out));
  ran.out = bench.content<std::uint32_t>(out);
  return ran;
}

const char* const kFactorial = R"(
.func (.param .b32 result) factorial(.param .b32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 1;
  setp.le.u32 %p1, %r1, 1;
  @%p1 bra DONE;
  add.u32 %r3, %r1, -1;
  {
    .param .b32 a;
    .param .b32 r;
    st.param.b32 [a], %r3;
    call.uni (r), factorial, (a);
    ld.param.b32 %r4, [r];
  }
  mul.lo.u32 %r2, %r1, %r4;
DONE:
  st.param.b32 [result], %r2;
  ret;
}
)";

TEST(Call, RecursionWithLaneDependentDepth) {
  const Ran ran = run_kernel(kernel(R"(
    rem.u32 %r10, %r0, 10;
    {
      .param .b32 a;
      .param .b32 r;
      st.param.b32 [a], %r10;
      call.uni (r), factorial, (a);
      ld.param.b32 %r11, [r];
    }
    st.global.u32 [%rd1], %r11;
    ret;)",
                                    kFactorial));
  ASSERT_RUNS(ran.result);
  for (std::uint32_t t = 0; t < 32; ++t) {
    std::uint32_t expected = 1;
    for (std::uint32_t i = 2; i <= t % 10; ++i)
      expected *= i;
    EXPECT_EQ(ran.out[t], expected) << t;
  }
}

TEST(Call, EndlessRecursionOverflowsTheStack) {
  const Ran ran = run_kernel(kernel(R"(
    { call.uni forever, (); }
    ret;)",
                                    R"(
.func forever()
{
  { call.uni forever, (); }
  ret;
}
)"));
  EXPECT_FAULT(ran.result, stack_overflow);
}

TEST(Call, ThroughPointersPartsTheLanes) {
  const Ran ran = run_kernel(kernel(R"(
    mov.u64 %rd5, twice;
    mov.u64 %rd6, square;
    and.b32 %r10, %r0, 1;
    setp.eq.u32 %p0, %r10, 0;
    selp.b64 %rd7, %rd5, %rd6, %p0;
    {
      .param .b32 a;
      .param .b32 r;
      st.param.b32 [a], %r0;
      PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (r), %rd7, (a), PROTO;
      ld.param.b32 %r11, [r];
    }
    st.global.u32 [%rd1], %r11;
    ret;)",
                                    R"(
.func (.param .b32 result) twice(.param .b32 n)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [n];
  add.u32 %r1, %r1, %r1;
  st.param.b32 [result], %r1;
  ret;
}
.func (.param .b32 result) square(.param .b32 n)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [n];
  mul.lo.u32 %r1, %r1, %r1;
  st.param.b32 [result], %r1;
  ret;
}
)"));
  ASSERT_RUNS(ran.result);
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(ran.out[t], (t & 1) == 0 ? 2 * t : t * t);
}

TEST(Call, WildFunctionPointerIsAFault) {
  const Ran ran = run_kernel(kernel(R"(
    mov.u64 %rd7, 1234;
    {
      PROTO: .callprototype _ ();
      call %rd7, (), PROTO;
    }
    ret;)"));
  EXPECT_FAULT(ran.result, trap);
}

TEST(Call, StructuresArePassedByValue) {
  const Ran ran = run_kernel(kernel(R"(
    {
      .param .align 8 .b8 s[16];
      .param .b32 r;
      st.param.b32 [s], %r0;
      st.param.b32 [s+4], 5;
      st.param.b64 [s+8], 7;
      call.uni (r), sum, (s);
      ld.param.b32 %r11, [r];
    }
    st.global.u32 [%rd1], %r11;
    ret;)",
                                    R"(
.func (.param .b32 result) sum(.param .align 8 .b8 s[16])
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u32 %r1, [s];
  ld.param.u32 %r2, [s+4];
  ld.param.u64 %rd1, [s+8];
  cvt.u32.u64 %r3, %rd1;
  add.u32 %r1, %r1, %r2;
  add.u32 %r1, %r1, %r3;
  st.param.b32 [result], %r1;
  ret;
}
)"));
  ASSERT_RUNS(ran.result);
  EXPECT_EQ(ran.out[3], 15U);
}

const char* const kPrint = R"(
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 format[] = {116, 61, 37, 100, 32, 37, 46, 50, 102, 32, 37, 115, 32, 37, 108, 108, 117, 32, 37, 99, 32, 37, 37, 10, 0};
.global .align 1 .b8 word[3] = {104, 105, 0};
)"; // "t=%d %.2f %s %llu %c %%\n"

const char* const kPrintBody = R"(
    .local .align 8 .b8 values[40];
    mov.u64 %rd5, values;
    cvta.local.u64 %rd6, %rd5;
    st.local.u32 [%rd5], %r0;
    mov.f64 %fd1, 0d3FF8000000000000;
    st.local.f64 [%rd5+8], %fd1;
    mov.u64 %rd7, word;
    cvta.global.u64 %rd7, %rd7;
    st.local.u64 [%rd5+16], %rd7;
    mov.u64 %rd8, 12345678901;
    st.local.u64 [%rd5+24], %rd8;
    mov.u32 %r9, 122;
    st.local.u32 [%rd5+32], %r9;
    mov.u64 %rd9, format;
    cvta.global.u64 %rd9, %rd9;
PRINT:
    {
      .param .b64 a;
      .param .b64 b;
      .param .b32 r;
      st.param.b64 [a], %rd9;
      st.param.b64 [b], %rd6;
      call.uni (r), vprintf, (a, b);
      ld.param.b32 %r11, [r];
    }
    st.global.u32 [%rd1], %r11;
)";

TEST(Call, PrintfFormatsLaneByLane) {
  const Ran ran = run_kernel(kernel(std::string(kPrintBody) + "ret;", kPrint), 2);
  ASSERT_RUNS(ran.result);
  EXPECT_EQ(ran.result.printed, "t=0 1.50 hi 12345678901 z %\nt=1 1.50 hi 12345678901 z %\n");
  EXPECT_EQ(ran.out[0], 28U);
}

TEST(Call, PrintfFloodIsCutAndTheKernelGoesOn) {
  MachineOptions options;
  options.print_limit = 1000;
  const Ran ran = run_kernel(kernel("mov.u32 %r20, 0;\n" + std::string(kPrintBody) + R"(
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p0, %r20, 100;
    @%p0 bra PRINT;
    mov.u32 %r21, 77;
    st.global.u32 [%rd1], %r21;
    ret;)",
                                    kPrint),
                             32, options);
  ASSERT_RUNS(ran.result);
  EXPECT_TRUE(ran.result.output_flood);
  EXPECT_EQ(ran.result.printed.size(), 1000U);
  EXPECT_EQ(ran.out[31], 77U);
}

TEST(Call, AssertNamesTheExpression) {
  const Ran ran = run_kernel(kernel(R"(
    setp.ne.u32 %p0, %r0, 5;
    @%p0 bra END;
    mov.u64 %rd5, message;
    cvta.global.u64 %rd5, %rd5;
    mov.u64 %rd6, file;
    cvta.global.u64 %rd6, %rd6;
    {
      .param .b64 a;
      .param .b64 b;
      .param .b32 c;
      .param .b64 d;
      .param .b64 e;
      st.param.b64 [a], %rd5;
      st.param.b64 [b], %rd6;
      st.param.b32 [c], 42;
      st.param.b64 [d], %rd6;
      st.param.b64 [e], 1;
      call.uni __assertfail, (a, b, c, d, e);
    }
END:
    ret;)",
                                    R"(
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[6] = {110, 32, 60, 32, 52, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
)"));
  EXPECT_FAULT(ran.result, assertion);
  EXPECT_NE(ran.result.fault->message.find("'n < 4' failed at a.cu:42"), std::string::npos)
      << ran.result.fault->message;
  EXPECT_EQ(ran.result.fault->thread[0], 5U);
}

const char* const kHeap = R"(
.extern .func (.param .b64 pointer) malloc(.param .b64 bytes);
.extern .func free(.param .b64 pointer);
)";

std::string heap_kernel(const std::string& store, const std::string& bytes = "16") {
  return kernel(R"(
    mov.u64 %rd5, )" +
                    bytes + R"(;
    {
      .param .b64 a;
      .param .b64 r;
      st.param.b64 [a], %rd5;
      call.uni (r), malloc, (a);
      ld.param.b64 %rd6, [r];
    }
    setp.eq.u64 %p0, %rd6, 0;
    @%p0 bra FULL;
)" + store + R"(
    ld.u32 %r11, [%rd6];
    st.global.u32 [%rd1], %r11;
    {
      .param .b64 a;
      st.param.b64 [a], %rd6;
      call.uni free, (a);
    }
    ret;
FULL:
    mov.u32 %r11, 99;
    st.global.u32 [%rd1], %r11;
    ret;)",
                kHeap);
}

TEST(Call, MallocGivesEachThreadItsOwnMemory) {
  MachineOptions options;
  options.sanitize = true;
  const Ran ran = run_kernel(heap_kernel("st.u32 [%rd6], %r0;"), 32, options);
  ASSERT_RUNS(ran.result);
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(ran.out[t], t);
}

TEST(Call, MallocBoundsAreChecked) {
  const Ran ran = run_kernel(heap_kernel("st.u32 [%rd6], %r0;\nst.u32 [%rd6+16], %r0;"));
  EXPECT_FAULT(ran.result, out_of_bounds);
}

TEST(Call, MallocReturnsNullWhenTheHeapIsFull) {
  const Ran ran = run_kernel(heap_kernel("st.u32 [%rd6], 1;", "9000000"));
  ASSERT_RUNS(ran.result);
  EXPECT_EQ(ran.out[0], 99U);
}

TEST(Call, UndefinedFunctionIsRefusedWhenLoading) {
  const auto loaded = load_program(
      kernel("{ call.uni missing, (); }\n ret;", ".extern .func missing();\n"), "x.ptx");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_NE(format_error(loaded.error()).find("missing"), std::string::npos);
}

} // namespace
} // namespace kernevo::vgpu::testing
