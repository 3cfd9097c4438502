// Our declarations of CUPTI's interface: every field stands where the headers of CUDA 12.6 and 13.4
// have it, and what is told to be the size of a structure is where the first version ends.
#include "kernevo/device/cupti_api.h"

#include <gtest/gtest.h>

namespace kernevo::cupti {
namespace {

template <class T, class Field> std::size_t place_of(const T& parameters, const Field& field) {
  return size_to(parameters, field) - sizeof(Field);
}

TEST(CuptiApi, fields_of_the_host_stand_where_the_headers_have_them) {
  const ChipName chip;
  EXPECT_EQ(place_of(chip, chip.name), 24U);
  const Availability available;
  EXPECT_EQ(place_of(available, available.context), 16U);
  EXPECT_EQ(place_of(available, available.bytes), 24U);
  EXPECT_EQ(place_of(available, available.image), 32U);
  const HostInitialize host;
  EXPECT_EQ(place_of(host, host.profiler), 16U);
  EXPECT_EQ(place_of(host, host.chip), 24U);
  EXPECT_EQ(place_of(host, host.availability), 32U);
  EXPECT_EQ(place_of(host, host.object), 40U);
  const MetricProperties known;
  EXPECT_EQ(place_of(known, known.name), 24U);
  EXPECT_EQ(place_of(known, known.type), 56U);
  const AddMetrics add;
  EXPECT_EQ(place_of(add, add.names), 24U);
  EXPECT_EQ(place_of(add, add.count), 32U);
  const Config config;
  EXPECT_EQ(place_of(config, config.bytes), 24U);
  EXPECT_EQ(place_of(config, config.image), 32U);
  const PassCount passes;
  EXPECT_EQ(place_of(passes, passes.bytes), 16U);
  EXPECT_EQ(place_of(passes, passes.passes), 32U);
  const Evaluate evaluate;
  EXPECT_EQ(place_of(evaluate, evaluate.range), 40U);
  EXPECT_EQ(place_of(evaluate, evaluate.names), 48U);
  EXPECT_EQ(place_of(evaluate, evaluate.values), 64U);
}

TEST(CuptiApi, fields_of_ranges_stand_where_the_headers_have_them) {
  const Enable enable;
  EXPECT_EQ(place_of(enable, enable.context), 16U);
  EXPECT_EQ(place_of(enable, enable.object), 24U);
  const DataSize size;
  EXPECT_EQ(place_of(size, size.ranges), 40U);
  EXPECT_EQ(place_of(size, size.nodes), 48U);
  EXPECT_EQ(place_of(size, size.bytes), 56U);
  const DataInitialize data;
  EXPECT_EQ(place_of(data, data.data), 32U);
  const SetConfig set;
  EXPECT_EQ(place_of(set, set.config), 32U);
  EXPECT_EQ(place_of(set, set.data), 48U);
  EXPECT_EQ(place_of(set, set.range), 56U);
  EXPECT_EQ(place_of(set, set.replay), 60U);
  EXPECT_EQ(place_of(set, set.ranges), 64U);
  EXPECT_EQ(place_of(set, set.levels), 72U);
  EXPECT_EQ(place_of(set, set.least_level), 74U);
  EXPECT_EQ(place_of(set, set.pass), 80U);
  EXPECT_EQ(place_of(set, set.target_level), 88U);
  const Stop stop;
  EXPECT_EQ(place_of(stop, stop.pass), 24U);
  EXPECT_EQ(place_of(stop, stop.all_passes), 40U);
  const PushRange push;
  EXPECT_EQ(place_of(push, push.name), 24U);
  const Decode decode;
  EXPECT_EQ(place_of(decode, decode.dropped), 24U);
  const DataInfo info;
  EXPECT_EQ(place_of(info, info.ranges), 32U);
  const RangeInfo range;
  EXPECT_EQ(place_of(range, range.range), 32U);
  EXPECT_EQ(place_of(range, range.name), 48U);
}

TEST(CuptiApi, a_size_is_where_the_last_field_ends) {
  EXPECT_EQ(size_of(Initialize()), 16U);
  EXPECT_EQ(size_of(Availability()), 40U);
  EXPECT_EQ(size_of(HostInitialize()), 48U);
  EXPECT_EQ(size_of(MetricProperties()), 60U) << "not the padded size of 64";
  EXPECT_EQ(size_of(Enable()), 32U);
  EXPECT_EQ(size_of(SetConfig()), 90U);
  EXPECT_EQ(size_of(Stop()), 41U);
}

} // namespace
} // namespace kernevo::cupti
