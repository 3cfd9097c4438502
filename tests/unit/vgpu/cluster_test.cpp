// Thread-block clusters: kernels as nvcc compiles them (fixtures/clusters.cu) and what must not be
// done with each other's shared memory.
#include "harness.h"
#include "places.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <numeric>
#include <sstream>

namespace kernevo::vgpu::testing {
namespace {

Gpu hopper() {
  Gpu gpu = small_gpu();
  gpu.name = "TestHopper";
  gpu.compute_capability = 90;
  return gpu;
}

std::string fixture() {
  std::ifstream file(test_folder("unit/vgpu") + "/fixtures/clusters.ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// PTX with a body like kernel()'s, for sm_90 and clusters of four blocks.
std::string cluster_kernel(const std::string& body, const std::string& directives = "") {
  std::string text = kernel(body, ".shared .align 16 .b8 mine[1024];");
  text.replace(text.find("sm_80"), 5, "sm_90");
  text.replace(text.find(")\n{"), 3, ")\n" + directives + "\n{");
  return text;
}

class ClusterBench : public Bench {
public:
  explicit ClusterBench(const std::string& ptx, bool sanitize = false, Gpu gpu = hopper())
      : Bench(ptx) {
    MachineOptions options;
    options.sanitize = sanitize;
    machine = Machine(std::move(gpu), options);
  }

  LaunchResult run(const std::string& kernel, std::array<std::uint32_t, 3> grid,
                   std::array<std::uint32_t, 3> cluster, std::array<std::uint32_t, 3> block,
                   const Parameters& parameters, std::uint32_t dynamic_shared = 0) {
    LaunchConfig config;
    config.kernel = kernel;
    config.grid = grid;
    config.cluster = cluster;
    config.block = block;
    config.parameters = parameters.bytes();
    config.dynamic_shared = dynamic_shared;
    config.nonportable_cluster = nonportable;
    return machine.launch(*program, config);
  }

  bool nonportable = false;
};

constexpr std::array<std::uint32_t, 3> kAsCompiled = {1, 1, 1};

TEST(Cluster, HistogramOverDistributedSharedMemory) {
  constexpr int kCount = 4000;
  constexpr int kBins = 64;
  std::vector<int> values(kCount);
  std::vector<int> expected(kBins, 0);
  for (int i = 0; i < kCount; ++i) {
    values[static_cast<std::size_t>(i)] = (i * 37 + i / 7) % (kBins + 6) - 3;
    ++expected[static_cast<std::size_t>(
        std::clamp(values[static_cast<std::size_t>(i)], 0, kBins - 1))];
  }
  for (const bool sanitize : {false, true})
    for (const std::uint32_t size : {1U, 2U, 4U, 8U}) {
      ClusterBench bench(fixture(), sanitize);
      const auto in = bench.buffer("values", values, {.read_only = true});
      const auto out = bench.buffer("out", std::vector<int>(kBins, 0));
      const auto result =
          bench.run("cluster_histogram", {8, 1, 1}, {size, 1, 1}, {64, 1, 1},
                    Parameters().add(in).add(kCount).add(kBins).add(out), kBins / size * 4);
      ASSERT_RUNS(result);
      EXPECT_EQ(bench.content<int>(out), expected) << "clusters of " << size;
    }
}

TEST(Cluster, SizeOfTheKernelItself) {
  std::vector<float> in(8 * 64);
  std::iota(in.begin(), in.end(), 0.0F);
  for (const bool sanitize : {false, true}) {
    ClusterBench bench(fixture(), sanitize);
    const auto from = bench.buffer("in", in, {.read_only = true});
    const auto to = bench.buffer("out", std::vector<float>(8), {.initialized = false});
    const auto result = bench.run("cluster_sum", {8, 1, 1}, kAsCompiled, {64, 1, 1},
                                  Parameters().add(from).add(to));
    ASSERT_RUNS(result);
    const auto sums = bench.content<float>(to);
    for (std::size_t block = 0; block < 8; ++block) {
      const auto* first = in.data() + block / 4 * 256;
      EXPECT_EQ(sums[block], std::accumulate(first, first + 256, 0.0F)) << "block " << block;
    }
    EXPECT_EQ(result.statistics.blocks_run, 8U);
  }
}

TEST(Cluster, ChosenBlocksBringTheirClusters) {
  std::vector<float> in(8 * 64, 1.0F);
  ClusterBench bench(fixture());
  const auto from = bench.buffer("in", in, {.read_only = true});
  const auto to = bench.buffer("out", std::vector<float>(8, 0.0F));
  LaunchConfig config;
  config.kernel = "cluster_sum";
  config.grid = {8, 1, 1};
  config.block = {64, 1, 1};
  config.only_blocks = {6, 5};
  config.parameters = Parameters().add(from).add(to).bytes();
  const auto result = bench.machine.launch(*bench.program, config);
  ASSERT_RUNS(result);
  EXPECT_EQ(result.statistics.blocks_run, 4U);
  EXPECT_EQ(bench.content<float>(to), (std::vector<float>{0, 0, 0, 0, 256, 256, 256, 256}));
}

TEST(Cluster, PlacesInTwoDimensions) {
  ClusterBench bench(fixture());
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(std::size_t{8} * 24, 0));
  const auto result =
      bench.run("cluster_places", {4, 6, 1}, {2, 3, 1}, {32, 1, 1}, Parameters().add(out));
  ASSERT_RUNS(result);
  const auto places = bench.content<std::uint32_t>(out);
  for (std::uint32_t y = 0; y < 6; ++y)
    for (std::uint32_t x = 0; x < 4; ++x) {
      const auto* place = places.data() + std::size_t{8} * (x + 4 * y);
      const std::vector<std::uint32_t> expected = {x % 2 + 2 * (y % 3), 6, x % 2, y % 3, 2, 3, 192};
      EXPECT_EQ(std::vector<std::uint32_t>(place, place + 7), expected) << x << "," << y;
    }
}

TEST(Cluster, LeavingWhileOthersReadIsAFault) {
  for (const bool sanitize : {false, true}) {
    ClusterBench bench(fixture(), sanitize);
    const auto in = bench.buffer("in", std::vector<float>(4, 1.0F));
    const auto out = bench.buffer("out", std::vector<float>(4, 0.0F));
    const auto result = bench.run("leaves_early", {4, 1, 1}, kAsCompiled, {32, 1, 1},
                                  Parameters().add(in).add(out));
    ASSERT_TRUE(result.fault.has_value());
    EXPECT_NE(result.fault->message.find("exited"), std::string::npos) << fault_text(result);
    EXPECT_GT(result.fault->source_line, 0);
  }
}

TEST(Cluster, ReadingANeighbourWithoutABarrierIsARace) {
  ClusterBench bench(fixture(), true);
  const auto out = bench.buffer("out", std::vector<float>(64, 0.0F));
  const auto result =
      bench.run("unsynchronised", {2, 1, 1}, kAsCompiled, {32, 1, 1}, Parameters().add(out));
  EXPECT_FAULT(result, shared_race);
}

TEST(Cluster, LimitsOfTheGpuAndTheKernel) {
  ClusterBench bench(fixture());
  const auto in = bench.buffer("in", std::vector<float>(32 * 32, 1.0F));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(8 * 64, 0));
  const Parameters places = Parameters().add(out);
  const Parameters sums = Parameters().add(in).add(out);
  auto refusal = [&](const LaunchResult& result) {
    EXPECT_TRUE(result.fault && result.fault->kind == FindingKind::launch_limit)
        << fault_text(result);
    return fault_text(result);
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal(bench.run("cluster_places", {3, 1, 1}, {2, 1, 1}, {32, 1, 1}, places)),
              HasSubstr("a grid of 3x1x1 blocks, which clusters of 2x1x1 blocks do not divide"));
  EXPECT_THAT(refusal(bench.run("cluster_places", {16, 1, 1}, {16, 1, 1}, {32, 1, 1}, places)),
              HasSubstr("more than 8 need the non-portable cluster size"));
  EXPECT_THAT(refusal(bench.run("cluster_places", {32, 1, 1}, {32, 1, 1}, {32, 1, 1}, places)),
              HasSubstr("the limit is 16"));
  EXPECT_THAT(refusal(bench.run("cluster_sum", {8, 1, 1}, {2, 1, 1}, {32, 1, 1}, sums)),
              HasSubstr("requires exactly 4x1x1"));
  bench.nonportable = true;
  ASSERT_RUNS(bench.run("cluster_places", {16, 1, 1}, {16, 1, 1}, {32, 1, 1}, places));

  ClusterBench ampere(kernel("ret;"), false, small_gpu());
  EXPECT_THAT(refusal(ampere.run("k", {2, 1, 1}, {2, 1, 1}, {32, 1, 1}, Parameters().add(in))),
              HasSubstr("the TestGPU (sm_80) has none; they need sm_90 or newer"));
}

TEST(Cluster, DirectivesOfTheKernel) {
  using ::testing::HasSubstr;
  ClusterBench demands(cluster_kernel("ret;", ".explicitcluster"));
  EXPECT_THAT(fault_text(demands.run("k", {4, 1, 1}, kAsCompiled, {32, 1, 1},
                                     Parameters().add(std::uint64_t{0}))),
              HasSubstr("names no cluster size"));
  ClusterBench bounded(cluster_kernel("ret;", ".maxclusterrank 2"));
  EXPECT_THAT(fault_text(bounded.run("k", {4, 1, 1}, {4, 1, 1}, {32, 1, 1},
                                     Parameters().add(std::uint64_t{0}))),
              HasSubstr("compiled for at most 2"));
}

TEST(Cluster, RankOutsideTheCluster) {
  ClusterBench bench(cluster_kernel("mov.u32 %r4, mine;\n mapa.shared::cluster.u32 %r5, %r4, 7;\n"
                                    "ret;"));
  EXPECT_FAULT(bench.run("k", {4, 1, 1}, {4, 1, 1}, {32, 1, 1}, Parameters().add(std::uint64_t{0})),
               bad_argument);
}

TEST(Cluster, RemoteAccessIsCheckedAgainstTheBlocksMemory) {
  ClusterBench bench(cluster_kernel("mov.u32 %r4, mine;\n mapa.shared::cluster.u32 %r5, %r4, 1;\n"
                                    "ld.shared::cluster.u32 %r6, [%r5+1024];\n ret;"));
  const auto result =
      bench.run("k", {4, 1, 1}, {4, 1, 1}, {32, 1, 1}, Parameters().add(std::uint64_t{0}));
  EXPECT_FAULT(result, out_of_bounds);
}

TEST(Cluster, PlainSharedAccessStaysInTheBlock) {
  ClusterBench bench(cluster_kernel("mov.u32 %r4, mine;\n mapa.shared::cluster.u32 %r5, %r4, 1;\n"
                                    "ld.shared.u32 %r6, [%r5];\n ret;"));
  const auto result =
      bench.run("k", {4, 1, 1}, {4, 1, 1}, {32, 1, 1}, Parameters().add(std::uint64_t{0}));
  EXPECT_FAULT(result, out_of_bounds);
  EXPECT_NE(result.fault->message.find("own shared memory"), std::string::npos);
}

TEST(Cluster, BlocksStuckElsewhereAreADeadlock) {
  // Block 0 waits for an mbarrier nobody arrives at, the others for the cluster.
  ClusterBench bench(cluster_kernel(R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra REST;
  mov.u32 %r4, mine;
  mbarrier.init.shared.b64 [%r4], 1;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
  @!%p2 bra WAIT;
REST:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;)"));
  const auto result =
      bench.run("k", {4, 1, 1}, {4, 1, 1}, {1, 1, 1}, Parameters().add(std::uint64_t{0}));
  EXPECT_FAULT(result, deadlock);
  EXPECT_NE(result.fault->message.find("rank 0"), std::string::npos) << fault_text(result);
}

TEST(Cluster, ExitedThreadsCountAsArrived) {
  ClusterBench bench(cluster_kernel(R"(
  setp.eq.u32 %p1, %r1, 1;
  @%p1 ret;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  st.global.u32 [%rd1], 7;
  ret;)"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(4, 0));
  const auto result = bench.run("k", {4, 1, 1}, {4, 1, 1}, {1, 1, 1}, Parameters().add(out));
  ASSERT_RUNS(result);
  EXPECT_EQ(bench.content<std::uint32_t>(out), (std::vector<std::uint32_t>{7, 0, 7, 7}));
}

TEST(Cluster, ArrivingTwiceAndWaitingForNothing) {
  ClusterBench twice(cluster_kernel("barrier.cluster.arrive;\nbarrier.cluster.arrive;\nret;"));
  EXPECT_FAULT(twice.run("k", {4, 1, 1}, {4, 1, 1}, {1, 1, 1}, Parameters().add(std::uint64_t{0})),
               barrier_divergence);
  ClusterBench never(cluster_kernel("barrier.cluster.wait;\nret;"));
  EXPECT_FAULT(never.run("k", {4, 1, 1}, {4, 1, 1}, {1, 1, 1}, Parameters().add(std::uint64_t{0})),
               barrier_divergence);
}

TEST(Cluster, RelaxedArrivalOrdersNothing) {
  const std::string body = R"(
  mov.u32 %r4, mine;
  st.shared.u32 [%r4], %r1;
  barrier.cluster.arrive.KIND;
  barrier.cluster.wait;
  xor.b32 %r5, %r1, 1;
  mapa.shared::cluster.u32 %r6, %r4, %r5;
  ld.shared::cluster.u32 %r7, [%r6];
  st.global.u32 [%rd1], %r7;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;)";
  for (const std::string kind : {"relaxed", "release"}) {
    std::string text = body;
    text.replace(text.find("KIND"), 4, kind);
    ClusterBench bench(cluster_kernel(text), true);
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(2, 9));
    const auto result = bench.run("k", {2, 1, 1}, {2, 1, 1}, {1, 1, 1}, Parameters().add(out));
    if (kind == "relaxed") {
      EXPECT_FAULT(result, shared_race);
    } else {
      ASSERT_RUNS(result);
      EXPECT_EQ(bench.content<std::uint32_t>(out), (std::vector<std::uint32_t>{1, 0}));
    }
  }
}

} // namespace
} // namespace kernevo::vgpu::testing
