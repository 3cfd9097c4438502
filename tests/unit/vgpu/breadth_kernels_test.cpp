// What CUDA's headers make of a kernel (fixtures/groups.cu, cuda_headers.cu, device_calls.cu, all
// compiled by nvcc 13): cooperative groups of every kind, barriers, pipelines, atomics, virtual
// functions, function pointers, recursion, the device heap. Compared with host code.
#include "harness.h"
#include "places.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

namespace kernevo::vgpu::testing {
namespace {

std::string fixture(const std::string& name) {
  std::ifstream file(test_folder("unit/vgpu") + "/fixtures/" + name + ".ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<int> values(std::size_t count) {
  std::vector<int> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<int>(i * 37 % 61);
  return made;
}

int count_if(const std::vector<int>& in, std::size_t from, std::size_t to, auto&& truth) {
  return static_cast<int>(std::count_if(in.begin() + static_cast<std::ptrdiff_t>(from),
                                        in.begin() + static_cast<std::ptrdiff_t>(to), truth));
}

int sum_if(const std::vector<int>& in, std::size_t from, std::size_t to, auto&& truth) {
  int sum = 0;
  for (std::size_t i = from; i < to; ++i)
    sum += truth(in[i]) ? in[i] : 0;
  return sum;
}

TEST(BreadthKernels, TilesOfEverySize) {
  constexpr std::size_t threads = 64;
  const auto in = values(threads);
  Bench bench(fixture("groups"));
  const auto pin = bench.buffer("in", in);
  const auto pout = bench.buffer("out", std::vector<int>(6 * threads));
  ASSERT_RUNS(
      bench.launch("tile_kinds", {1, 1, 1}, {threads, 1, 1}, Parameters().add(pin).add(pout)));
  const auto out = bench.content<int>(pout);
  std::size_t kind = 0;
  for (const std::size_t size : {1U, 2U, 4U, 8U, 16U, 32U}) {
    for (std::size_t t = 0; t < threads; ++t) {
      const std::size_t first = t / size * size;
      const auto* begin = in.data() + first;
      const int sum = std::accumulate(begin, begin + size, 0);
      const int most = *std::max_element(begin, begin + size);
      const int before = std::accumulate(begin, in.data() + t, 0);
      const auto rest =
          static_cast<int>((t - first) * 11 + t / size * 13 + threads / size * 17 + size);
      EXPECT_EQ(out[kind * threads + t], sum + most * 3 + (before + in[t]) * 5 + before * 7 + rest)
          << "tile of " << size << ", thread " << t;
    }
    ++kind;
  }
}

TEST(BreadthKernels, GroupsOfSomeThreads) {
  constexpr std::size_t threads = 64;
  const auto in = values(threads);
  Bench bench(fixture("groups"));
  const auto pin = bench.buffer("in", in);
  const auto pout = bench.buffer("out", std::vector<int>(7 * threads));
  ASSERT_RUNS(
      bench.launch("coalesced", {1, 1, 1}, {threads, 1, 1}, Parameters().add(pin).add(pout)));
  const auto out = bench.content<int>(pout);
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t from = t / 32 * 32;
    const std::size_t to = from + 32;
    const int v = in[t];
    const auto third = [](int x) { return x % 3 == 0; };
    if (third(v)) {
      const std::size_t leader = static_cast<std::size_t>(
          std::find_if(in.begin() + static_cast<std::ptrdiff_t>(from), in.end(), third) -
          in.begin());
      EXPECT_EQ(out[t], sum_if(in, from, to, third) * 100 + count_if(in, from, t, third));
      EXPECT_EQ(out[threads + t],
                in[leader] * 1000 + count_if(in, from, to, third) +
                    (count_if(in, from, to, [](int x) { return x == 0; }) > 0 ? 500 : 0));
    } else {
      EXPECT_EQ(out[t], -1);
    }
    const auto same_parity = [v](int x) { return (x & 1) == (v & 1); };
    EXPECT_EQ(out[2 * threads + t],
              sum_if(in, from, to, same_parity) * 100 + count_if(in, from, to, same_parity));
    const auto same_label = [v](int x) { return x % 5 == v % 5; };
    EXPECT_EQ(out[3 * threads + t],
              sum_if(in, from, to, same_label) * 100 + count_if(in, from, t, same_label));
    EXPECT_EQ(out[4 * threads + t], static_cast<int>(t % 8) * 100 + 8);
    EXPECT_EQ(out[5 * threads + t],
              count_if(in, from, to, [](int x) { return x > 40; }) * 100 +
                  count_if(in, from, to, [v](int x) { return x % 4 == v % 4; }));
    EXPECT_EQ(out[6 * threads + t], 17);
  }
}

TEST(BreadthKernels, GridBarrier) {
  const auto in = values(5000);
  Bench bench(fixture("groups"));
  bench.cooperative = true;
  const auto pin = bench.buffer("in", in);
  const auto pout = bench.buffer("out", std::vector<int>(1));
  const auto partial = bench.buffer("partial", std::vector<int>(6));
  ASSERT_RUNS(bench.launch("grid_sum", {6, 1, 1}, {96, 1, 1},
                           Parameters().add(pin).add(pout).add(partial).add(5000)));
  EXPECT_EQ(bench.content<int>(pout)[0], std::accumulate(in.begin(), in.end(), 0) + 6000000);
}

TEST(BreadthKernels, CollectiveCopiesAndLargeTiles) {
  constexpr std::size_t threads = 256;
  const auto in = values(threads);
  Bench bench(fixture("groups"));
  const auto pin = bench.buffer("in", in);
  const auto copied = bench.buffer("out", std::vector<int>(2 * threads));
  ASSERT_RUNS(
      bench.launch("copies", {1, 1, 1}, {threads, 1, 1}, Parameters().add(pin).add(copied)));
  const auto tiled = bench.buffer("out", std::vector<int>(2 * threads));
  ASSERT_RUNS(
      bench.launch("block_tile", {1, 1, 1}, {threads, 1, 1}, Parameters().add(pin).add(tiled)));
  const auto copy = bench.content<int>(copied);
  const auto tile = bench.content<int>(tiled);
  for (std::size_t t = 0; t < threads; ++t) {
    EXPECT_EQ(copy[t], in[threads - 1 - t]);
    EXPECT_EQ(copy[threads + t], in[t / 32 * 32 + 31 - t % 32]);
    const auto* begin = in.data() + t / 64 * 64;
    EXPECT_EQ(tile[t], std::accumulate(begin, begin + 64, 0) * 10 + static_cast<int>(t / 64));
    EXPECT_EQ(tile[threads + t], std::accumulate(begin, in.data() + t + 1, 0));
  }
}

TEST(BreadthKernels, BarriersAndPipelines) {
  constexpr int rounds = 3;
  const auto in = values(128 * rounds);
  Bench bench(fixture("cuda_headers"));
  const auto pin = bench.buffer("in", in);
  for (const std::string kernel : {"barrier_sum", "pipeline_copy", "thread_pipeline"}) {
    const auto pout = bench.buffer("out", std::vector<int>(in.size()));
    Parameters parameters = Parameters().add(pin).add(pout);
    if (kernel != "barrier_sum")
      parameters.add(rounds);
    ASSERT_RUNS(bench.launch(kernel, {1, 1, 1}, {128, 1, 1}, parameters));
    const auto out = bench.content<int>(pout);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t round = i / 128;
      const std::size_t from = kernel == "thread_pipeline" ? (i % 128 + 1) % 128 : 127 - i % 128;
      const int extra = kernel == "pipeline_copy" ? static_cast<int>(round) : 0;
      EXPECT_EQ(out[i], in[round * 128 + from] + extra) << kernel << " " << i;
    }
  }
}

TEST(BreadthKernels, AtomicsLatchesAndStandardTypes) {
  Bench bench(fixture("cuda_headers"));
  const auto counter = bench.buffer("counter", std::vector<int>(1));
  const auto wide = bench.buffer("wide", std::vector<std::uint64_t>(1));
  const auto real = bench.buffer("real", std::vector<float>(1));
  const auto pout = bench.buffer("out", std::vector<int>(3));
  ASSERT_RUNS(bench.launch("atomics", {3, 1, 1}, {64, 1, 1},
                           Parameters().add(counter).add(wide).add(real).add(pout)));
  EXPECT_EQ(bench.content<int>(counter)[0], 192);
  EXPECT_EQ(bench.content<std::uint64_t>(wide)[0], 2063U);
  EXPECT_EQ(bench.content<float>(real)[0], 96.0F);
  EXPECT_EQ(bench.content<int>(pout), (std::vector<int>{128, 128, 128}));

  const auto latched = bench.buffer("out", std::vector<int>(64));
  ASSERT_RUNS(bench.launch("latches", {1, 1, 1}, {64, 1, 1}, Parameters().add(latched)));
  EXPECT_EQ(bench.content<int>(latched), std::vector<int>(64, 63 * 32));

  const std::vector<float> numbers = {0, 1, 2, 3};
  const auto pin = bench.buffer("in", numbers);
  const auto typed = bench.buffer("out", std::vector<float>(4));
  ASSERT_RUNS(bench.launch("std_types", {1, 1, 1}, {4, 1, 1}, Parameters().add(pin).add(typed)));
  for (std::size_t t = 0; t < 4; ++t) {
    const float x = numbers[t];
    EXPECT_EQ(bench.content<float>(typed)[t],
              x * x - 1 + 200 * x + 1000 * (x + 1) + (t % 2 == 1 ? 5.0F : 0.0F));
  }
}

int factorial(int x) {
  return x <= 1 ? 1 : x * factorial(x - 1);
}
int fibonacci(int x) {
  return x < 2 ? x : fibonacci(x - 1) + fibonacci(x - 2);
}

TEST(BreadthKernels, VirtualFunctionsAndPointers) {
  constexpr std::size_t threads = 96;
  std::vector<float> in(threads);
  std::iota(in.begin(), in.end(), 0.5F);
  Bench bench(fixture("device_calls"));
  const auto pin = bench.buffer("in", in);
  const auto areas = bench.buffer("out", std::vector<float>(threads));
  ASSERT_RUNS(bench.launch("virtuals", {3, 1, 1}, {32, 1, 1}, Parameters().add(pin).add(areas)));
  for (std::size_t t = 0; t < threads; ++t)
    EXPECT_EQ(bench.content<float>(areas)[t], t % 3 == 0 ? in[t] * in[t] : in[t] * 2);

  const auto pointers = bench.buffer("out", std::vector<int>(threads));
  ASSERT_RUNS(bench.launch("pointers", {1, 1, 1}, {threads, 1, 1}, Parameters().add(pointers)));
  for (int t = 0; t < static_cast<int>(threads); ++t) {
    const int x = t % 10;
    const int first = t % 4 == 0   ? 2 * x
                      : t % 4 == 1 ? x * x
                      : t % 4 == 2 ? factorial(x)
                                   : fibonacci(x);
    const int second = t % 2 == 0 ? fibonacci(t % 7) : 2 * (t % 7);
    EXPECT_EQ(bench.content<int>(pointers)[static_cast<std::size_t>(t)], first + 1000 * second);
  }
  const auto deep = bench.buffer("out", std::vector<int>(3));
  ASSERT_RUNS(bench.launch("recursion", {1, 1, 1}, {3, 1, 1}, Parameters().add(deep)));
  EXPECT_EQ(bench.content<int>(deep), (std::vector<int>{4, 5, 9}));
}

TEST(BreadthKernels, DeviceHeap) {
  constexpr std::size_t threads = 256;
  constexpr int length = 5;
  Bench bench(fixture("device_calls"));
  const auto lists = bench.buffer("out", std::vector<int>(threads));
  ASSERT_RUNS(bench.launch("lists", {4, 1, 1}, {64, 1, 1}, Parameters().add(lists).add(length)));
  for (int t = 0; t < static_cast<int>(threads); ++t) {
    const int count = length + t % 4;
    const int sum = count * t + count * (count - 1) / 2;
    EXPECT_EQ(bench.content<int>(lists)[static_cast<std::size_t>(t)], sum * 10 + count);
  }
  const auto handed = bench.buffer("out", std::vector<int>(128));
  ASSERT_RUNS(bench.launch("handover", {2, 1, 1}, {64, 1, 1}, Parameters().add(handed)));
  for (std::size_t t = 0; t < 128; ++t)
    EXPECT_EQ(bench.content<int>(handed)[t], static_cast<int>(63 - t % 64) * 3);
}

} // namespace
} // namespace kernevo::vgpu::testing
