// Kernels as nvcc compiles them (fixtures/kernels.cu), executed and compared with host code.
#include "harness.h"
#include "places.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

namespace kernevo::vgpu::testing {
namespace {

std::string fixture() {
  std::ifstream file(test_folder("unit/vgpu") + "/fixtures/kernels.ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

MachineOptions with(bool sanitize) {
  MachineOptions options;
  options.sanitize = sanitize;
  return options;
}

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 random(7);
  std::vector<float> values(count);
  for (float& value : values)
    value = static_cast<float>(random() % 1000) / 500.0F - 1.0F;
  return values;
}

TEST(CudaKernels, TiledMatmulWithTails) {
  constexpr int kSize = 37;
  const auto a = random_floats(kSize * kSize);
  const auto b = random_floats(kSize * kSize);
  for (const bool sanitize : {false, true}) {
    Bench bench(fixture(), with(sanitize));
    const auto pa = bench.buffer("A", a, {.read_only = true});
    const auto pb = bench.buffer("B", b, {.read_only = true});
    const auto pc = bench.buffer("C", std::vector<float>(a.size()), {.initialized = false});
    const auto result = bench.launch("matmul_tiled", {3, 3, 1}, {16, 16, 1},
                                     Parameters().add(pa).add(pb).add(pc).add(kSize));
    ASSERT_RUNS(result);
    const auto c = bench.content<float>(pc);
    for (std::size_t row = 0; row < kSize; ++row)
      for (std::size_t column = 0; column < kSize; ++column) {
        double expected = 0;
        for (std::size_t k = 0; k < kSize; ++k)
          expected += double{a[row * kSize + k]} * b[k * kSize + column];
        ASSERT_NEAR(c[row * kSize + column], expected, 1e-4) << row << "," << column;
      }
    const auto written = bench.machine.written(pc);
    EXPECT_TRUE(std::all_of(written.begin(), written.end(), [](auto flag) { return flag == 1; }));
  }
}

TEST(CudaKernels, MissingBarrierIsARaceAtItsSourceLine) {
  Bench bench(fixture(), with(true));
  const auto a = bench.buffer("A", random_floats(64 * 64));
  const auto c = bench.buffer("C", std::vector<float>(64 * 64));
  const auto result = bench.launch("matmul_racy", {4, 4, 1}, {16, 16, 1},
                                   Parameters().add(a).add(a).add(c).add(64));
  EXPECT_FAULT(result, shared_race);
  EXPECT_EQ(result.fault->source_file, "kernels.cu");
  EXPECT_TRUE(result.fault->source_line >= 30 && result.fault->source_line <= 34)
      << result.fault->message;
}

TEST(CudaKernels, RowSumWithShuffles) {
  constexpr std::size_t kColumns = 777;
  const auto in = random_floats(3 * kColumns);
  for (const bool sanitize : {false, true})
    for (const std::uint32_t threads : {32U, 96U, 256U}) {
      Bench bench(fixture(), with(sanitize));
      const auto pin = bench.buffer("in", in);
      const auto pout = bench.buffer("out", std::vector<float>(3));
      const auto result =
          bench.launch("row_sum", {3, 1, 1}, {threads, 1, 1},
                       Parameters().add(pin).add(pout).add(static_cast<int>(kColumns)));
      ASSERT_RUNS(result);
      for (std::size_t row = 0; row < 3; ++row) {
        const auto first = in.begin() + static_cast<std::ptrdiff_t>(row * kColumns);
        EXPECT_NEAR(bench.content<float>(pout)[row],
                    std::accumulate(first, first + static_cast<std::ptrdiff_t>(kColumns), 0.0),
                    1e-3);
      }
    }
}

TEST(CudaKernels, UnguardedTailIsOutOfBoundsWithItsLine) {
  Bench bench(fixture());
  const auto in = bench.buffer("in", std::vector<float>(256));
  const auto out = bench.buffer("out", std::vector<float>(250));
  const auto result =
      bench.launch("unguarded", {4, 1, 1}, {64, 1, 1}, Parameters().add(in).add(out).add(250));
  EXPECT_FAULT(result, out_of_bounds);
  EXPECT_EQ(result.fault->source_line, 60);
  EXPECT_EQ(result.fault->block[0], 3U);
  EXPECT_EQ(result.fault->thread[0], 58U);
  EXPECT_EQ(result.fault->buffer, "out (0 bytes past its end)");
}

TEST(CudaKernels, RecursiveFunction) {
  Bench bench(fixture());
  const auto out = bench.buffer("out", std::vector<std::int32_t>(100));
  ASSERT_RUNS(bench.launch("collatz_steps", {1, 1, 1}, {100, 1, 1}, Parameters().add(out)));
  const auto steps = bench.content<std::int32_t>(out);
  for (int i = 0; i < 100; ++i) {
    int expected = 0;
    for (int n = i + 1; n != 1; ++expected)
      n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    EXPECT_EQ(steps[static_cast<std::size_t>(i)], expected);
  }
}

TEST(CudaKernels, ParametersIndexedAtRunTime) {
  Bench bench(fixture());
  const auto index = bench.buffer("index", std::vector<std::int32_t>{3, 0, 7, 5});
  const auto out = bench.buffer("out", std::vector<float>(4));
  Parameters parameters;
  for (int i = 0; i < 8; ++i)
    parameters.add(static_cast<float>(i) * 1.5F);
  ASSERT_RUNS(bench.launch("weighted", {1, 1, 1}, {4, 1, 1}, parameters.add(index).add(out)));
  EXPECT_EQ(bench.content<float>(out), (std::vector<float>{4.5F, 0.0F, 10.5F, 7.5F}));
}

TEST(CudaKernels, LocalArrays) {
  std::mt19937 random(3);
  std::vector<std::int32_t> data(48 * 16);
  for (std::int32_t& value : data)
    value = static_cast<std::int32_t>(random() % 1000);
  for (const bool sanitize : {false, true}) {
    Bench bench(fixture(), with(sanitize));
    const auto pointer = bench.buffer("data", data);
    ASSERT_RUNS(bench.launch("bubble_sort", {1, 1, 1}, {48, 1, 1}, Parameters().add(pointer)));
    auto expected = data;
    for (auto first = expected.begin(); first != expected.end(); first += 16)
      std::sort(first, first + 16);
    EXPECT_EQ(bench.content<std::int32_t>(pointer), expected);
  }
}

TEST(CudaKernels, PrintfAndAssert) {
  Bench bench(fixture());
  const auto good = bench.launch("talk", {1, 1, 1}, {2, 1, 1}, Parameters().add(3));
  ASSERT_RUNS(good);
  EXPECT_EQ(good.printed, "thread 0 of 2 says hi 1.500\nthread 1 of 2 says hi 1.500\n");
  const auto bad = bench.launch("talk", {1, 1, 1}, {4, 1, 1}, Parameters().add(3));
  EXPECT_FAULT(bad, assertion);
  EXPECT_EQ(bad.fault->thread[0], 3U);
  EXPECT_NE(bad.fault->message.find("threadIdx.x < n"), std::string::npos) << bad.fault->message;
}

TEST(CudaKernels, ScanWithDecoupledLookBack) {
  constexpr std::uint32_t kBlocks = 40;
  std::vector<std::uint32_t> in(kBlocks * 256);
  std::iota(in.begin(), in.end(), 1U);
  std::vector<std::uint32_t> expected(in.size());
  std::partial_sum(in.begin(), in.end(), expected.begin());
  for (const int cores : {1, 4}) {
    MachineOptions options;
    options.cores = cores;
    Bench bench(fixture(), options);
    const auto pin = bench.buffer("in", in);
    const auto pout = bench.buffer("out", std::vector<std::uint32_t>(in.size()));
    const auto state = bench.buffer("state", std::vector<std::uint64_t>(kBlocks));
    const auto ticket = bench.buffer("ticket", std::vector<std::uint32_t>(1));
    ASSERT_RUNS(bench.launch("scan_lookback", {kBlocks, 1, 1}, {256, 1, 1},
                             Parameters().add(pin).add(pout).add(state).add(ticket)));
    EXPECT_EQ(bench.content<std::uint32_t>(pout), expected);
  }
}

} // namespace
} // namespace kernevo::vgpu::testing
