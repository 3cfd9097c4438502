// A worker in the hands of a kernel may answer anything; what cannot be is refused.
#include "kernevo/device/check_outcome.h"
#include "kernevo/device/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  return text.replace(at, from.size(), to);
}

std::string answer() {
  RunOutcome outcome;
  outcome.warp_instructions = 12;
  outcome.blocks_run = 2;
  return encode(Result<RunOutcome>(outcome), {{"key", "code"}});
}

TEST(HostileWorker, CountsThatAreNoneAreRefused) {
  ASSERT_TRUE(decode_outcome(answer()));
  for (const char* value : {"-1", "1.5", "1e30", "true", "\"2\"", "null", "99999999999999999999"})
    EXPECT_FALSE(
        decode_outcome(with(answer(), "\"blocks_run\":2", "\"blocks_run\":" + std::string(value))))
        << value;
  EXPECT_FALSE(decode_outcome(with(answer(), "\"counts\":[]", "\"counts\":7")));
  EXPECT_FALSE(decode_outcome(with(answer(), "\"printed\":\"\"", "\"printed\":[]")));
  EXPECT_FALSE(decode_outcome(""));
  EXPECT_FALSE(decode_outcome("[]"));
  EXPECT_FALSE(decode_outcome(std::string(100'000, '[')));
}

TEST(HostileWorker, SizesOfMachineCodeThatDoNotAgreeBringNone) {
  for (const char* size : {"5", "3", "18446744073709551615", "-4"}) {
    MachineCode code;
    const std::string text = with(answer(), "\"bytes\":4", "\"bytes\":" + std::string(size));
    decode_outcome(text, &code);
    EXPECT_TRUE(code.empty()) << size;
  }
}

TEST(HostileWorker, FindingsThatAreNoneAreRefused) {
  RunOutcome outcome;
  outcome.fault = Finding{};
  outcome.fault->source_line = 5;
  const std::string text = encode(Result<RunOutcome>(outcome), {});
  ASSERT_TRUE(decode_outcome(text));
  EXPECT_FALSE(decode_outcome(with(text, "crash", "joy")));
  const std::size_t at = text.find("source_line");
  std::string negative = text;
  negative.replace(text.find('5', at), 1, "-5");
  EXPECT_FALSE(decode_outcome(negative));
}

TEST(HostileWorker, NothingItSaysMovesACursor) {
  RunOutcome outcome;
  outcome.printed = "\033[2K\rCORRECT\n\tin order\n";
  outcome.fault = Finding{};
  outcome.fault->message = "Assertion `\033[1A\nCORRECT` failed";
  outcome.fault->source_file = "a\u202eb.cu";
  const auto read = decode_outcome(encode(Result<RunOutcome>(outcome), {}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->printed, "\\x1b[2K\\rCORRECT\n\tin order\n");
  EXPECT_EQ(read->fault->message, "Assertion `\\x1b[1A\\nCORRECT` failed");
  EXPECT_EQ(read->fault->source_file, "a\\u202eb.cu");
}

RunRequest request() {
  RunRequest request;
  request.plan.launches.resize(2);
  request.plan.launches[0].grid = {4, 2, 1};
  request.plan.launches[1].grid = {3, 1, 1};
  return request;
}

RunOutcome profiled() {
  RunOutcome outcome;
  outcome.counts.resize(2);
  outcome.counts[0].grid = {4, 2, 1};
  outcome.counts[1].grid = {3, 1, 1};
  outcome.counts[0].blocks = {{7, 10, 0}};
  return outcome;
}

std::string refusal(const RunRequest& asked, const RunOutcome& outcome) {
  const auto checked = check_outcome(asked, outcome, false);
  return checked ? "" : checked.error().message;
}

TEST(HostileWorker, NoMoreBlocksRunThanTheGridHas) {
  RunOutcome outcome;
  outcome.blocks_run = 11;
  EXPECT_EQ(refusal(request(), outcome), "");
  outcome.blocks_run = 12;
  EXPECT_THAT(refusal(request(), outcome), HasSubstr("12 blocks ran of 11"));
  EXPECT_TRUE(check_outcome(request(), outcome, true)); // its kernels launched others
  outcome.blocks_run = ~std::uint64_t{0};
  EXPECT_NE(refusal(request(), outcome), "");
}

TEST(HostileWorker, CountsAreOfTheLaunchesThatWereAskedFor) {
  RunRequest asked = request();
  EXPECT_THAT(refusal(asked, profiled()), HasSubstr("counts of 2 launches, not 0"));
  asked.instruments.profile.resize(2);
  EXPECT_EQ(refusal(asked, profiled()), "");
  RunOutcome outcome = profiled();
  outcome.counts.emplace_back();
  EXPECT_THAT(refusal(asked, outcome), HasSubstr("counts of 3 launches, not 2"));
  outcome.counts.resize(1);
  EXPECT_THAT(refusal(asked, outcome), HasSubstr("counts of 1 launches, not 2"));
  outcome.fault = Finding{}; // the second was not reached
  EXPECT_EQ(refusal(asked, outcome), "");
  outcome = profiled();
  outcome.counts[1].grid = {4, 1, 1};
  EXPECT_THAT(refusal(asked, outcome), HasSubstr("of another launch"));
  outcome = profiled();
  outcome.counts[0].blocks = {{8, 1, 1}};
  EXPECT_THAT(refusal(asked, outcome), HasSubstr("no block 8"));
  outcome.counts[0].blocks.assign(9, {0, 1, 1});
  EXPECT_THAT(refusal(asked, outcome), HasSubstr("fewer blocks than were counted"));
}

TEST(HostileWorker, NoMoreIsCompiledThanExecuted) {
  RunOutcome outcome;
  outcome.warp_instructions = 1;
  outcome.compiled_instructions = 2;
  EXPECT_THAT(refusal(request(), outcome), HasSubstr("compiled"));
}

TEST(HostileWorker, SharesAndThreadsStayInTheirRange) {
  LaunchCounts counts;
  counts.instructions.resize(1);
  counts.instructions[0].executions = 1;
  counts.instructions[0].threads = 32;
  counts.footprints.resize(1);
  counts.footprints[0].read_sectors = 4;
  counts.footprints[0].read_overlap = {0.5, std::nullopt, std::nullopt};
  const std::string text = to_json(counts);
  ASSERT_TRUE(launch_counts_from_json(text));
  EXPECT_FALSE(launch_counts_from_json(with(text, "\"threads\":32", "\"threads\":64")));
  EXPECT_FALSE(launch_counts_from_json(with(text, "\"diverged\":0", "\"diverged\":2")));
  EXPECT_FALSE(launch_counts_from_json(with(text, "0.5", "1.5")));
  EXPECT_FALSE(launch_counts_from_json(with(text, "4.0", "-4.0")));
  EXPECT_FALSE(launch_counts_from_json(with(text, "4.0", "null"))); // what a NaN is written as
  EXPECT_FALSE(launch_counts_from_json(with(text, "4.0", "1e999")));
}

} // namespace
} // namespace kernevo
