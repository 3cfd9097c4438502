#include "kernevo/propose/command_proposer.h"
#include "kernevo/propose/headless_output.h"
#include "test_folder.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>
#include <sstream>
#include <thread>

namespace kernevo::propose {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kKernel = "__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }\n";

class FakeDesk : public Desk, public store::Memo {
public:
  bool cancelled() const override { return stop && stop(); }
  store::Memo& memo() override { return *this; }
  Result<std::optional<std::string>> recall(const std::string& key) override {
    const auto found = memory.find(key);
    return found == memory.end() ? std::nullopt : std::optional(found->second);
  }
  Result<void> remember(const std::string& key, std::string_view body) override {
    memory.emplace(key, body);
    return {};
  }
  std::optional<std::uint64_t> reserve(std::uint64_t, const std::string& call, std::uint64_t,
                                       std::uint64_t wanted,
                                       const std::optional<ModelPrice>&) override {
    if (full)
      return std::nullopt;
    held.insert(call);
    return wanted;
  }
  void release(std::uint64_t, const std::string& call) override { held.erase(call); }
  void account(const ModelCall& call) override {
    calls.push_back(call);
    held.erase(call.id);
  }

  std::function<bool()> stop;
  bool full = false;
  std::map<std::string, std::string> memory;
  std::set<std::string> held;
  std::vector<ModelCall> calls;
};

class CommandProposerTest : public testing::Test {
protected:
  CommandProposerTest() {
    request_.desk = &desk_;
    request_.directive.step = 4;
    request_.directive.direction = "vectorise";
    request_.parent.source = "// parent\n" + kKernel;
    request_.parent.parameters = {{"BLOCK", 256}};
    request_.parent.objective = Nanoseconds{1500};
  }

  CommandProposer proposer(const std::string& command, double seconds = 60) const {
    CommandSettings settings;
    settings.command = command;
    settings.request_text = [](const ProposalRequest&) -> Result<std::string> {
      return std::string("make it faster");
    };
    settings.seconds = seconds;
    return CommandProposer(std::move(settings));
  }
  Result<std::optional<Proposal>> propose(const std::string& command, double seconds = 60) {
    return proposer(command, seconds).propose(request_);
  }
  // A file a command can print, quotes and all.
  std::string holding(const std::string& text) const { return made_.write("text", text); }
  std::string content(const char* name) const {
    std::ifstream stream(folder_ / name);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  static bool gone(long process) {
    for (int i = 0; i < 1000; ++i) {
      if (::kill(static_cast<pid_t>(process), 0) != 0)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  const TestFolder made_;
  const std::filesystem::path folder_ = made_.path();
  FakeDesk desk_;
  ProposalRequest request_;
};

TEST_F(CommandProposerTest, takes_the_file_that_was_written) {
  const auto made = propose("cp " + holding(kKernel) +
                            " \"$KERNEVO_OUTPUT\"; echo 'Reads four values at a time.'");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ((*made)->source, kKernel);
  EXPECT_THAT((*made)->title, HasSubstr("four values"));
  EXPECT_THAT((*made)->genes, ElementsAre("command:vectorise"));
  ASSERT_EQ(desk_.calls.size(), 1U);
  EXPECT_EQ(desk_.calls[0].stage, "command");
  EXPECT_TRUE(desk_.calls[0].usage.estimated);
  EXPECT_FALSE(desk_.calls[0].dollars.has_value());
  EXPECT_TRUE(desk_.held.empty());
}

TEST_F(CommandProposerTest, gives_all_that_is_known) {
  const std::string to = folder_.string();
  ASSERT_TRUE(propose("cat > " + to + "/stdin; cp request.md request.json parent.cu " + to +
                      "; echo \"$KERNEVO_STEP $KERNEVO_PARENT $KERNEVO_REQUEST\" > " + to +
                      "/env; pwd > " + to + "/pwd; cp parent.cu kernel.cu")
                  .has_value());
  EXPECT_THAT(content("stdin"), HasSubstr("make it faster"));
  EXPECT_EQ(content("stdin"), content("request.md"));
  EXPECT_EQ(content("parent.cu"), request_.parent.source);
  EXPECT_THAT(content("request.json"), HasSubstr("\"time_us\": 1.5"));
  EXPECT_THAT(content("request.json"), HasSubstr("\"BLOCK\": 256"));
  EXPECT_THAT(content("env"), testing::StartsWith("4 /"));
  std::string folder = content("pwd");
  folder.pop_back();
  EXPECT_FALSE(std::filesystem::exists(folder)); // private, and gone
}

TEST_F(CommandProposerTest, reads_a_fence_from_what_was_printed) {
  const auto made = propose("cat " + holding("Here it is.\n```cuda\n" + kKernel + "```\n"));
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ((*made)->source, kKernel);
  EXPECT_FALSE((*made)->rejected.has_value());
}

TEST_F(CommandProposerTest, reads_the_json_of_agents) {
  const auto made = propose(
      "cat " +
      holding(
          R"({"type":"result","is_error":false,"result":"```cuda\n__global__ void k() {}\n```",)"
          R"("total_cost_usd":0.25,"modelUsage":{"m-1":{}},"usage":{"input_tokens":10,)"
          R"("cache_read_input_tokens":90,"output_tokens":5}})"));
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT((*made)->source, HasSubstr("__global__ void k()"));
  ASSERT_EQ(desk_.calls.size(), 1U);
  EXPECT_EQ(desk_.calls[0].dollars, 0.25);
  EXPECT_EQ(desk_.calls[0].model, "m-1");
  EXPECT_EQ(desk_.calls[0].usage.prompt, 100U);
  EXPECT_EQ(desk_.calls[0].usage.cached, 90U);
  EXPECT_EQ(desk_.calls[0].usage.completion, 5U);
}

TEST_F(CommandProposerTest, rejects_an_answer_without_a_kernel) {
  const auto made = propose("echo 'I would rather not.'");
  ASSERT_TRUE(made.has_value());
  ASSERT_TRUE((*made)->rejected.has_value());
  EXPECT_TRUE((*made)->source.empty());
}

TEST_F(CommandProposerTest, takes_no_link_for_an_answer) {
  const auto made = propose("ln -s /etc/passwd kernel.cu; mkfifo other");
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE((*made)->source.empty());
}

TEST_F(CommandProposerTest, says_in_a_line_why_it_failed) {
  const auto made = propose("echo first >&2; echo 'no credit left' >&2; exit 3");
  ASSERT_TRUE(made.has_value() && (*made)->rejected.has_value());
  EXPECT_THAT((*made)->rejected->summary, HasSubstr("ended with 3: no credit left"));
  desk_.memory.clear();
  const auto crashed = propose("kill -SEGV $$");
  ASSERT_TRUE(crashed.has_value() && (*crashed)->rejected.has_value());
  EXPECT_THAT((*crashed)->rejected->summary, HasSubstr("signal 11"));
  EXPECT_TRUE(desk_.held.empty());
}

TEST_F(CommandProposerTest, books_what_a_failure_cost) {
  const auto made =
      propose("cat " + holding(R"({"is_error":true,"result":"overloaded","total_cost_usd":0.5})"));
  ASSERT_TRUE(made.has_value() && (*made)->rejected.has_value());
  EXPECT_THAT((*made)->rejected->summary, HasSubstr("overloaded"));
  ASSERT_EQ(desk_.calls.size(), 1U);
  EXPECT_EQ(desk_.calls[0].dollars, 0.5);
  EXPECT_EQ(desk_.calls[0].finish, "failed");
}

TEST_F(CommandProposerTest, gives_up_on_a_command_that_is_not_there) {
  CommandProposer proposer = this->proposer("kernevo-no-such-command");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(proposer.propose(request_).error().code, ErrorCode::infrastructure);
  EXPECT_EQ(proposer.propose(request_).error().code, ErrorCode::unavailable);
}

TEST_F(CommandProposerTest, ends_a_command_that_hangs) {
  const auto made =
      propose("echo $$ > " + (folder_ / "process").string() + "; sleep 600; echo never", 0.5);
  ASSERT_TRUE(made.has_value() && (*made)->rejected.has_value());
  EXPECT_THAT((*made)->rejected->summary, HasSubstr("longer than 0.5 seconds"));
  EXPECT_TRUE(gone(std::stol(content("process"))));
}

TEST_F(CommandProposerTest, ends_when_it_is_cancelled) {
  const auto begin = folder_ / "begun";
  desk_.stop = [&] { return std::filesystem::exists(begin); };
  const auto made = propose("touch " + begin.string() + "; sleep 600");
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("cancelled"));
}

TEST_F(CommandProposerTest, bears_a_flood_of_output) {
  const auto made =
      propose("cp " + holding(kKernel) + " kernel.cu; head -c 30000000 /dev/zero; exit 0");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ((*made)->source, kKernel);
}

TEST_F(CommandProposerTest, leaves_no_process_behind) {
  const auto made = propose("sleep 600 & echo $! > " + (folder_ / "process").string() + "; cp " +
                            holding(kKernel) + " kernel.cu");
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(gone(std::stol(content("process"))));
}

TEST_F(CommandProposerTest, asks_nothing_twice_that_was_answered) {
  const std::string command =
      "echo x >> " + (folder_ / "runs").string() + "; cp " + holding(kKernel) + " kernel.cu";
  ASSERT_TRUE(propose(command).has_value());
  EXPECT_TRUE(desk_.memory.contains("command 4.propose.0"));
  const auto again = propose(command); // another proposer, as after a crash
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ((*again)->source, kKernel);
  EXPECT_EQ(content("runs"), "x\n");
  ASSERT_EQ(desk_.calls.size(), 2U);
  EXPECT_EQ(desk_.calls[0], desk_.calls[1]);
}

TEST_F(CommandProposerTest, repairs_with_the_diagnosis) {
  FailedAttempt failed;
  failed.source = "broken";
  failed.diagnosis.summary = "line 3: expected a ';'";
  CommandProposer proposer = this->proposer("cp request.md request.json failed.cu " +
                                            folder_.string() + "; cp parent.cu kernel.cu");
  ASSERT_TRUE(proposer.repair(request_, failed).has_value());
  EXPECT_THAT(content("request.md"), HasSubstr("line 3: expected a ';'"));
  EXPECT_THAT(content("request.json"), HasSubstr("\"ordinal\": 1"));
  EXPECT_EQ(content("failed.cu"), "broken");
  EXPECT_TRUE(desk_.memory.contains("command 4.repair.1"));
  EXPECT_EQ(desk_.calls.at(0).id, "command.1");
}

TEST_F(CommandProposerTest, stays_within_the_caps) {
  desk_.full = true;
  const auto made = propose("echo x > " + (folder_ / "ran").string());
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

TEST_F(CommandProposerTest, offers_every_direction_without_end) {
  const auto offers = proposer("true").offers(request_.parent, {}, {});
  ASSERT_TRUE(offers.has_value());
  EXPECT_THAT(*offers, testing::Contains(Offer{"own_idea", std::nullopt}));
  EXPECT_GT(offers->size(), 5U);
  EXPECT_FALSE(proposer("true").immediate());
}

TEST(HeadlessOutput, reads_the_forms_in_use) {
  const auto response = read_headless_output(
      R"({"response":"text","stats":{"models":{"g":{"tokens":{"prompt":7,"candidates":2,)"
      R"("thoughts":3,"cached":1}}}}})");
  EXPECT_EQ(response.text, "text");
  EXPECT_EQ(response.model, "g");
  EXPECT_EQ(response.usage.prompt, 7U);
  EXPECT_EQ(response.usage.completion, 5U);

  const auto events = read_headless_output(
      R"({"type":"thread.started","thread_id":"x"})"
      "\n"
      R"({"type":"item.completed","item":{"type":"agent_message","text":"first"}})"
      "\n"
      R"({"type":"item.completed","item":{"type":"command_execution"}})"
      "\n"
      R"({"type":"item.completed","item":{"type":"agent_message","text":"last"}})"
      "\n"
      R"({"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,)"
      R"("output_tokens":2}})"
      "\n");
  EXPECT_EQ(events.text, "last");
  EXPECT_EQ(events.usage.prompt, 9U);
  EXPECT_EQ(events.usage.cached, 4U);
  EXPECT_FALSE(events.usage.estimated);

  EXPECT_EQ(read_headless_output("{ not json").text, "{ not json");
  EXPECT_EQ(read_headless_output("{\"kernel\": \"x\"}").text, "{\"kernel\": \"x\"}");
  EXPECT_TRUE(read_headless_output(R"({"type":"turn.failed"})").failure.has_value());
  EXPECT_TRUE(read_headless_output(R"({"error":{"message":"m"}})").failure.has_value());
}

RC_GTEST_PROP(HeadlessOutput, bears_any_bytes, ()) {
  const auto bytes = *rc::gen::arbitrary<std::string>();
  read_headless_output(bytes);
  read_headless_output("{" + bytes);
  read_headless_output(R"({"result": "x", "usage": )" + bytes + "}");
}

} // namespace
} // namespace kernevo::propose
