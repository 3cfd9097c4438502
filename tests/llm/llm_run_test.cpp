// What a user of a model sees: runs that survive what models and endpoints do, and never lose or
// repeat a cent.
#include "places.h"
#include "run_program.h"
#include "scripted_model.h"
#include "test_folder.h"

#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "sk-scripted-0123456789";

// Threads of a warp `apart` elements from each other; `threads` makes kernels differ.
std::string kernel(int apart, int threads, const std::string& extra = "") {
  return fmt::format(
      "// title: elements {} apart, {} threads\n"
      "// @launch add<<<ceil_div(N, {}), {}>>>(A, B, C, N)\n"
      "extern \"C\" __global__ void add(const float* A, const float* B, float* C, int N) {{\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const int rows = N / {};\n"
      "  int at = i < rows * {} ? i % rows * {} + i / rows : i;\n"
      "  {}\n"
      "  if (at < N) C[at] = A[at] + B[at];\n"
      "}}\n",
      apart, threads, threads, threads, apart, apart, apart, extra);
}

std::string contents_of(const fs::path& folder) {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::stringstream bytes;
      bytes << file.rdbuf();
      all += bytes.str();
    }
  return all;
}

class LlmRun : public testing::Test {
protected:
  void SetUp() override {
    made_.write("reference.cu", kernel(32, 128,
                                       "for (int k = 1; k < 30; ++k) "
                                       "if (A[(at + k * 5000) % N] > 1e30f) return;"));
    task_ = made_.write("task.yaml",
                        "op_name: add\nshapes: [[16384]]\ndtype: float32\ntarget_gpu: A100\n"
                        "check_shapes: [[7919]]\nreference_kernel: reference.cu\n");
  }

  SubprocessResult kernevo(const std::vector<std::string>& arguments,
                           const std::function<bool()>& kill_it = {}) const {
    return run_program(program_path(), arguments,
                       {{"KERNEVO_RUNS", (folder_ / "runs").string()}, {"SCRIPTED_KEY", kKey}}, 240,
                       kill_it);
  }

  std::vector<std::string> evolve(const std::string& url, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"evolve",         task_,
                                          "--proposer",     "llm",
                                          "--model",        "scripted",
                                          "--base-url",     url,
                                          "--api-key-env",  "SCRIPTED_KEY",
                                          "--out",          (folder_ / "run").string(),
                                          "--ahead",        "1",
                                          "--first-tuning", "1",
                                          "--plateau",      "0",
                                          "--roofline",     "10",
                                          "--seed",         "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  Json shown(const std::string& run = "run") const {
    const SubprocessResult result =
        kernevo({"show", (folder_ / run).string(), "--json", "--limit", "1000"});
    EXPECT_EQ(result.exit_status, 0) << result.error_output;
    return Json::parse(result.output, nullptr, false);
  }

  // Calls by stage, from the program's own books.
  static std::map<std::string, int> calls(const Json& run) {
    std::map<std::string, int> counts;
    for (const Json& stage : run.at("state").at("by_stage"))
      counts[stage.at(0)] = stage.at(1);
    return counts;
  }

  static std::size_t proposals(const Json& run) {
    std::size_t count = 0;
    for (const Json& step : run.at("steps"))
      count += step.at("proposer") == "llm" ? 1 : 0;
    return count;
  }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
  std::string task_;
};

// Every third answer is faulty in some way; each is mended at the next.
ModelAnswer sometimes_faulty(std::size_t number) {
  const int n = static_cast<int>(number);
  if (number % 3 == 1)
    return {200, fenced(kernel(4, 64 + 32 * n, "this is no C")), 1500, 200};
  return {200, fenced(kernel(number < 3 ? 8 : 1, 64 + 32 * (n % 20))), 1500, 200};
}

TEST_F(LlmRun, CheapMeansOneCallACandidatePlusRepairs) {
  ScriptedModel model([](const std::string&, std::size_t n) { return sometimes_faulty(n); });
  const SubprocessResult result = kernevo(evolve(model.url(), {"--cheap", "--rounds", "5"}));
  ASSERT_EQ(result.exit_status, 0) << result.output << result.error_output;
  const Json run = shown();
  const auto counts = calls(run);
  EXPECT_EQ(counts.size(), 2U) << "only code and repair";
  EXPECT_EQ(static_cast<std::size_t>(counts.at("code")), proposals(run));
  EXPECT_GE(counts.at("repair"), 1);
  EXPECT_EQ(model.completions(), proposals(run) + static_cast<std::size_t>(counts.at("repair")));
  EXPECT_EQ(run.at("state").at("tokens"), model.billed());
  EXPECT_GE(run.at("state").at("repaired"), 1);
}

TEST_F(LlmRun, AllStagesAreAskedAndBooked) {
  ScriptedModel model([](const std::string&, std::size_t n) -> ModelAnswer {
    return {200, "- Put neighbours next to each other.\n" + sometimes_faulty(3 * n).text, 1500, 99};
  });
  const SubprocessResult result = kernevo(evolve(model.url(), {"--rounds", "3"}));
  ASSERT_EQ(result.exit_status, 0) << result.output << result.error_output;
  const Json run = shown();
  const auto counts = calls(run);
  EXPECT_EQ(static_cast<std::size_t>(counts.at("plan")), proposals(run));
  EXPECT_EQ(counts.count("insights"), 1U);
  EXPECT_EQ(counts.count("lineage"), 1U);
  EXPECT_EQ(run.at("state").at("tokens"), model.billed());
  EXPECT_THAT(run.at("state").at("lessons").dump(), HasSubstr("neighbours"));
  EXPECT_THAT(result.output, HasSubstr("calls ("));
}

TEST_F(LlmRun, NothingSecretAndNothingHiddenLeaves) {
  // Right but for sizes that are no multiple of 128, which only the hidden shape has.
  ScriptedModel model([](const std::string&, std::size_t n) -> ModelAnswer {
    const std::string trap = "if (N % 128 != 0 && at == N - 1) return;";
    return {200, fenced(kernel(1, n % 2 == 0 ? 128 : 256, n == 0 ? trap : "")), 1500, 200};
  });
  const SubprocessResult result = kernevo(evolve(model.url(), {"--cheap", "--rounds", "2"}));
  ASSERT_EQ(result.exit_status, 0) << result.output << result.error_output;
  EXPECT_GE(calls(shown()).at("repair"), 1);
  for (const std::string& body : model.bodies()) {
    EXPECT_THAT(body, Not(HasSubstr("7919")));
    EXPECT_THAT(body, Not(HasSubstr(kKey)));
  }
  const std::string run = (folder_ / "run").string();
  EXPECT_THAT(kernevo({"extract", run, "--as", "json"}).output, HasSubstr("7919"));
  const SubprocessResult blind = kernevo({"extract", run, "--as", "json", "--blind"});
  EXPECT_EQ(blind.exit_status, 0) << blind.error_output;
  EXPECT_THAT(blind.output, Not(HasSubstr("7919")));
  const std::string files = contents_of(folder_ / "run");
  EXPECT_THAT(files, HasSubstr("[redacted]"));
  EXPECT_THAT(files, Not(HasSubstr(kKey)));
  EXPECT_THAT(result.output + result.error_output, Not(HasSubstr(kKey)));
}

TEST_F(LlmRun, OutOfCreditStopsAndGoesOnWithoutPayingTwice) {
  std::atomic<bool> credit = false;
  ScriptedModel model([&](const std::string&, std::size_t n) -> ModelAnswer {
    if (!credit && n >= 2)
      return {402, "no credit left", 0, 0};
    return sometimes_faulty(3 * n);
  });
  const SubprocessResult first = kernevo(evolve(model.url(), {"--cheap", "--rounds", "4"}));
  EXPECT_THAT(first.output, HasSubstr("--resume goes on"));
  EXPECT_EQ(shown().at("state").at("stopped").at("reason"), "unavailable");
  EXPECT_EQ(shown().at("state").at("tokens"), model.billed());
  credit = true;
  const SubprocessResult second = kernevo({"evolve", "--resume", (folder_ / "run").string()});
  ASSERT_EQ(second.exit_status, 0) << second.output << second.error_output;
  const Json run = shown();
  EXPECT_EQ(run.at("state").at("stopped").at("reason"), "rounds");
  EXPECT_EQ(run.at("state").at("tokens"), model.billed());
  EXPECT_EQ(kernevo({"replay", (folder_ / "run").string()}).exit_status, 0);
}

TEST_F(LlmRun, KilledWhileItWaitsItLosesNothingAndPaysNothingTwice) {
  std::atomic<bool> stalling = true;
  ScriptedModel model([&](const std::string&, std::size_t n) {
    for (int i = 0; n == 2 && stalling && i < 1000; ++i)
      usleep(50'000);
    return sometimes_faulty(3 * n);
  });
  const SubprocessResult killed =
      kernevo(evolve(model.url(), {"--cheap", "--rounds", "4", "--repairs", "0"}),
              [&] { return model.completions() > 2; });
  EXPECT_TRUE(killed.cancelled);
  stalling = false;
  const SubprocessResult second = kernevo({"evolve", "--resume", (folder_ / "run").string()});
  ASSERT_EQ(second.exit_status, 0) << second.output << second.error_output;
  const Json run = shown();
  // Every call the endpoint saw is in the books once; the one that was lost, as an estimate.
  EXPECT_EQ(static_cast<std::size_t>(calls(run).at("code")), model.completions());
  EXPECT_EQ(model.completions(), proposals(run) + 1);
  EXPECT_TRUE(run.at("state").at("by_stage").at(0).at(6)) << "partly estimated";
  EXPECT_EQ(kernevo({"replay", (folder_ / "run").string()}).exit_status, 0);
}

TEST_F(LlmRun, AnEndpointThatDiesPausesTheRun) {
  auto model =
      std::make_unique<ScriptedModel>([](const std::string&, std::size_t n) -> ModelAnswer {
        if (n >= 2)
          return {503, "gone", 0, 0};
        return sometimes_faulty(3 * n);
      });
  const std::string url = model->url();
  const SubprocessResult first =
      kernevo(evolve(url, {"--cheap", "--rounds", "4", "--llm-patience", "1"}));
  EXPECT_NE(first.exit_status, 2) << first.error_output;
  EXPECT_EQ(first.signal, 0);
  const Json paused = shown();
  EXPECT_EQ(paused.at("state").at("tokens"), model->billed());
  EXPECT_LT(paused.at("state").at("told"), 4) << "no round is burnt";
  ScriptedModel other(
      [](const std::string&, std::size_t n) { return sometimes_faulty(3 * n + 9); });
  const SubprocessResult second =
      kernevo({"evolve", "--resume", (folder_ / "run").string(), "--base-url", other.url()});
  ASSERT_EQ(second.exit_status, 0) << second.output << second.error_output;
  EXPECT_EQ(shown().at("state").at("tokens"), model->billed() + other.billed());
}

TEST_F(LlmRun, TheTokenCapIsHard) {
  ScriptedModel model([](const std::string& body, std::size_t n) -> ModelAnswer {
    const auto limit = Json::parse(body).value("max_tokens", 0);
    return {200, sometimes_faulty(3 * n).text, 2500,
            static_cast<std::uint64_t>(std::min(limit, 1500))};
  });
  const SubprocessResult result =
      kernevo(evolve(model.url(), {"--cheap", "--rounds", "50", "--tokens", "14000"}));
  EXPECT_EQ(result.signal, 0);
  const Json run = shown();
  EXPECT_EQ(run.at("state").at("stopped").at("reason"), "tokens");
  EXPECT_LE(model.billed(), 14000U);
  EXPECT_GE(model.billed(), 8000U);
  EXPECT_EQ(run.at("state").at("tokens"), model.billed());
}

TEST_F(LlmRun, AModelThatTalksInsteadEndsWithItsReason) {
  ScriptedModel model([](const std::string&, std::size_t) -> ModelAnswer {
    return {200, "I would love to help! Kernels are fascinating.", 1500, 20};
  });
  const SubprocessResult result =
      kernevo(evolve(model.url(), {"--cheap", "--rounds", "2", "--repairs", "1"}));
  EXPECT_EQ(result.exit_status, 1) << result.error_output;
  EXPECT_THAT(result.output, HasSubstr("no kernel"));
  EXPECT_EQ(model.completions(), 4U) << "two steps, one repair each";
}

TEST_F(LlmRun, TheSameRunComesOutOfItsRecording) {
  ScriptedModel model([](const std::string&, std::size_t n) { return sometimes_faulty(n); });
  ASSERT_EQ(kernevo(evolve(model.url(), {"--rounds", "3"})).exit_status, 0);
  const Json recorded = shown();
  const std::size_t asked = model.completions();
  std::vector<std::string> arguments =
      evolve(model.url(), {"--rounds", "3", "--llm-replay", (folder_ / "run/traces").string()});
  *std::find(arguments.begin(), arguments.end(), (folder_ / "run").string()) =
      (folder_ / "again").string();
  const SubprocessResult again = kernevo(arguments);
  ASSERT_EQ(again.exit_status, 0) << again.output << again.error_output;
  EXPECT_EQ(model.completions(), asked) << "nobody was asked";
  const Json replayed = shown("again");
  EXPECT_EQ(replayed.at("steps"), recorded.at("steps"));
  EXPECT_EQ(replayed.at("state").at("tokens"), recorded.at("state").at("tokens"));
}

TEST_F(LlmRun, SeveralModelsAndThePlaybookShareARun) {
  ScriptedModel model([](const std::string&, std::size_t n) { return sometimes_faulty(3 * n); });
  std::vector<std::string> arguments =
      evolve(model.url(), {"--cheap", "--rounds", "9", "--model", "second=0.5"});
  *std::find(arguments.begin(), arguments.end(), "llm") = "llm,playbook";
  const SubprocessResult result = kernevo(arguments);
  ASSERT_EQ(result.exit_status, 0) << result.output << result.error_output;
  const Json run = shown();
  std::set<std::string> names;
  for (const Json& step : run.at("steps"))
    names.insert(step.at("proposer").get<std::string>());
  EXPECT_TRUE(names.contains("llm:scripted"));
  EXPECT_TRUE(names.contains("llm:second"));
  EXPECT_TRUE(names.contains("playbook"));
  EXPECT_EQ(run.at("state").at("tokens"), model.billed());
  EXPECT_EQ(kernevo({"replay", (folder_ / "run").string()}).exit_status, 0);
}

TEST_F(LlmRun, WrongSettingsAreFoundBeforeTheFirstRound) {
  ScriptedModel model([](const std::string&, std::size_t) -> ModelAnswer {
    return {401, fmt::format("bad key {}", kKey), 0, 0};
  });
  struct Case {
    std::vector<std::string> more;
    int exit;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"--model", "scriptted"}, 2, "scripted"},
      {{"--base-url", "http://127.0.0.1:9/v1"}, 3, "127.0.0.1:9"},
      {{"--api-key-env", "NO_SUCH_VARIABLE"}, 2, "NO_SUCH_VARIABLE"},
      {{"--models", "/nowhere.yaml"}, 2, "nowhere.yaml"},
      {{"--price", "cheap"}, 2, "IN,OUT"},
      {{"--proposer", "lllm"}, 2, "did you mean"},
  };
  for (const Case& one : cases) {
    std::vector<std::string> arguments = evolve(model.url(), {});
    const std::string option = one.more.front();
    if (const auto found = std::find(arguments.begin(), arguments.end(), option);
        found != arguments.end())
      *(found + 1) = one.more.back();
    else
      arguments.insert(arguments.end(), one.more.begin(), one.more.end());
    const SubprocessResult result = kernevo(arguments);
    EXPECT_EQ(result.exit_status, one.exit) << option << ": " << result.error_output;
    EXPECT_THAT(result.error_output, HasSubstr(one.says));
    EXPECT_EQ(std::count(result.error_output.begin(), result.error_output.end(), '\n'), 1)
        << result.error_output;
    EXPECT_THAT(result.error_output, Not(HasSubstr(kKey)));
    EXPECT_FALSE(fs::exists(folder_ / "run")) << option;
  }
  EXPECT_EQ(model.completions(), 0U);
}

TEST_F(LlmRun, ADryRunAsksNobody) {
  ScriptedModel model([](const std::string&, std::size_t n) { return sometimes_faulty(n); });
  const SubprocessResult result =
      kernevo(evolve(model.url(), {"--dry-run", "--rounds", "10", "--price", "1,4"}));
  EXPECT_EQ(result.exit_status, 0) << result.error_output;
  EXPECT_THAT(result.output, HasSubstr("dollars  0."));
  EXPECT_EQ(model.completions(), 0U);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

} // namespace
} // namespace kernevo
