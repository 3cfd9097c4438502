// Counters of a device behind a CUDA driver, through CUPTI: here the library that plays it, over
// the virtual GPU that plays the GPU. `make test-gpu` runs what is not about faults on a real one.
#include "cuda_under_test.h"
#include "kernevo/base/files.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/count_hardware.h"
#include "kernevo/evaluate/explain_bench.h"
#include "kernevo/explain/rules.h"
#include "kernevo/task/load_task.h"
#include "places.h"
#include "test_needs.h"
#include "toolchain_test.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

constexpr std::size_t kElements = 4096;
constexpr std::size_t kBytes = kElements * sizeof(float);
const std::vector<std::string> kCounters = {"gpu__time_duration.sum",
                                            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                                            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                            "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                            "smsp__inst_executed.sum",
                                            "smsp__thread_inst_executed.sum",
                                            "no__such_counter.sum"};

class CudaCounters : public testing::Test {
protected:
  void SetUp() override {
    unsetenv("KERNEVO_LIBCUPTI");
    if (!needed_toolchain())
      return;
    auto opened = open_cuda_under_test();
    if (!opened) {
      if (wants_real_gpu())
        GTEST_SKIP() << format_error(opened.error());
      skip_for_want_of(format_error(opened.error()));
      return;
    }
    device_ = std::move(*opened);
    auto arena = Arena::create({kBytes, kBytes});
    ASSERT_TRUE(arena);
    arena_.emplace(std::move(*arena));
    for (std::size_t i = 0; i < kElements; ++i)
      put(0, i, 1);
  }
  void TearDown() override {
    unsetenv("KERNEVO_CUDA_FAULTS");
    unsetenv("KERNEVO_LIBCUPTI");
  }

  void put(std::size_t region, std::size_t i, float value) {
    std::memcpy(arena_->region(region).data() + i * sizeof value, &value, sizeof value);
  }
  float at(std::size_t region, std::size_t i) const {
    float value = 0;
    std::memcpy(&value, arena_->region(region).data() + i * sizeof value, sizeof value);
    return value;
  }

  // Launches of k(A, C), each with a block of 256 for 256 elements.
  static RunRequest request(std::size_t launches, bool in_place = false) {
    RunRequest request;
    request.tensors = {{"A", 0, !in_place, true, std::nullopt},
                       {"C", 1, false, false, std::nullopt}};
    Launch launch;
    launch.kernel = "k";
    launch.grid = {kElements / 256, 1, 1};
    launch.block = {256, 1, 1};
    launch.arguments = {{"A", BufferArgument{0}}, {"C", BufferArgument{1}}};
    request.plan.launches.assign(launches, launch);
    return request;
  }

  std::unique_ptr<LoadedModule> load(const std::string& body) {
    CompileRequest compile;
    compile.source = "extern \"C\" __global__ void k(float* A, float* C) {"
                     " int i = blockIdx.x * 256 + threadIdx.x; " +
                     body + " }";
    compile.file = "k.cu";
    compile.architecture = device_->architecture().value();
    const auto build = device_->build(compile);
    EXPECT_TRUE(build && build->ok);
    if (!build || !build->ok)
      return nullptr;
    auto loaded = device_->load(build->ptx, "k.cu", {});
    EXPECT_TRUE(loaded) << format_error(loaded.error());
    return loaded ? std::move(loaded->module) : nullptr;
  }

  CountedRun count(LoadedModule& module, const RunRequest& what) {
    auto run = module.count(what, *arena_, kCounters);
    EXPECT_TRUE(run) << format_error(run.error());
    return run ? std::move(*run) : CountedRun{};
  }
  // A GPU that gives no counters is no failure of ours.
  static bool is_allowed(const CountedRun& run) {
    if (wants_real_gpu() && !run.refusal.empty())
      return false;
    EXPECT_EQ(run.refusal, "") << run.remedy;
    return run.refusal.empty();
  }

  std::shared_ptr<Device> device_;
  std::optional<Arena> arena_;
};

TEST_F(CudaCounters, AreOfEachLaunchOfThePlan) {
  if (!device_)
    return;
  ASSERT_TRUE(device_->capabilities().has_counters);
  auto module = load("C[i] = 2 * A[i];");
  ASSERT_NE(module, nullptr);
  const CountedRun run = count(*module, request(2));
  if (!is_allowed(run))
    GTEST_SKIP() << run.refusal;
  ASSERT_FALSE(run.fault);
  ASSERT_EQ(run.launches.size(), 2U);
  EXPECT_GE(run.passes, 1);
  for (const CounterReadings& launch : run.launches) {
    EXPECT_EQ(launch.kernel, "k");
    const auto& values = launch.values;
    ASSERT_TRUE(values.contains("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
    EXPECT_EQ(values.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), kElements / 32);
    EXPECT_EQ(values.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), kElements / 8);
    EXPECT_EQ(values.at("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), kElements / 8);
    EXPECT_GT(values.at("gpu__time_duration.sum"), 0);
    EXPECT_DOUBLE_EQ(values.at("smsp__thread_inst_executed.sum"),
                     32 * values.at("smsp__inst_executed.sum"));
    EXPECT_FALSE(values.contains("no__such_counter.sum"));
  }
}

// What each launch does depends on what the one before left: a plan that was not put back between
// passes would read other numbers in each.
TEST_F(CudaCounters, EveryPassBeginsWithTheSameTensors) {
  if (!device_)
    return;
  auto module = load("float a = A[i]; A[i] = 2 * a; if (a == 2) C[i] = a;");
  ASSERT_NE(module, nullptr);
  auto map = CounterMap::load();
  ASSERT_TRUE(map);
  const auto run = module->count(request(3, true), *arena_, map->counters());
  ASSERT_TRUE(run) << format_error(run.error());
  if (!is_allowed(*run))
    GTEST_SKIP() << run->refusal;
  ASSERT_EQ(run->launches.size(), 3U);
  EXPECT_GT(run->passes, 1) << "so many counters take several passes";
  for (std::size_t launch = 0; launch < 3; ++launch)
    EXPECT_EQ(run->launches[launch].values.at("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
              kElements / 8 * (launch == 1 ? 2 : 1))
        << "launch " << launch;
  EXPECT_EQ(at(0, 7), 1) << "the arena stays as it is";
}

TEST_F(CudaCounters, AFaultOfTheKernelIsTold) {
  if (!device_)
    return;
  auto module = load("C[i] = 1; if (i == 3) C[-1] = 2;");
  ASSERT_NE(module, nullptr);
  const CountedRun run = count(*module, request(1));
  if (!run.refusal.empty() && wants_real_gpu())
    GTEST_SKIP() << run.refusal;
  ASSERT_TRUE(run.fault);
  EXPECT_EQ(run.fault->kind, FindingKind::out_of_bounds);
  EXPECT_THAT(run.fault->message, HasSubstr("outside 'C'"));
  EXPECT_TRUE(run.launches.empty());
}

TEST_F(CudaCounters, RefusedOnesSayWhyAndHowToAllowThem) {
  if (!device_ || wants_real_gpu())
    return;
  setenv("KERNEVO_CUDA_FAULTS", "counters-refused", 1);
  auto opened = open_cuda_under_test();
  ASSERT_TRUE(opened) << format_error(opened.error());
  device_ = std::move(*opened);
  auto module = load("C[i] = 2 * A[i];");
  ASSERT_NE(module, nullptr);
  CountedRun run = count(*module, request(1));
  EXPECT_FALSE(run.fault);
  EXPECT_TRUE(run.launches.empty());
  EXPECT_THAT(run.refusal, HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(run.remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(run.remedy, HasSubstr("--counters FILE.csv"));
  // Where counting starts, after it was told what there is: asked twice before.
  setenv("KERNEVO_CUDA_FAULTS", "counters-refused@3", 1);
  opened = open_cuda_under_test();
  ASSERT_TRUE(opened) << format_error(opened.error());
  device_ = std::move(*opened);
  module = load("C[i] = 3 * A[i];");
  ASSERT_NE(module, nullptr);
  run = count(*module, request(1));
  EXPECT_THAT(run.refusal, HasSubstr("ERR_NVGPUCTRPERM"));
}

TEST_F(CudaCounters, ALibraryThatIsMissingOrAnotherOneIsARefusal) {
  if (!device_ || wants_real_gpu())
    return;
  const auto refusal_with = [&](const std::string& library) {
    setenv("KERNEVO_LIBCUPTI", library.c_str(), 1);
    auto opened = open_cuda_under_test();
    EXPECT_TRUE(opened);
    device_ = std::move(*opened);
    auto module = load("C[i] = 4 * A[i];");
    return module == nullptr ? CountedRun{} : count(*module, request(1));
  };
  EXPECT_THAT(refusal_with("/nowhere/libcupti.so.13").refusal,
              HasSubstr("there is no CUPTI library /nowhere/"));
  // It loads, and has none of CUPTI's functions.
  const CountedRun other = refusal_with(libcuda_path());
  EXPECT_THAT(other.refusal, HasSubstr("is too old: it has no cuptiProfilerInitialize"));
  EXPECT_THAT(other.remedy, HasSubstr("CUDA 12.6 or newer"));
}

// Shares of time from two sources cannot be compared: all of what is needed, or nothing.
TEST_F(CudaCounters, AreOfNoUseWithoutWhatIsNeeded) {
  if (!device_)
    return;
  const auto task =
      parse_task("op_name: add\nshapes: [[1000]]\ndtype: float32\ntarget_gpu: A100\n", "t.yaml");
  ASSERT_TRUE(task) << format_error(task.error());
  const auto kernel = parse_kernel_file(
      "// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)\n"
      "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
      "  int i = blockIdx.x * 256 + threadIdx.x; if (i < N) C[i] = A[i] + B[i]; }\n",
      "k.cu");
  ASSERT_TRUE(kernel) << format_error(kernel.error());
  const auto map =
      CounterMap::parse("- {metric: time, counted: [gpu__time_duration.sum]}\n"
                        "- {metric: share.l2, needed: true, counted: [no__such_counter.sum / 100]}",
                        "m.yaml");
  ASSERT_TRUE(map) << format_error(map.error());
  const auto prepared = prepare_kernel(*device_, task->task, *kernel, {});
  ASSERT_TRUE(prepared) << format_error(prepared.error());
  const auto counters = count_hardware(*device_, *prepared, *map, {});
  ASSERT_TRUE(counters) << format_error(counters.error());
  ASSERT_TRUE(*counters);
  EXPECT_TRUE((*counters)->cases.empty());
  if (!wants_real_gpu()) {
    EXPECT_EQ((*counters)->refusal, "cuda:0 has no no__such_counter.sum, which share.l2 comes of");
  }
}

TEST_F(CudaCounters, AVirtualGpuHasNone) {
  if (!device_)
    return;
  const auto companion = open_device(DeviceName::of_virtual("A100"));
  ASSERT_TRUE(companion) << format_error(companion.error());
  EXPECT_FALSE((*companion)->capabilities().has_counters);
}

// The way round: metrics become counters in the library that plays CUPTI and metrics again by
// share/counters. What comes back must be what went in, or one of the two is wrong.
TEST_F(CudaCounters, MetricsComeBackAsTheyWentIn) {
  if (!device_ || wants_real_gpu())
    return;
  const auto rules = load_rules();
  const auto map = CounterMap::load();
  ASSERT_TRUE(rules && map);
  for (const char* name : {"uncoalesced", "bank_conflict"}) {
    const std::filesystem::path folder =
        std::filesystem::path(source_folder()) / "examples" / "bottlenecks" / name;
    const auto task = load_task(folder / "task.yaml");
    const auto kernel = load_kernel_file(folder / "before.cu");
    ASSERT_TRUE(task && kernel);
    const auto companion = open_device(DeviceName::of_virtual(task->task.target_gpu));
    ASSERT_TRUE(companion) << format_error(companion.error());
    BenchOptions options;
    const auto modelled = bench_kernel(**companion, task->task, *kernel, options);
    ASSERT_TRUE(modelled) << format_error(modelled.error());
    const auto prepared = prepare_kernel(*device_, task->task, *kernel, {});
    ASSERT_TRUE(prepared) << format_error(prepared.error());
    const auto counters = count_hardware(*device_, *prepared, *map, options);
    ASSERT_TRUE(counters) << format_error(counters.error());
    ASSERT_TRUE(*counters);
    ASSERT_EQ((*counters)->refusal, "");
    EXPECT_EQ((*counters)->origin, CounterOrigin::stand_in);
    EXPECT_EQ((*counters)->label(), "stand-in for cuda:0");
    const CounterEvidence hardware{**counters, *map};
    const auto without = explain_bench(task->task, *modelled, *rules);
    const auto with = explain_bench(task->task, *modelled, *rules, nullptr, &hardware);
    ASSERT_TRUE(without && with);
    const Metrics& before = without->at(0).at(0).metrics;
    const Metrics& after = with->at(0).at(0).metrics;
    int counted = 0;
    for (const MetricSource& source : map->sources()) {
      const auto expected = before.find(source.metric);
      if (!expected)
        continue;
      EXPECT_NEAR(*after.find(source.metric), *expected, 0.05 * std::abs(*expected) + 1e-3)
          << name << " " << source.metric;
      counted += after.sources(source.metric).contains("stand-in for cuda:0") ? 1 : 0;
      if (!source.counted.empty()) {
        EXPECT_EQ(source_text(after.sources(source.metric)), "stand-in for cuda:0")
            << source.metric;
      }
    }
    EXPECT_GT(counted, 30) << name;
    ASSERT_FALSE(with->at(0).at(0).bottleneck.findings.empty());
    const BottleneckFinding& first = with->at(0).at(0).bottleneck.findings.front();
    EXPECT_EQ(first.tag, without->at(0).at(0).bottleneck.findings.front().tag) << name;
    for (const BottleneckEvidence& e : first.evidence)
      EXPECT_EQ(e.source, source_text(after.sources(e.metric))) << e.metric;
  }
}

} // namespace
} // namespace kernevo
