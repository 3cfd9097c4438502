#include "kernevo/device/gpu_telemetry.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array<std::int64_t, 2> kOurs = {100, 101};

GpuTelemetry well() {
  GpuTelemetry now;
  now.multiprocessor_mhz = 1400;
  now.wanted_mhz = 1410;
  now.reasons = 0;
  now.processes = {{{100, 50, "kernevo"}, {101, 0, "kernevo"}}};
  return now;
}

TEST(GpuTelemetry, NothingIsSaidOfAGpuThatIsWellOrUnknown) {
  EXPECT_THAT(disturbances(well(), kOurs), IsEmpty());
  EXPECT_THAT(disturbances({}, kOurs), IsEmpty());
}

TEST(GpuTelemetry, ReasonsForASlowDownAreNamed) {
  for (const auto& [bit, word] : std::initializer_list<std::pair<std::uint64_t, const char*>>{
           {slowdown::hardware, "hardware"},
           {slowdown::heat_software, "heat"},
           {slowdown::heat_hardware, "heat"},
           {slowdown::power_brake, "power supply"}}) {
    GpuTelemetry now = well();
    now.reasons = bit;
    EXPECT_THAT(disturbances(now, kOurs), ElementsAre(HasSubstr(word)));
  }
  // Large kernels live at the power limit: that alone makes no time wrong.
  GpuTelemetry capped = well();
  capped.reasons = slowdown::power_cap;
  EXPECT_THAT(disturbances(capped, kOurs), IsEmpty());
}

TEST(GpuTelemetry, AClockFarBelowItsSettingCountsUnlessTheGpuRests) {
  GpuTelemetry now = well();
  now.multiprocessor_mhz = 1000;
  EXPECT_THAT(disturbances(now, kOurs), ElementsAre(HasSubstr("1000 MHz of 1410")));
  now.multiprocessor_mhz = 1100;
  EXPECT_THAT(disturbances(now, kOurs), IsEmpty());
  now.multiprocessor_mhz = 210;
  now.reasons = slowdown::idle;
  EXPECT_THAT(disturbances(now, kOurs), IsEmpty());
}

TEST(GpuTelemetry, OthersCountWhenTheyWorkOrMay) {
  GpuTelemetry now = well();
  now.processes->push_back({4711, 30, "train\x1b"});
  EXPECT_THAT(disturbances(now, kOurs), ElementsAre(HasSubstr("process 4711")));
  now.processes->back().percent = 0;
  EXPECT_THAT(disturbances(now, kOurs), IsEmpty());
  now.processes->back().percent = std::nullopt;
  EXPECT_THAT(disturbances(now, kOurs), ElementsAre(HasSubstr("process 4711")));
  now.processes->back().name = "kernevo"; // the lease is between those
  EXPECT_THAT(disturbances(now, kOurs), IsEmpty());
}

// In a container the numbers are those of the machine outside.
TEST(GpuTelemetry, NumbersOfAnotherNamespaceSayNothing) {
  GpuTelemetry now = well();
  now.processes = {{{7, 90, "python"}, {8, 10, "python"}}};
  EXPECT_THAT(disturbances(now, kOurs), IsEmpty());
}

} // namespace
} // namespace kernevo
