// Machine code travels beside the JSON of a message, byte for byte.
#include "kernevo/device/messages.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

// Line ends, quotes, zeros and bytes that are no UTF-8.
const std::string kBytes("\x7f"
                         "ELF\n\"\0\xff\xfe\n",
                         11);

TEST(MessagesTest, machine_code_goes_with_a_module) {
  const LoadMessage sent{".version 8.0\n", "k.ptx", {{"key1", kBytes}, {"key2", ""}}};
  const std::string text = encode(sent);
  EXPECT_EQ(kind_of_message(text), "load");
  const auto received = decode_load(text);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->ptx, sent.ptx);
  EXPECT_EQ(received->code, sent.code);
}

TEST(MessagesTest, a_load_message_cut_short_is_an_error) {
  const std::string text = encode(LoadMessage{".version 8.0\n", "k.ptx", {{"key1", kBytes}}});
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(decode_load(text.substr(0, length))) << length;
  EXPECT_FALSE(decode_load(text + "x"));
}

TEST(MessagesTest, machine_code_comes_back_with_an_answer) {
  RunOutcome outcome;
  outcome.warp_instructions = 7;
  outcome.compiled_instructions = 5;
  const std::string text = encode(Result<RunOutcome>(outcome), {{"key", kBytes}});
  MachineCode code;
  const auto received = decode_outcome(text, &code);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->compiled_instructions, 5U);
  EXPECT_EQ(code, (MachineCode{{"key", kBytes}}));
  // Code that did not arrive whole is no reason to lose the answer.
  code.clear();
  EXPECT_TRUE(decode_outcome(text.substr(0, text.size() - 1), &code));
  EXPECT_TRUE(code.empty());
}

TEST(MessagesTest, a_worker_is_told_its_gpu_and_its_limits_when_it_opens) {
  const auto open = decode_open(encode(OpenMessage{"A100", 1024, 4096}));
  ASSERT_TRUE(open);
  EXPECT_EQ(open->gpu, "A100");
  EXPECT_EQ(open->memory_bytes, 1024U);
  EXPECT_EQ(open->arena_bytes, 4096U);
}

TEST(MessagesTest, what_to_profile_goes_out_and_the_counts_come_back) {
  RunMessage sent;
  sent.request.instruments.profile = {{{3, 4, 99}, {1, 2.5, 40}, true, 4096}, {{}, {}, false, 0}};
  sent.request.instruments.tally_regions = {4, 5};
  const auto received = decode_run(encode(sent));
  ASSERT_TRUE(received) << received.error().message;
  ASSERT_EQ(received->request.instruments.profile.size(), 2U);
  EXPECT_EQ(received->request.instruments.profile[0].blocks,
            (std::vector<std::uint64_t>{3, 4, 99}));
  EXPECT_EQ(received->request.instruments.profile[0].l1_bytes, 4096U);
  EXPECT_EQ(received->request.instruments.profile[0].weights, (std::vector<double>{1, 2.5, 40}));
  EXPECT_TRUE(received->request.instruments.profile[0].in_company);
  EXPECT_EQ(received->request.instruments.tally_regions, (std::vector<std::size_t>{4, 5}));
  EXPECT_TRUE(received->request.instruments.profile[1].blocks.empty());

  RunOutcome outcome;
  LaunchCounts counts;
  counts.kernel = "k";
  counts.blocks = {{3, 17, 5}};
  outcome.counts = {counts, LaunchCounts{}};
  const auto answer = decode_outcome(encode(Result<RunOutcome>(outcome), {}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->counts, outcome.counts);
}

} // namespace
} // namespace kernevo
