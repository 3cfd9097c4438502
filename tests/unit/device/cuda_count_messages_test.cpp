#include "kernevo/device/cuda_count_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

RunRequest request() {
  RunRequest request;
  Launch launch;
  launch.kernel = "first";
  request.plan.launches = {launch, launch};
  request.plan.launches[1].kernel = "second";
  return request;
}

TEST(CudaCountMessages, GoThereAndBack) {
  const auto message =
      decode_count(encode(CudaCountMessage{{"a__b.sum", "c__d.avg"}, {request(), {}}}));
  ASSERT_TRUE(message) << format_error(message.error());
  EXPECT_EQ(message->counters, (std::vector<std::string>{"a__b.sum", "c__d.avg"}));
  EXPECT_EQ(message->run.request.plan.launches.size(), 2U);

  CountedRun run;
  run.launches = {{"", {{"a__b.sum", 1e12}}}, {"", {{"a__b.sum", 0.5}}}};
  run.passes = 3;
  const auto read = decode_counted(encode_counted(run), request());
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_EQ(read->passes, 3);
  EXPECT_EQ(read->launches[0].kernel, "first");
  EXPECT_EQ(read->launches[1].kernel, "second");
  EXPECT_EQ(read->launches[1].values.at("a__b.sum"), 0.5);
}

TEST(CudaCountMessages, ARefusalAndAFaultArrive) {
  CountedRun run;
  run.refusal = "no permission\x1b[31m";
  run.remedy = "ask";
  auto read = decode_counted(encode_counted(run), request());
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_THAT(read->refusal, HasSubstr("no permission"));
  EXPECT_EQ(read->refusal.find('\x1b'), std::string::npos) << "it is shown to people";
  run = {};
  run.fault.emplace();
  run.fault->kind = FindingKind::trap;
  run.fault->message = "trapped";
  run.launches = {{"", {{"a__b.sum", 1}}}};
  read = decode_counted(encode_counted(run), request());
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_EQ(read->fault->message, "trapped");
  EXPECT_TRUE(read->launches.empty());
}

TEST(CudaCountMessages, WhatCannotBeIsTheWorkersTrouble) {
  CountedRun run;
  run.launches = {{"", {{"a__b.sum", 1}}}};
  auto read = decode_counted(encode_counted(run), request());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::infrastructure);
  EXPECT_THAT(read.error().message, HasSubstr("1 launches of 2"));
  for (
      const char* text :
      {"", "{}", "[]",
       R"({"launches": [{"a": 1e400}], "passes": 1, "fault": null, "refusal": "", "remedy": ""})",
       R"({"launches": [{"a": "1"}, {}], "passes": 1, "fault": null, "refusal": "", "remedy": ""})",
       R"({"launches": [], "passes": 1, "fault": "?", "refusal": "", "remedy": ""})"}) {
    read = decode_counted(text, request());
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::infrastructure);
  }
}

} // namespace
} // namespace kernevo
