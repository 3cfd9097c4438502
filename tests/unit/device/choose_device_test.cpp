// From what a person asked for to a device, and to the one that stands by it.
#include "kernevo/device/open_device.h"
#include "kernevo/hardware/gpu_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

RealGpu real(int ordinal, const std::string& stand_in = "") {
  return {ordinal, "NVIDIA A100-SXM4-40GB", 80, Bytes{std::uint64_t{40} << 30U}, stand_in};
}

TEST(ChooseDevice, TheFirstRealGpuIsTheDefault) {
  EXPECT_EQ(to_text(*choose_device({}, "H100", {})), "virtual:H100");
  EXPECT_EQ(to_text(*choose_device({}, "H100", {real(0), real(1)})), "cuda:0");
  EXPECT_EQ(to_text(*choose_device({.gpu = "A100"}, "H100", {real(0)})), "virtual:A100");
  EXPECT_EQ(to_text(*choose_device({.device = "virtual:H100"}, "A100", {real(0)})), "virtual:H100");
  EXPECT_EQ(to_text(*choose_device({.device = "cuda:1"}, "A100", {})), "cuda:1");
}

TEST(ChooseDevice, AStandInIsAGpuOnlyByName) {
  const std::string who = "virtual A100, kernevo 0.1.0";
  EXPECT_EQ(to_text(*choose_device({}, "H100", {real(0, who)})), "virtual:H100");
  EXPECT_EQ(to_text(*choose_device({}, "H100", {real(0, who), real(1)})), "cuda:1");
  EXPECT_EQ(to_text(*choose_device({.device = "cuda:0"}, "H100", {real(0, who)})), "cuda:0");
}

TEST(ChooseDevice, ACompanionIsTheSameGpuElseOneOfItsKind) {
  const auto same = find_companion(*find_gpu("H100"));
  ASSERT_TRUE(same) << format_error(same.error());
  EXPECT_EQ(same->device->identity().name, "virtual:H100");
  EXPECT_EQ(same->likeness, "the same GPU");

  // As drivers call them.
  for (const auto& [name, listed] : {std::pair{"NVIDIA A100-SXM4-40GB", "A100"},
                                     {"NVIDIA A100-SXM4-80GB", "A100-80GB"},
                                     {"NVIDIA A100-PCIE-40GB", "A100-PCIe-40GB"},
                                     {"NVIDIA GeForce RTX 3090", "RTX 3090"},
                                     {"NVIDIA A10G", "A10G"},
                                     {"Tesla V100-SXM2-16GB", "V100"},
                                     {"virtual A100", "A100"}}) {
    Gpu named = *find_gpu(listed);
    named.name = name;
    const auto found = find_companion(named);
    ASSERT_TRUE(found) << format_error(found.error());
    EXPECT_EQ(found->device->gpu().name, listed) << name;
    EXPECT_EQ(found->likeness, "the same GPU") << name;
  }

  Gpu unlisted = *find_gpu("RTX 3090");
  unlisted.name = "NVIDIA GeForce RTX 3080 Laptop GPU";
  const auto kin = find_companion(unlisted);
  ASSERT_TRUE(kin) << format_error(kin.error());
  EXPECT_EQ(kin->device->gpu().compute_capability, 86);
  EXPECT_EQ(kin->device->gpu().name, "RTX 3090") << "by the number of its multiprocessors";
  EXPECT_EQ(kin->likeness, "of the same compute capability");

  unlisted.compute_capability = 103;
  const auto nearest = find_companion(unlisted);
  ASSERT_TRUE(nearest) << format_error(nearest.error());
  EXPECT_EQ(nearest->likeness, "sm_100, the nearest there is to sm_103");
}

TEST(ChooseDevice, AnotherGpuThanTheTasksIsSaidInOneLine) {
  DeviceIdentity device{
      "cuda:0", *find_gpu("H100"), TimingMethod::measured, "NVIDIA H100 80GB HBM3", "13.0", ""};
  EXPECT_EQ(mismatch_of(device, "H100"), "");
  const std::string line = mismatch_of(device, "A100");
  EXPECT_THAT(line, HasSubstr("the task is written for A100, cuda:0 NVIDIA H100 80GB HBM3 is "
                              "sm_90"));
  EXPECT_THAT(line, HasSubstr("--device virtual:A100"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(hardware_of(device), "NVIDIA H100 80GB HBM3, driver 13.0");
  device.stand_in = "virtual H100, kernevo 0.1.0";
  EXPECT_EQ(hardware_of(device),
            "NVIDIA H100 80GB HBM3, driver 13.0, played by virtual H100, kernevo 0.1.0");
  // Who names a virtual GPU has chosen.
  EXPECT_EQ(mismatch_of((*open_device(DeviceName::of_virtual("H100")))->identity(), "A100"), "");
}

} // namespace
} // namespace kernevo
