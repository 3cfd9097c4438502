// The library that plays CUPTI, in this process: what it refuses, and in which order it wants to be
// called. What it counts is tests/program/workers/cuda_counters_test.cpp.
#include "kernevo/device/cupti_api.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kernevo::cupti {
namespace {

template <class P> P sized() {
  P parameters;
  parameters.size = size_of(parameters);
  return parameters;
}

class PlayedCupti : public testing::Test {
protected:
  void SetUp() override {
    void* const library = dlopen(KERNEVO_CUPTI_FILE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto bind = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>( // NOLINT
          dlsym(library, name));
      EXPECT_NE(function, nullptr) << name;
    };
#define KERNEVO_BIND(member, name, parameters) bind(name, calls.member);
    KERNEVO_CUPTI_FUNCTIONS(KERNEVO_BIND)
#undef KERNEVO_BIND
    bind("cuptiGetResultString", calls.error_text);
    bind("kernevoStandIn", calls.stand_in);
    auto chip = sized<ChipName>();
    ASSERT_EQ(calls.chip_name(&chip), status::success);
    auto host = sized<HostInitialize>();
    host.chip = chip.name;
    ASSERT_EQ(calls.host_initialize(&host), status::success);
    host_ = host.object;
  }
  void TearDown() override {
    auto end = sized<HostDeinitialize>();
    end.object = host_;
    EXPECT_EQ(calls.host_deinitialize(&end), status::success);
  }

  Status add(std::vector<const char*> names) const {
    auto add = sized<AddMetrics>();
    add.object = host_;
    add.names = names.data();
    add.count = names.size();
    return calls.add_metrics(&add);
  }
  std::vector<std::uint8_t> config() const {
    auto size = sized<ConfigSize>();
    size.object = host_;
    EXPECT_EQ(calls.config_size(&size), status::success);
    std::vector<std::uint8_t> image(size.bytes);
    auto config = sized<Config>();
    config.object = host_;
    config.bytes = image.size();
    config.image = image.data();
    EXPECT_EQ(calls.config(&config), status::success);
    return image;
  }

  Functions calls;
  HostObject host_ = nullptr;
};

TEST_F(PlayedCupti, SaysWhatItIs) {
  std::string text(100, '\0');
  EXPECT_GT(calls.stand_in(text.data(), static_cast<int>(text.size())), 0);
  EXPECT_NE(text.find("virtual"), std::string::npos);
  const char* error = nullptr;
  EXPECT_EQ(calls.error_text(status::insufficient_privileges, &error), status::success);
  EXPECT_STREQ(error, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
}

TEST_F(PlayedCupti, KnowsItsCountersAndNoOthers) {
  auto known = sized<MetricProperties>();
  known.object = host_;
  known.name = "gpu__time_duration.sum";
  EXPECT_EQ(calls.properties(&known), status::success);
  known.name = "gpu__time_duration.som";
  EXPECT_EQ(calls.properties(&known), status::invalid_metric_name);
  known.size = 8;
  EXPECT_EQ(calls.properties(&known), status::invalid_parameter);
  EXPECT_EQ(add({"gpu__time_duration.sum", "no__such.sum"}), status::invalid_metric_name);
}

TEST_F(PlayedCupti, ManyCountersTakeSeveralPasses) {
  ASSERT_EQ(add({"gpu__time_duration.sum"}), status::success);
  auto image = config();
  auto passes = sized<PassCount>();
  passes.bytes = image.size();
  passes.image = image.data();
  ASSERT_EQ(calls.pass_count(&passes), status::success);
  EXPECT_EQ(passes.passes, 1U);
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(add({"smsp__inst_executed.sum"}), status::success);
  image = config();
  passes.bytes = image.size();
  passes.image = image.data();
  ASSERT_EQ(calls.pass_count(&passes), status::success);
  EXPECT_EQ(passes.passes, 2U);
}

TEST_F(PlayedCupti, WantsItsOrder) {
  int context = 0;
  auto enable = sized<Enable>();
  enable.context = reinterpret_cast<driver::Context>(&context); // NOLINT: it is not looked into
  ASSERT_EQ(calls.enable(&enable), status::success);
  auto start = sized<Start>();
  start.object = enable.object;
  EXPECT_EQ(calls.start(&start), status::invalid_operation) << "not configured";
  auto push = sized<PushRange>();
  push.object = enable.object;
  push.name = "a";
  EXPECT_EQ(calls.push_range(&push), status::invalid_operation) << "not started";
  auto pop = sized<PopRange>();
  pop.object = enable.object;
  EXPECT_EQ(calls.pop_range(&pop), status::invalid_operation);
  auto stop = sized<Stop>();
  stop.object = enable.object;
  EXPECT_EQ(calls.stop(&stop), status::invalid_operation);

  ASSERT_EQ(add({"gpu__time_duration.sum"}), status::success);
  std::vector<std::uint8_t> image = config();
  std::vector<std::uint8_t> data(100);
  auto set = sized<SetConfig>();
  set.object = enable.object;
  set.config = image.data();
  set.config_bytes = image.size();
  set.data = data.data();
  set.data_bytes = data.size();
  set.ranges = 1;
  EXPECT_EQ(calls.set_config(&set), status::invalid_parameter) << "its memory was not prepared";
  auto prepare = sized<DataInitialize>();
  prepare.object = enable.object;
  prepare.data = data.data();
  prepare.bytes = data.size();
  ASSERT_EQ(calls.data_initialize(&prepare), status::success);
  set.replay = 2; // by the library
  EXPECT_EQ(calls.set_config(&set), status::not_supported);
  set.replay = kUserReplay;
  ASSERT_EQ(calls.set_config(&set), status::success);
  ASSERT_EQ(calls.start(&start), status::success);
  EXPECT_EQ(calls.start(&start), status::invalid_operation) << "started already";
  auto decode = sized<Decode>();
  decode.object = enable.object;
  EXPECT_EQ(calls.decode(&decode), status::invalid_operation) << "not stopped";
  ASSERT_EQ(calls.stop(&stop), status::success);
  EXPECT_EQ(stop.all_passes, 1);
  EXPECT_EQ(calls.decode(&decode), status::success);
  auto info = sized<DataInfo>();
  info.data = data.data();
  info.bytes = data.size();
  ASSERT_EQ(calls.data_info(&info), status::success);
  EXPECT_EQ(info.ranges, 0U) << "there was no range";
  auto disable = sized<Disable>();
  disable.object = enable.object;
  EXPECT_EQ(calls.disable(&disable), status::success);
}

} // namespace
} // namespace kernevo::cupti
