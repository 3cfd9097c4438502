#include "../support/run_program.h"
#include "kernevo/base/files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unistd.h>

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
  for (const auto& entry : fs::directory_iterator(fs::path(KERNEVO_TEST_DATA) / "kernels"))
    if (entry.path().extension() == ".cu")
      found.push_back({entry.path()});
  std::sort(found.begin(), found.end(),
            [](const HostileKernel& a, const HostileKernel& b) { return a.path < b.path; });
  return found;
}

class Scratch {
public:
  Scratch() : path_(fs::temp_directory_path() / fmt::format("kernevo-hostile-{}", getpid())) {
    fs::create_directories(path_);
  }
  ~Scratch() { fs::remove_all(path_); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

private:
  fs::path path_;
};

class Hostile : public testing::TestWithParam<HostileKernel> {};

TEST_P(Hostile, EndsInItsNamedFault) {
  const auto source = read_text_file(GetParam().path);
  ASSERT_TRUE(source);
  const Scratch scratch;
  const fs::path task = scratch.write(
      "task.yaml",
      fmt::format("{}\n", fmt::join(alternatives(header_line(*source, "task")), "\n")));
  const auto run =
      run_program(KERNEVO_PROGRAM, {"check", task.string(), GetParam().path.string(), "--json"});
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

INSTANTIATE_TEST_SUITE_P(Kernels, Hostile, testing::ValuesIn(kernels()),
                         [](const auto& kernel) { return kernel.param.path.stem().string(); });

} // namespace
} // namespace kernevo
