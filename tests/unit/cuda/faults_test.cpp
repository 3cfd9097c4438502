// Faults on order, and NVML beside them, in this process.
#include "kernevo/cuda/common/faults.h"
#include "kernevo/cuda/common/identity.h"

#include "kernevo/base/temporary_folder.h"

#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::cuda {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  const auto parsed = parse_faults(text);
  return parsed ? "" : parsed.error().message;
}

Faults faults(const std::string& text) {
  return Faults(parse_faults(text).value());
}

TEST(Faults, AListIsReadStrictly) {
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal("out-of-memory,throttle@3=700,timer-noise=5,lost-device@2=/tmp/lost"), "");
  EXPECT_THAT(refusal("out-of-memry"), HasSubstr("did you mean 'out-of-memory'"));
  EXPECT_THAT(refusal("throttle"), HasSubstr("needs a number from 1 after '='"));
  EXPECT_THAT(refusal("throttle=fast"), HasSubstr("needs a number"));
  EXPECT_THAT(refusal("sticky-error=3"), HasSubstr("takes no value"));
  EXPECT_THAT(refusal("sticky-error@0"), HasSubstr("needs a number from 1 after '@'"));
  EXPECT_THAT(refusal("sticky-error@"), HasSubstr("after '@'"));
  EXPECT_THAT(refusal("timer-drift@3=5"), HasSubstr("has no beginning"));
  EXPECT_THAT(refusal("timer-drift=100"), HasSubstr("from 1 to 99"));
  EXPECT_THAT(refusal("lost-device=here"), HasSubstr("full path"));
  EXPECT_THAT(refusal("throttle=1,throttle=2"), HasSubstr("given twice"));
  EXPECT_THAT(refusal("out-of-memory,"), HasSubstr("ends in a comma"));
  EXPECT_THAT(refusal(",out-of-memory"), HasSubstr("is no fault"));
}

TEST(Faults, CountersAreRefusedFromThenOn) {
  Faults some = faults("counters-refused@2");
  EXPECT_FALSE(some.counters_refused());
  EXPECT_TRUE(some.counters_refused());
  EXPECT_TRUE(some.counters_refused());
  EXPECT_FALSE(faults("").counters_refused());
  EXPECT_THAT(refusal("counters-refused=1"), HasSubstr("takes no value"));
}

TEST(Faults, MemoryRunsOutAndStaysOut) {
  Faults some = faults("out-of-memory@3");
  EXPECT_EQ(some.allocation(), 0);
  EXPECT_EQ(some.allocation(), 0);
  EXPECT_EQ(some.allocation(), 2);
  EXPECT_EQ(some.allocation(), 2);
  EXPECT_EQ(some.call(), 0);
}

TEST(Faults, ARefusedLaunchPassesAndAStickyErrorDoesNot) {
  Faults refused = faults("launch-failure@2");
  EXPECT_EQ(refused.launch(), 0);
  EXPECT_EQ(refused.launch(), 701);
  EXPECT_EQ(refused.launch(), 0);
  Faults sticky = faults("sticky-error@2");
  EXPECT_EQ(sticky.launch(), 0);
  EXPECT_EQ(sticky.call(), 0);
  EXPECT_EQ(sticky.launch(), 0); // told by whoever asks next
  EXPECT_EQ(sticky.call(), 700);
  EXPECT_EQ(sticky.launch(), 700);
}

TEST(Faults, ALostGpuIsLostForEveryProcess) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "lost";
  const std::string order = "lost-device@1=" + file.string();
  Faults here = faults(order);
  Faults there = faults(order);
  EXPECT_EQ(there.start(), 0);
  EXPECT_EQ(here.launch(), 0);
  EXPECT_EQ(here.call(), 999);
  EXPECT_EQ(there.start(), 100);
  EXPECT_TRUE(there.lost());
  std::filesystem::remove(file);
  EXPECT_EQ(there.start(), 0);
}

TEST(Faults, TimersVaryWithinTheirNoiseAndDriftUpwards) {
  Faults noisy = faults("timer-noise=10");
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const double time = noisy.elapsed(1);
    EXPECT_NEAR(time, 1, 0.1);
    differs = differs || time != 1;
  }
  EXPECT_TRUE(differs);
  Faults drifting = faults("timer-drift=50");
  double last = 0;
  for (int i = 0; i < 100; ++i)
    last = drifting.elapsed(1);
  EXPECT_NEAR(last, 1.495, 1e-9);
  EXPECT_EQ(faults("").elapsed(3), 3);
}

TEST(Identity, OneProcessIsSeenByNvml) {
  announce_process();
  EXPECT_THAT(announced_processes(), Contains(static_cast<unsigned>(getpid())));
}

// As Python's binding calls it: every answer is NVML's, also to what makes no sense.
class NvmlLibrary : public testing::Test {
protected:
  void SetUp() override {
    library_ = dlopen(KERNEVO_NVML_FILE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  template <class... Arguments> int call(const char* name, Arguments... arguments) {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name)); // NOLINT
    EXPECT_NE(function, nullptr) << name;
    return function == nullptr ? -1 : function(arguments...);
  }
  void* library_ = nullptr;
};

TEST_F(NvmlLibrary, SaysWhoTheGpuIs) {
  void* device = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0U, &device), 1); // not started
  ASSERT_EQ(call("nvmlInitWithFlags", 0U), 0);
  unsigned count = 0;
  ASSERT_EQ(call("nvmlDeviceGetCount_v2", &count), 0);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 1U, &device), 2);
  ASSERT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0U, &device), 0);
  std::array<char, 96> text{};
  ASSERT_EQ(call("nvmlDeviceGetName", device, text.data(), 96U), 0);
  EXPECT_STREQ(text.data(), "virtual A100");
  EXPECT_EQ(call("nvmlDeviceGetName", device, text.data(), 4U), 7);
  EXPECT_EQ(call("nvmlDeviceGetName", device, static_cast<char*>(nullptr), 4U), 2);
  ASSERT_EQ(call("nvmlDeviceGetUUID", device, text.data(), 96U), 0);
  void* same = nullptr;
  ASSERT_EQ(call("nvmlDeviceGetHandleByUUID", static_cast<const char*>(text.data()), &same), 0);
  EXPECT_EQ(same, device);
  EXPECT_EQ(call("nvmlDeviceGetHandleByUUID", "GPU-0", &same), 6);
  std::array<unsigned long long, 3> memory{};
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", device, memory.data()), 0);
  EXPECT_EQ(memory[0], played_gpu().memory.value);
  unsigned clock = 0;
  ASSERT_EQ(call("nvmlDeviceGetClockInfo", device, 1, &clock), 0);
  EXPECT_EQ(clock, 1410U);
  EXPECT_EQ(call("nvmlDeviceGetClockInfo", device, 9, &clock), 2);
  // Known, and nothing to say.
  EXPECT_EQ(call("nvmlDeviceGetNvLinkState", device, 0U, &clock), 3);
  EXPECT_EQ(call("nvmlDeviceGetFanSpeed", device, &clock), 3);
  EXPECT_EQ(call("nvmlDeviceGetName", &count, text.data(), 96U), 2); // no handle of a GPU
  unsigned processes = 0;
  announce_process();
  EXPECT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", device, &processes,
                 static_cast<void*>(nullptr)),
            7);
  EXPECT_GE(processes, 1U);
  EXPECT_EQ(call("nvmlShutdown"), 0);
  EXPECT_EQ(call("nvmlShutdown"), 1);
}

} // namespace
} // namespace kernevo::cuda
