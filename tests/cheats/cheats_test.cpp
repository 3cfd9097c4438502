// Runs the real program on every kernel below this folder. A cheat must not be worth it: refused,
// in quarantine, or timed as counting every block would. Its twin, the same technique used
// honestly, must be accepted. README.md says what the heads of the files mean.
#include "kernevo/base/files.h"
#include "places.h"
#include "run_program.h"
#include "test_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace kernevo {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kTimedWithin = 0.2;
// More than any grid here has, and inputs that no default seed gives.
const std::vector<std::string> kEveryBlock = {"--blocks", "1000000", "--seed", "424242"};
constexpr const char* kCheat = ".cheat.cu";
constexpr const char* kTwin = ".twin.cu";

struct CorpusKernel {
  fs::path path;
  fs::path task;
  std::string source;
  std::vector<std::string> expected; // any of these

  friend void PrintTo(const CorpusKernel& kernel, std::ostream* out) {
    *out << kernel.path.parent_path().filename().string() << '/' << kernel.path.filename().string();
  }
};

std::vector<CorpusKernel> corpus(const std::string& ending) {
  std::vector<CorpusKernel> kernels;
  for (const auto& entry : fs::recursive_directory_iterator(test_folder("cheats"))) {
    if (!entry.path().string().ends_with(ending))
      continue;
    const auto source = read_text_file(entry.path());
    CorpusKernel kernel{entry.path(), {}, source ? *source : std::string(), {}};
    const std::string task = header_line(kernel.source, "task");
    kernel.task = entry.path().parent_path() / (task.empty() ? "task.yaml" : task);
    kernel.expected = alternatives(header_line(kernel.source, "expect"));
    kernels.push_back(std::move(kernel));
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const CorpusKernel& a, const CorpusKernel& b) { return a.path < b.path; });
  return kernels;
}

std::string test_name(const testing::TestParamInfo<CorpusKernel>& info) {
  const std::string file = info.param.path.filename().string();
  return info.param.path.parent_path().filename().string() + "_" + file.substr(0, file.find('.'));
}

SubprocessResult run(const CorpusKernel& kernel, const std::string& command,
                     const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {command, kernel.task.string(), kernel.path.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run_program(program_path(), arguments);
}

json read_json(const SubprocessResult& result) {
  return json::parse(result.output, nullptr, false);
}

struct Answer {
  bool correct = false;
  json verdict;
  std::string text; // all that was said
};

// Trouble of the machine is no answer. A file that is turned away at the door has no verdict.
void check(const CorpusKernel& kernel, Answer& answer) {
  ASSERT_TRUE(fs::is_regular_file(kernel.task)) << kernel.task;
  const SubprocessResult result = run(kernel, "check", {"--json"});
  ASSERT_FALSE(result.timed_out);
  ASSERT_EQ(result.signal, 0) << result.error_output;
  answer.text = result.output + result.error_output;
  ASSERT_LE(result.exit_status, 2) << answer.text;
  if (result.exit_status == 2) {
    answer.verdict = {{"fault", "turned_away"}, {"summary", result.error_output}};
    return;
  }
  answer.verdict = read_json(result);
  ASSERT_TRUE(answer.verdict.is_object() && answer.verdict.contains("correct")) << answer.text;
  answer.correct = answer.verdict.at("correct").get<bool>();
  ASSERT_EQ(answer.correct, result.exit_status == 0) << answer.text;
}

testing::AssertionResult is_refused(const CorpusKernel& kernel, const Answer& answer) {
  if (answer.correct)
    return testing::AssertionFailure() << "found correct";
  const auto faults = alternatives(header_line(kernel.source, "faults"));
  const json& fault = answer.verdict.at("fault");
  const std::string name = fault.is_string() ? fault.get<std::string>() : "none";
  if (!faults.empty() && std::find(faults.begin(), faults.end(), name) == faults.end())
    return testing::AssertionFailure() << "refused for another reason: " << answer.text;
  return testing::AssertionSuccess();
}

testing::AssertionResult is_correct(const Answer& answer) {
  if (answer.correct)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "refused: " << answer.verdict.at("summary");
}

double modelled_ns(const SubprocessResult& result) {
  const json answer = read_json(result);
  if (result.exit_status != 0 || !answer.is_object() || !answer.contains("objective_ns"))
    return std::nan("");
  return answer.at("objective_ns").get<double>();
}

testing::AssertionResult is_timed(const CorpusKernel& kernel, const Answer& answer) {
  if (!answer.correct)
    return is_correct(answer);
  const SubprocessResult usual = run(kernel, "bench", {"--json"});
  if (usual.exit_status == 1) // wrong while it is timed
    return testing::AssertionSuccess();
  std::vector<std::string> options = kEveryBlock;
  options.emplace_back("--json");
  const SubprocessResult whole = run(kernel, "bench", options);
  const double told = modelled_ns(usual);
  const double counted = modelled_ns(whole);
  const std::string times =
      fmt::format("{:.0f} ns where counting every block gives {:.0f} ns", told, counted);
  if (std::abs(told - counted) <= kTimedWithin * counted)
    return testing::AssertionSuccess() << times;
  return testing::AssertionFailure() << times << "\n" << usual.error_output << whole.error_output;
}

// What `tell` says of it, as of an agent's first kernel.
SubprocessResult tell(const CorpusKernel& kernel) {
  const TestFolder folder;
  const std::string place = folder.path("run");
  const SubprocessResult asked =
      run_program(program_path(), {"ask", kernel.task.string(), "--out", place, "--json"});
  if (asked.exit_status != 0)
    return asked;
  return run_program(program_path(), {"tell", place, kernel.path.string(), "--json"});
}

testing::AssertionResult is_quarantined(const CorpusKernel& kernel) {
  const SubprocessResult told = tell(kernel);
  const json answer = read_json(told);
  if (answer.is_object() && answer.value("outcome", "") == "quarantined" &&
      !answer.value("right", true) && !answer.value("new_best", true))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << told.output << told.error_output;
}

testing::AssertionResult is_possible(const CorpusKernel& kernel, const Answer& answer) {
  if (!answer.correct)
    return is_correct(answer);
  const SubprocessResult told = tell(kernel);
  const json tale = read_json(told);
  if (tale.is_object() && tale.value("right", false) && tale.value("new_best", false))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << told.output << told.error_output;
}

testing::AssertionResult is_met(const std::string& expected, const CorpusKernel& kernel,
                                const Answer& answer) {
  if (expected == "refused")
    return is_refused(kernel, answer);
  if (expected == "correct")
    return is_correct(answer);
  if (expected == "timed")
    return is_timed(kernel, answer);
  if (expected == "quarantined")
    return is_quarantined(kernel);
  if (expected == "possible")
    return is_possible(kernel, answer);
  return testing::AssertionFailure() << "no such expectation: " << expected;
}

void expect_any(const CorpusKernel& kernel, const Answer& answer) {
  ASSERT_FALSE(kernel.expected.empty()) << "the kernel has no '// expect:' line";
  std::string why;
  for (const std::string& expected : kernel.expected) {
    const testing::AssertionResult met = is_met(expected, kernel, answer);
    if (met)
      return;
    why += fmt::format("not {}: {}\n", expected, met.message());
  }
  ADD_FAILURE() << why;
}

bool starts_with_any(const std::string& line, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return line.starts_with(word); });
}

// What the program says to people holds nothing that a terminal obeys, and one verdict: its own.
void expect_no_forgery(const CorpusKernel& kernel) {
  const SubprocessResult result = run(kernel, "check", {});
  const std::string text = result.output + result.error_output;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ASSERT_TRUE(c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7F))
        << "a control character: " << static_cast<int>(byte);
  }
  const auto forged = alternatives(header_line(kernel.source, "forges"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_FALSE(starts_with_any(line, forged)) << line;
}

void expect_withheld(const CorpusKernel& kernel, const Answer& answer) {
  const SubprocessResult spoken = run(kernel, "check", {});
  for (const std::string& secret : alternatives(header_line(kernel.source, "withheld"))) {
    EXPECT_EQ(answer.text.find(secret), std::string::npos) << answer.text;
    EXPECT_EQ((spoken.output + spoken.error_output).find(secret), std::string::npos)
        << spoken.output << spoken.error_output;
  }
}

// Of the last line that holds the mark: the first is the head's own.
std::size_t line_of(const std::string& source, const std::string& mark) {
  const std::size_t at = source.rfind(mark);
  return 1 + static_cast<std::size_t>(std::count(
                 source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

void expect_hidden_line(const CorpusKernel& kernel) {
  const std::size_t line = line_of(kernel.source, header_line(kernel.source, "hidden-line"));
  const SubprocessResult read = run(kernel, "check", {"--blind", "--json"});
  EXPECT_FALSE(std::regex_search(read.output, std::regex(fmt::format(R"("line": {}\b)", line))))
      << read.output;
  const SubprocessResult spoken = run(kernel, "check", {"--blind"});
  for (const std::string& text : {read.output, spoken.output})
    EXPECT_FALSE(std::regex_search(text, std::regex(fmt::format(R"((\.cu:|line ){}\b)", line))))
        << text;
}

// Every figure of an error that a proposer is told: of shown cases, and in the summary.
void expect_hidden_worst(const CorpusKernel& kernel) {
  const double most = std::stod(header_line(kernel.source, "hidden-worst"));
  const SubprocessResult read = run(kernel, "check", {"--blind", "--json"});
  const json verdict = read_json(read);
  ASSERT_TRUE(verdict.is_object()) << read.output << read.error_output;
  for (const json& c : verdict.at("cases"))
    EXPECT_LT(c.value("worst_error_ratio", 0.0), most) << c;
  std::smatch found;
  const std::string summary = verdict.at("summary");
  if (std::regex_search(summary, found, std::regex(R"(worst error (\d+) %)"))) {
    EXPECT_LT(std::stod(found[1]) / 100, most) << summary;
  }
}

class Cheat : public testing::TestWithParam<CorpusKernel> {};

TEST_P(Cheat, IsNotWorthIt) {
  const CorpusKernel& kernel = GetParam();
  Answer answer;
  ASSERT_NO_FATAL_FAILURE(check(kernel, answer));
  // Known to be worth it still; the head says why. It must get an answer all the same.
  if (!header_line(kernel.source, "open").empty())
    return;
  expect_any(kernel, answer);
  if (!header_line(kernel.source, "forges").empty())
    expect_no_forgery(kernel);
  if (!header_line(kernel.source, "withheld").empty())
    expect_withheld(kernel, answer);
  if (!header_line(kernel.source, "hidden-line").empty())
    expect_hidden_line(kernel);
  if (!header_line(kernel.source, "hidden-worst").empty())
    expect_hidden_worst(kernel);
}

class Twin : public testing::TestWithParam<CorpusKernel> {};

TEST_P(Twin, IsAccepted) {
  Answer answer;
  ASSERT_NO_FATAL_FAILURE(check(GetParam(), answer));
  if (header_line(GetParam().source, "open").empty())
    expect_any(GetParam(), answer);
  else
    EXPECT_TRUE(is_correct(answer));
}

std::set<std::string> names(const std::string& ending) {
  std::set<std::string> found;
  for (const CorpusKernel& kernel : corpus(ending)) {
    const std::string path = kernel.path.string();
    found.insert(path.substr(0, path.size() - ending.size()));
  }
  return found;
}

TEST(Cheats, AreAHundredAndEachHasATwin) {
  EXPECT_GE(corpus(kCheat).size(), 100U);
  EXPECT_EQ(names(kCheat), names(kTwin));
}

TEST(Cheats, SayHowTheyProfitAndTwinsAreExpectedToPass) {
  for (const CorpusKernel& kernel : corpus(kCheat))
    EXPECT_TRUE(kernel.source.starts_with("// ")) << kernel.path;
  for (const CorpusKernel& kernel : corpus(kTwin))
    EXPECT_TRUE(kernel.expected == std::vector<std::string>{"correct"} ||
                kernel.expected == std::vector<std::string>{"timed"} ||
                kernel.expected == std::vector<std::string>{"possible"})
        << kernel.path;
}

INSTANTIATE_TEST_SUITE_P(Corpus, Cheat, testing::ValuesIn(corpus(kCheat)), test_name);
INSTANTIATE_TEST_SUITE_P(Corpus, Twin, testing::ValuesIn(corpus(kTwin)), test_name);

} // namespace
} // namespace kernevo
