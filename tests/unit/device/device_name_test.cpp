// Names of devices: every form there and back, and what is said of names that are none.
#include "kernevo/device/open_device.h"

#include "kernevo/device/list_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kernevo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(DeviceNames, EveryFormIsRead) {
  EXPECT_EQ(*parse_device_name("virtual:A100"), DeviceName::of_virtual("A100"));
  EXPECT_EQ(*parse_device_name("A100"), DeviceName::of_virtual("A100"));
  EXPECT_EQ(*parse_device_name("virtual:RTX 4090"), DeviceName::of_virtual("RTX 4090"));
  const auto cuda = parse_device_name("cuda:7");
  ASSERT_TRUE(cuda);
  EXPECT_EQ(cuda->kind, DeviceName::Kind::cuda);
  EXPECT_EQ(cuda->ordinal, 7);
  const auto remote = parse_device_name("remote:http://host:8080");
  ASSERT_TRUE(remote);
  EXPECT_EQ(remote->kind, DeviceName::Kind::remote);
  EXPECT_EQ(remote->url, "http://host:8080");
}

rc::Gen<DeviceName> names() {
  const auto text = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::oneOf(
      rc::gen::inRange('a', 'z'), rc::gen::elementOf(std::string(" :/.-_0123456789")))));
  return rc::gen::oneOf(
      rc::gen::map(text, [](std::string gpu) { return DeviceName::of_virtual(std::move(gpu)); }),
      rc::gen::map(rc::gen::positive<int>(),
                   [](int ordinal) {
                     DeviceName name;
                     name.kind = DeviceName::Kind::cuda;
                     name.ordinal = ordinal;
                     return name;
                   }),
      rc::gen::map(text, [](std::string url) {
        DeviceName name;
        name.kind = DeviceName::Kind::remote;
        name.url = std::move(url);
        return name;
      }));
}

RC_GTEST_PROP(DeviceNameProperty, WhatIsPrintedIsReadBack, ()) {
  const DeviceName name = *names();
  const auto again = parse_device_name(to_text(name));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == name);
}

// Whatever somebody types, reading it ends: with a name that is printed the same way twice, or with
// one line.
RC_GTEST_PROP(DeviceNameProperty, AnyTextIsANameOrOneLine, (const std::string& text)) {
  const auto name = parse_device_name(text);
  if (name)
    RC_ASSERT(to_text(*parse_device_name(to_text(*name))) == to_text(*name));
  else
    RC_ASSERT(format_error(name.error()).find('\n') == std::string::npos);
}

// One line that says what is wrong and which devices there are.
std::string refusal(const std::string& name) {
  const auto device = open_device(DeviceChoice{.device = name}, "A100");
  EXPECT_FALSE(device) << name;
  if (device)
    return "";
  const std::string text = format_error(device.error());
  EXPECT_THAT(text, AllOf(HasSubstr("devices here: "), HasSubstr("virtual:A100"),
                          HasSubstr("virtual:H100"), Not(HasSubstr("\n"))));
  EXPECT_EQ(exit_code(device.error().code), 2);
  return text;
}

TEST(DeviceNames, WhatIsNoNameIsExplained) {
  EXPECT_THAT(refusal(""), HasSubstr("it is empty"));
  EXPECT_THAT(refusal("cuda:"), HasSubstr("nothing follows the ':'"));
  EXPECT_THAT(refusal("virtual:"), HasSubstr("nothing follows the ':'"));
  for (const char* name : {"cuda:-1", "cuda:x", "cuda:1x", "cuda: 1", "cuda:99999999999"})
    EXPECT_THAT(refusal(name), HasSubstr("a CUDA device is a number from 0")) << name;
  EXPECT_THAT(refusal("virtul:A100"), AllOf(HasSubstr("'virtul' is not a kind of device"),
                                            HasSubstr("did you mean 'virtual'")));
  EXPECT_THAT(refusal("two\nlines:A100"), HasSubstr("'two lines' is not a kind of device"));
}

TEST(DeviceNames, WhatCannotBeOpenedHereIsExplained) {
  for (const char* name : {"A1000", "virtual:A1000"})
    EXPECT_THAT(refusal(name),
                AllOf(HasSubstr("unknown GPU 'A1000'"), HasSubstr("did you mean 'A100'")));
  EXPECT_THAT(refusal("virtual:A\n1"), HasSubstr("unknown GPU"));
  EXPECT_THAT(refusal("cuda:0"), HasSubstr("cannot open cuda:0"));
  EXPECT_THAT(refusal("remote:http://h"), HasSubstr("cannot open remote:http://h"));
}

TEST(DeviceNames, ADeviceIsChosenByNameByGpuOrByTheTask) {
  EXPECT_EQ(*choose_device({}, "A100"), DeviceName::of_virtual("A100"));
  EXPECT_EQ(*choose_device({.gpu = "H100"}, "A100"), DeviceName::of_virtual("H100"));
  EXPECT_EQ(*choose_device({.device = "virtual:H100"}, "A100"), DeviceName::of_virtual("H100"));
  const auto both = choose_device({.device = "virtual:H100", .gpu = "H100"}, "A100");
  ASSERT_FALSE(both);
  EXPECT_THAT(format_error(both.error()), HasSubstr("--gpu H100 is short for"));
}

TEST(DeviceNames, EveryDeviceOfTheListCanBeOpenedByItsName) {
  const auto list = list_devices();
  ASSERT_TRUE(list);
  EXPECT_GT(list->virtual_gpus.size(), 3U);
  for (const Gpu& gpu : list->virtual_gpus) {
    const std::string name = to_text(DeviceName::of_virtual(gpu.name));
    const auto device = open_device(DeviceChoice{.device = name}, "");
    ASSERT_TRUE(device) << format_error(device.error());
    EXPECT_EQ((*device)->identity().name, name);
    EXPECT_EQ((*device)->identity().method, TimingMethod::modelled);
    EXPECT_FALSE((*device)->capabilities().measures);
    EXPECT_FALSE((*device)->shots({}, nullptr, CacheState::cold))
        << "nothing is measured on a model";
    EXPECT_THAT(devices_here(), HasSubstr(name));
  }
}

} // namespace
} // namespace kernevo
