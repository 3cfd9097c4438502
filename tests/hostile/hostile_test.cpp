#include "kernevo/base/files.h"
#include "places.h"
#include "run_program.h"
#include "test_folder.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sys/resource.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

struct HostileKernel {
  fs::path path;
  friend void PrintTo(const HostileKernel& kernel, std::ostream* out) {
    *out << kernel.path.filename().string();
  }
};

std::vector<HostileKernel> kernels() {
  std::vector<HostileKernel> found;
  for (const auto& entry : fs::directory_iterator(fs::path(test_folder("hostile")) / "kernels"))
    if (entry.path().extension() == ".cu")
      found.push_back({entry.path()});
  std::sort(found.begin(), found.end(),
            [](const HostileKernel& a, const HostileKernel& b) { return a.path < b.path; });
  return found;
}

struct Judged {
  SubprocessResult run;
  double seconds = 0; // of processor time, the workers' too
};

double children_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Checks a kernel on the task that this source names.
Judged judge(const fs::path& kernel, const std::string& source,
             const std::map<std::string, std::string>& settings = {},
             const std::vector<std::string>& more = {}) {
  const TestFolder folder;
  const std::string task = folder.write(
      "task.yaml", fmt::format("{}\n", fmt::join(alternatives(header_line(source, "task")), "\n")));
  const double before = children_seconds();
  std::vector<std::string> arguments = {"check", task, kernel.string(), "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Judged judged{run_program(program_path(), arguments, settings)};
  judged.seconds = children_seconds() - before;
  return judged;
}

class Hostile : public testing::TestWithParam<HostileKernel> {};

TEST_P(Hostile, EndsInItsNamedFault) {
  const auto source = read_text_file(GetParam().path);
  ASSERT_TRUE(source);
  const SubprocessResult run = judge(GetParam().path, *source).run;
  ASSERT_FALSE(run.timed_out);
  ASSERT_EQ(run.signal, 0) << run.error_output;
  const auto verdict = nlohmann::json::parse(run.output, nullptr, false);
  ASSERT_TRUE(verdict.is_object() && verdict.contains("correct")) << run.output << run.error_output;
  const auto expected = alternatives(header_line(*source, "expect"));
  ASSERT_FALSE(expected.empty()) << "the kernel has no '// expect:' line";
  if (expected.front() == "correct") {
    EXPECT_TRUE(verdict.at("correct").get<bool>()) << verdict.at("summary");
    return;
  }
  EXPECT_EQ(run.exit_status, 1);
  ASSERT_TRUE(verdict.at("fault").is_string()) << verdict.at("summary");
  const std::string fault = verdict.at("fault");
  EXPECT_NE(std::find(expected.begin(), expected.end(), fault), expected.end())
      << fault << verdict.at("summary");
  if (const auto finding = header_line(*source, "finding"); !finding.empty()) {
    ASSERT_TRUE(verdict.at("finding").is_object()) << verdict.at("summary");
    EXPECT_EQ(verdict.at("finding").at("kind").get<std::string>(), finding);
  }
}

std::string finding_of(const Judged& judged) {
  const auto verdict = nlohmann::json::parse(judged.run.output, nullptr, false);
  if (!verdict.is_object() || !verdict.contains("finding") || !verdict["finding"].is_object())
    return judged.run.output + judged.run.error_output;
  return verdict["finding"].value("kind", "");
}

// A check of a kernel that never ends costs so many times that of an honest one, at most. Waiting
// for a limit of time would cost hundreds.
constexpr double kAffordable = 30;

class Endless : public testing::TestWithParam<HostileKernel> {
protected:
  void expect_little(const std::map<std::string, std::string>& settings) {
    const auto source = read_text_file(GetParam().path);
    ASSERT_TRUE(source);
    const std::string honest = header_line(*source, "honest");
    ASSERT_FALSE(honest.empty()) << "the kernel has no '// honest:' line";
    const Judged usual = judge(GetParam().path.parent_path() / honest, *source, settings);
    ASSERT_EQ(usual.run.exit_status, 0) << usual.run.output << usual.run.error_output;
    const Judged endless = judge(GetParam().path, *source, settings);
    EXPECT_EQ(finding_of(endless), "instruction_budget");
    EXPECT_LT(endless.seconds, kAffordable * usual.seconds) << usual.seconds;
    RecordProperty("times_honest", fmt::format("{:.1f}", endless.seconds / usual.seconds));
  }
};

TEST_P(Endless, IsFoundOutForLittle) {
  expect_little({});
}

TEST_P(Endless, IsFoundOutForLittleWithoutCompiledCode) {
  expect_little({{"KERNEVO_JIT_PLUGIN", "/nowhere.so"}});
}

TEST(Limits, ProcessorTimeIsALimitOfItsOwn) {
  const fs::path kernel = fs::path(test_folder("hostile")) / "kernels" / "endless_matmul.cu";
  const Judged judged = judge(kernel, *read_text_file(kernel), {}, {"--seconds", "0.2"});
  EXPECT_EQ(judged.run.exit_status, 1);
  EXPECT_EQ(finding_of(judged), "time_limit");
}

std::vector<HostileKernel> endless_kernels() {
  std::vector<HostileKernel> found = kernels();
  std::erase_if(found, [](const HostileKernel& kernel) {
    return !kernel.path.filename().string().starts_with("endless");
  });
  return found;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Endless, testing::ValuesIn(endless_kernels()),
                         [](const auto& kernel) { return kernel.param.path.stem().string(); });
INSTANTIATE_TEST_SUITE_P(Kernels, Hostile, testing::ValuesIn(kernels()),
                         [](const auto& kernel) { return kernel.param.path.stem().string(); });

} // namespace
} // namespace kernevo
