// What goes wrong on real GPUs, ordered from our own driver library: whose fault it is, and that
// the next run finds a GPU again.
#include "cuda_under_test.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/device/open_device.h"
#include "kernevo/timing/shots.h"
#include "places.h"
#include "test_needs.h"
#include "toolchain_test.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kernevo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::size_t kBytes = 256 * sizeof(float);

TensorBinding tensor(const char* name, std::size_t region, bool read_only, bool initialized) {
  return {name, region, read_only, initialized, std::nullopt};
}

class CudaFaults : public testing::Test {
protected:
  void SetUp() override {
    if (!needed_toolchain())
      return;
    if (wants_real_gpu())
      GTEST_SKIP() << "faults are ordered from our own library alone";
    if (const std::string nothing = choose_cuda_under_test(); !nothing.empty()) {
      skip_for_want_of(nothing);
      return;
    }
    auto arena = Arena::create({kBytes, kBytes});
    ASSERT_TRUE(arena);
    arena_.emplace(std::move(*arena));
    ready_ = true;
  }
  void TearDown() override { unsetenv("KERNEVO_CUDA_FAULTS"); }

  // A device whose workers have these faults; each starts to count anew.
  bool open(const std::string& faults) {
    if (!ready_)
      return false;
    setenv("KERNEVO_CUDA_FAULTS", faults.c_str(), 1);
    auto opened = open_cuda_under_test();
    EXPECT_TRUE(opened) << format_error(opened.error());
    if (!opened)
      return false;
    device_ = std::move(*opened);
    CompileRequest compile;
    compile.source = "extern \"C\" __global__ void twice(const float* A, float* C) {"
                     " C[threadIdx.x] = 2 * A[threadIdx.x]; }";
    compile.file = "twice.cu";
    compile.architecture = device_->architecture().value();
    const auto build = device_->build(compile);
    EXPECT_TRUE(build && build->ok);
    auto loaded = device_->load(build->ptx, "twice.cu", {});
    EXPECT_TRUE(loaded) << format_error(loaded.error());
    if (!loaded || loaded->refusal)
      return false;
    module_ = std::move(loaded->module);
    return true;
  }

  static RunRequest request() {
    RunRequest request;
    request.tensors = {tensor("A", 0, true, true), tensor("C", 1, false, false)};
    Launch launch;
    launch.kernel = "twice";
    launch.block = {256, 1, 1};
    launch.arguments = {{"A", BufferArgument{0}}, {"C", BufferArgument{1}}};
    request.plan.launches = {launch};
    request.seconds = 20;
    return request;
  }
  Result<RunOutcome> run() { return module_->run(request(), *arena_); }

  bool ready_ = false;
  std::shared_ptr<Device> device_;
  std::unique_ptr<LoadedModule> module_;
  std::optional<Arena> arena_;
};

TEST_F(CudaFaults, WithoutAnyARunIsRight) {
  if (!open(""))
    return;
  const auto outcome = run();
  ASSERT_TRUE(outcome) << format_error(outcome.error());
  EXPECT_FALSE(outcome->fault);
  const auto state = device_->state();
  ASSERT_TRUE(state) << format_error(state.error());
  EXPECT_THAT(state->disturbances, IsEmpty());
  EXPECT_GT(state->clocks.multiprocessor_mhz.value_or(0), 0);
  EXPECT_TRUE(state->celsius && state->watts);
}

TEST_F(CudaFaults, TooLittleMemoryIsTheMachinesTrouble) {
  if (!open("out-of-memory@2"))
    return;
  const auto outcome = run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::infrastructure);
  EXPECT_THAT(format_error(outcome.error()), HasSubstr("bytes of memory on cuda:0"));
  EXPECT_NE(outcome.error().fix, "");
}

TEST_F(CudaFaults, AStickyErrorEndsTheWorkerAndTheNextRunIsRight) {
  if (!open("sticky-error@2"))
    return;
  EXPECT_TRUE(run());
  const auto second = run();
  ASSERT_TRUE(second) << format_error(second.error());
  ASSERT_TRUE(second->fault);
  EXPECT_EQ(second->fault->kind, FindingKind::out_of_bounds);
  const auto third = run();
  ASSERT_TRUE(third) << format_error(third.error());
  EXPECT_FALSE(third->fault) << third->fault->message;
}

TEST_F(CudaFaults, ARefusedLaunchSaysWhich) {
  if (!open("launch-failure@1"))
    return;
  const auto outcome = run();
  ASSERT_TRUE(outcome) << format_error(outcome.error());
  ASSERT_TRUE(outcome->fault);
  EXPECT_EQ(outcome->fault->kind, FindingKind::launch_limit);
  EXPECT_THAT(outcome->fault->message, HasSubstr("'twice'"));
}

TEST_F(CudaFaults, ALostGpuIsUnavailableUntilItIsBack) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::filesystem::path file = folder->path() / "lost";
  if (!open(fmt::format("lost-device@2={}", file.string())))
    return;
  EXPECT_TRUE(run());
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto outcome = run();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::unavailable) << format_error(outcome.error());
    EXPECT_THAT(outcome.error().message, HasSubstr("cuda:0 is lost"));
  }
  EXPECT_FALSE(device_->state());
  // Whoever opens it anew finds out, and finds it when it is back.
  EXPECT_FALSE(open_cuda_under_test());
  std::filesystem::remove(file);
  EXPECT_TRUE(open_cuda_under_test());
}

class CudaDisturbances : public CudaFaults {
protected:
  void SetUp() override {
    CudaFaults::SetUp();
    if (ready_ && libnvml_path().empty()) {
      ready_ = false;
      skip_for_want_of("our NVML is not built here");
    }
  }
  Result<std::unique_ptr<DeviceShots>> shots() {
    timed_ = {module_.get(), &request_, &*arena_};
    return device_->shots(timed_, nullptr, CacheState::cold);
  }
  RunRequest request_ = request();
  Timed timed_;
};

TEST_F(CudaDisturbances, ShotsWhileAClockIsLowAreMarked) {
  if (!open("throttle=300"))
    return;
  auto taken = shots();
  ASSERT_TRUE(taken) << format_error(taken.error());
  const auto shot = (*taken)->shoot(Side::incumbent);
  ASSERT_TRUE(shot) << format_error(shot.error());
  EXPECT_TRUE(shot->disturbed);
  const auto state = device_->state();
  ASSERT_TRUE(state);
  EXPECT_THAT(state->disturbances, testing::Contains(HasSubstr("slowed down by heat")));
  EXPECT_THAT(state->disturbances, testing::Contains(HasSubstr("300 MHz of 1410")));
}

// Of a slow-down that begins in the middle, the shots before are worth what they were.
TEST_F(CudaDisturbances, OnlyShotsNearTheTroubleAreMarked) {
  if (!open("throttle@6=300"))
    return;
  auto taken = shots();
  ASSERT_TRUE(taken) << format_error(taken.error());
  std::vector<bool> marked;
  for (int turn = 0; turn < 8; ++turn) {
    const auto shot = (*taken)->shoot(Side::incumbent);
    ASSERT_TRUE(shot) << format_error(shot.error());
    marked.push_back(shot->disturbed);
  }
  EXPECT_FALSE(marked.front());
  EXPECT_TRUE(marked.back());
  EXPECT_TRUE(std::ranges::is_sorted(marked));
}

TEST_F(CudaDisturbances, ShotsBesideAnotherProgramAreMarked) {
  if (!open("foreign-process=1"))
    return;
  auto taken = shots();
  ASSERT_TRUE(taken) << format_error(taken.error());
  ASSERT_TRUE((*taken)->shoot(Side::incumbent));
  const auto shot = (*taken)->shoot(Side::incumbent);
  ASSERT_TRUE(shot);
  EXPECT_TRUE(shot->disturbed);
  EXPECT_THAT(device_->state().value().disturbances, testing::Contains(HasSubstr("process 1 ")));
}

TEST_F(CudaDisturbances, NoisyTimersVaryAndDriftingOnesGrow) {
  if (!open("timer-noise=20,timer-drift=90"))
    return;
  auto taken = shots();
  ASSERT_TRUE(taken) << format_error(taken.error());
  for (int turn = 0; turn < 4; ++turn) {
    const auto shot = take_shot(**taken, Side::incumbent);
    ASSERT_TRUE(shot) << format_error(shot.error());
    EXPECT_FALSE(shot->disturbed); // nobody can tell but from the times
  }
}

} // namespace
} // namespace kernevo
