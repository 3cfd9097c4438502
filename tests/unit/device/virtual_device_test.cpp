// Which workers the virtual GPU keeps and which it never uses again.
#include "kernevo/device/virtual_device.h"

#include "kernevo/hardware/gpu_table.h"
#include "places.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

class VirtualDeviceTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    // Beside this test.
    set_worker_program(
        (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "scripted_worker")
            .string());
  }
  void SetUp() override {
    device_ = open_virtual_device(find_gpu("A100").value());
    request_.plan.launches.resize(1);
    before_ = worker_counts("execute").workers;
  }

  // Workers started since the test began.
  std::uint64_t started() const { return worker_counts("execute").workers - before_; }

  std::unique_ptr<LoadedModule> load(const std::string& module, const ModuleLimits& limits = {}) {
    auto loaded = device_->load(module, "module.ptx", limits);
    EXPECT_TRUE(loaded) << format_error(loaded.error());
    EXPECT_FALSE(loaded->refusal);
    return std::move(loaded->module);
  }
  Result<RunOutcome> run(LoadedModule& module) { return module.run(request_, arena_); }

  std::shared_ptr<Device> device_;
  RunRequest request_;
  Arena arena_ = Arena::create({64}).value();
  std::uint64_t before_ = 0;
};

TEST_F(VirtualDeviceTest, TheWorkerOfAModuleIsUsedAgain) {
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(run(*load("runs")));
  EXPECT_EQ(started(), 1U);
  const auto held = load("runs");
  const auto second = load("runs"); // the one there is is in use
  EXPECT_EQ(started(), 2U);
  EXPECT_EQ(worker_counts("execute").nurseries, 1U);
}

TEST_F(VirtualDeviceTest, AnotherModuleOrOtherLimitsHaveAnotherWorker) {
  load("runs");
  load("runs too");
  EXPECT_EQ(started(), 2U);
  load("runs", {.memory_bytes = 1U << 20U});
  EXPECT_EQ(started(), 3U);
  load("runs", {.fresh_process = true});
  EXPECT_EQ(started(), 4U);
  load("runs too");
  EXPECT_EQ(started(), 4U);
}

TEST_F(VirtualDeviceTest, NotMoreThanAFewWait) {
  for (const char* module : {"a", "b", "c", "d", "e"})
    load(module);
  EXPECT_EQ(started(), 5U);
  load("e");
  EXPECT_EQ(started(), 5U);
  load("a"); // the first to come was the first to go
  EXPECT_EQ(started(), 6U);
}

TEST_F(VirtualDeviceTest, AWorkerThatCrashedIsAFindingAndIsReplaced) {
  const auto module = load("crashes");
  const auto outcome = run(*module);
  ASSERT_TRUE(outcome) << format_error(outcome.error());
  ASSERT_TRUE(outcome->fault);
  EXPECT_EQ(outcome->fault->kind, FindingKind::crash);
  EXPECT_THAT(outcome->fault->message, HasSubstr("signal 6"));
  EXPECT_EQ(started(), 1U);
  EXPECT_TRUE(run(*module)); // in another one
  EXPECT_EQ(started(), 2U);
}

// A system out of memory kills whom it likes: that says nothing about the kernel.
TEST_F(VirtualDeviceTest, AWorkerThatWasKilledIsTheMachinesTrouble) {
  const auto module = load("killed");
  const auto outcome = run(*module);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::infrastructure);
  EXPECT_THAT(outcome.error().message, HasSubstr("the system killed"));
  EXPECT_FALSE(run(*module)); // in another one
  EXPECT_EQ(started(), 2U);
}

TEST_F(VirtualDeviceTest, ACompilerThatWasKilledIsTheMachinesTrouble) {
  if (!find_toolchain())
    GTEST_SKIP() << "there is no CUDA toolkit";
  CompileRequest request;
  request.source = "// nobody ever compiled this\n";
  request.file = "killed.cu";
  const auto build = device_->build(request);
  ASSERT_FALSE(build);
  EXPECT_EQ(build.error().code, ErrorCode::infrastructure);
}

TEST_F(VirtualDeviceTest, AWorkerThatCrashedIsNotKept) {
  run(*load("crashes"));
  load("crashes");
  EXPECT_EQ(started(), 2U);
}

TEST_F(VirtualDeviceTest, WhoSaysWhatCannotBeIsNeverAskedAgain) {
  for (const char* module : {"lies", "babbles"}) {
    SCOPED_TRACE(module);
    const std::uint64_t before = started();
    EXPECT_FALSE(run(*load(module)));
    EXPECT_EQ(started() - before, 1U);
    const auto again = load(module);
    EXPECT_EQ(started() - before, 2U) << "the worker was kept";
    EXPECT_FALSE(run(*again));
    EXPECT_FALSE(run(*again));
    EXPECT_EQ(started() - before, 3U) << "the same worker was asked again";
  }
}

TEST_F(VirtualDeviceTest, AModuleThatIsRefusedIsLoadedAnewTheNextTime) {
  for (int i = 0; i < 2; ++i) {
    const auto loaded = device_->load("refuses", "module.ptx", {});
    ASSERT_TRUE(loaded) << format_error(loaded.error());
    EXPECT_EQ(loaded->module, nullptr);
    ASSERT_TRUE(loaded->refusal);
    EXPECT_EQ(loaded->refusal->message, "refused by the script");
  }
  EXPECT_EQ(started(), 2U);
}

} // namespace
} // namespace kernevo
