#include "kernevo/task/load_task.h"

#include "kernevo/base/files.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/drawn_shapes.h"
#include "places.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fixture(const std::string& name) {
  return test_folder("unit/task") + "/fixtures/" + name;
}

LoadedTask must_load(const std::string& name) {
  auto loaded = load_task(fixture(name));
  EXPECT_TRUE(loaded) << format_error(loaded.error());
  return loaded ? *loaded : LoadedTask{};
}

std::string error_of(std::string_view text) {
  const auto loaded = parse_task(text, "task.yaml");
  return loaded ? "it loaded" : format_error(loaded.error());
}

TEST(LoadTask, SeedSpecLoadsUnchangedAndItsTargetIsQuestioned) {
  const LoadedTask loaded = must_load("seed_matmul.yaml");
  const Task& task = loaded.task;
  EXPECT_EQ(task.name, "seed_matmul");
  EXPECT_EQ(task.operation, "matmul");
  EXPECT_EQ(task.dtype, DType::float16);
  ASSERT_EQ(task.shapes.size(), 1U);
  EXPECT_EQ(task.shapes[0].dims, (Dims{{"M", 4096}, {"N", 4096}, {"K", 4096}}));
  EXPECT_EQ(task.tolerance, 0.05);
  EXPECT_EQ(task.target_us, 1.0);
  EXPECT_EQ(task.declared_baseline_us, 5.0);
  EXPECT_EQ(task.budget.rounds, 20);
  EXPECT_EQ(task.oracle, OracleKind::catalogue);
  EXPECT_EQ(task.objective, Objective::geometric_mean_speedup);
  EXPECT_THAT(task.reference_kernel, testing::StartsWith("__global__ void matmul"));
  EXPECT_EQ(task.reference_place.line, 12);
  EXPECT_EQ(task.default_launch,
            "kernel<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)");
  EXPECT_THAT(loaded.warnings,
              ElementsAre("target 1.0 us is below the roofline: the A100 needs at least 440.5 us "
                          "for 137.4 GFLOP at 312 TFLOP/s"));
}

TEST(LoadTask, KerleversNewerFormLoadsUnchanged) {
  const LoadedTask loaded = must_load("kerlever_cases.yaml");
  const Task& task = loaded.task;
  ASSERT_EQ(task.shapes.size(), 2U);
  EXPECT_EQ(task.shapes[0].id, "large");
  EXPECT_EQ(task.shapes[0].weight, 2.0);
  EXPECT_EQ(task.shapes[0].tolerance, 0.05);
  EXPECT_TRUE(task.shapes[0].profile);
  EXPECT_EQ(task.shapes[1].dims.at("M"), 8192);
  EXPECT_EQ(task.objective, Objective::weighted_mean_time);
  EXPECT_EQ(task.target_us, 900.0);
  EXPECT_THAT(loaded.warnings, IsEmpty());
}

TEST(LoadTask, CustomTaskTakesEverythingFromTheFile) {
  const Task task = must_load("custom.yaml").task;
  EXPECT_EQ(task.name, "scaled difference");
  EXPECT_EQ(task.operation, "custom");
  EXPECT_EQ(task.oracle, OracleKind::reference_kernel);
  EXPECT_EQ(task.objective, Objective::worst_case_time);
  ASSERT_EQ(task.arguments.size(), 3U);
  EXPECT_EQ(task.arguments[1].initial, (Distribution{Distribution::Kind::uniform, 0.5, 2.0}));
  EXPECT_TRUE(task.arguments[1].fixed_distribution);
  EXPECT_FALSE(task.arguments[0].fixed_distribution);
  EXPECT_EQ(task.arguments[2].direction, Direction::out);
  ASSERT_EQ(task.shapes.size(), 2U);
  EXPECT_EQ(task.shapes[1].id, "odd");
  EXPECT_EQ(task.shapes[1].weight, 0.5);
  EXPECT_EQ(task.check_shapes.size(), 2U);
  ASSERT_EQ(task.scalars.size(), 1U);
  EXPECT_EQ(task.scalars[0].value, 0.25);
  EXPECT_EQ(task.budget.evaluations, 100);
  EXPECT_EQ(task.budget.seconds, 600.0);
  EXPECT_THAT(task.reference_kernel, HasSubstr("scale * (A[i] - B[i % COLS])"));
  EXPECT_EQ(task.reference_place.file, fixture("custom_reference.cu"));
  const auto problem = make_problem(task, task.shapes[1]);
  ASSERT_TRUE(problem);
  EXPECT_THAT(problem->buffers[0].shape, ElementsAre(33, 100));
}

TEST(LoadTask, AttributesAndScalarsAreTopLevelKeys) {
  const auto conv = parse_task("op_name: conv2d\ndtype: float32\nstride: 2\npadding: 1\n"
                               "shapes:\n  - [1, 3, 32, 32, 8, 3, 3]\n",
                               "t.yaml");
  ASSERT_TRUE(conv) << format_error(conv.error());
  EXPECT_EQ(conv->task.shapes[0].dims.at("P"), 16);
  EXPECT_EQ(conv->task.shapes[0].dims.at("stride"), 2);
  const auto norm = parse_task("op_name: layernorm\ndtype: float64\neps: 1e-6\n"
                               "shapes: [{M: 4, N: 8}]\n",
                               "t.yaml");
  ASSERT_TRUE(norm) << format_error(norm.error());
  EXPECT_EQ(norm->task.operation, "layer_norm");
  EXPECT_EQ(norm->task.scalars[0].value, 1e-6);
  EXPECT_EQ(norm->task.scalars[0].dtype, DType::float64);
  const auto causal = parse_task(
      "op_name: attention\ndtype: float16\ncausal: true\nshapes: [[1, 2, 64, 32]]\n", "t.yaml");
  ASSERT_TRUE(causal) << format_error(causal.error());
  EXPECT_EQ(causal->task.shapes[0].dims.at("causal"), 1);
}

TEST(LoadTask, AReductionSplitsAnyShapeAtItsAxis) {
  const auto loaded = parse_task(
      "op_name: reduce_sum\ndtype: float32\naxis: 1\nshapes:\n  - [8, 16, 32, 4]\n", "t.yaml");
  ASSERT_TRUE(loaded) << format_error(loaded.error());
  EXPECT_EQ(loaded->task.shapes[0].dims, (Dims{{"OUTER", 8}, {"R", 16}, {"INNER", 128}}));
  EXPECT_EQ(loaded->task.shapes[0].id, "8x16x32x4");
}

TEST(LoadTask, AnExplicitlyEmptyCheckListStaysEmpty) {
  const auto none =
      parse_task("op_name: relu\ndtype: float32\nshapes: [[64]]\ncheck_shapes: []\n", "t.yaml");
  ASSERT_TRUE(none) << format_error(none.error());
  EXPECT_THAT(none->task.check_shapes, IsEmpty());
  EXPECT_THAT(draw_shapes(none->task, 1), IsEmpty());
  const auto some = parse_task("op_name: relu\ndtype: float32\nshapes: [[64]]\n", "t.yaml");
  ASSERT_TRUE(some);
  EXPECT_FALSE(draw_shapes(some->task, 1).empty());
}

TEST(LoadTask, AnAliasIsTheSameText) {
  const auto loaded = parse_task("op_name: matmul\ndtype: float32\nshapes:\n  - &s [8, 8, 8]\n"
                                 "check_shapes:\n  - *s\n",
                                 "t.yaml");
  ASSERT_TRUE(loaded) << format_error(loaded.error());
  EXPECT_EQ(loaded->task.check_shapes[0].dims, loaded->task.shapes[0].dims);
}

TEST(LoadTask, ExamplesLoad) {
  const std::filesystem::path folder = source_folder() + "/examples";
  ASSERT_TRUE(std::filesystem::is_directory(folder));
  int seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".yaml") {
      const auto loaded = load_task(entry.path().string());
      EXPECT_TRUE(loaded) << format_error(loaded.error());
      ++seen;
    }
  EXPECT_GE(seen, 20);
}

// One case per file: the task, a line of '=', the message it must be refused with.
class BadTask : public testing::TestWithParam<std::string> {};

TEST_P(BadTask, IsRefusedWithPlaceAndFix) {
  const auto text = read_text_file(GetParam());
  ASSERT_TRUE(text);
  const auto line = text->find("\n====\n");
  ASSERT_NE(line, std::string::npos);
  std::string expected = text->substr(line + 6);
  while (!expected.empty() && expected.back() == '\n')
    expected.pop_back();
  EXPECT_EQ(error_of(std::string_view(*text).substr(0, line + 1)), expected);
}

std::vector<std::string> bad_tasks() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(fixture("bad")))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(All, BadTask, testing::ValuesIn(bad_tasks()), [](const auto& bad) {
  return std::filesystem::path(bad.param).stem().string();
});

TEST(LoadTask, EveryDTypeNameOfKerleverIsUnderstood) {
  for (const char* name : {"uint8", "uint16", "uint32", "uint64", "int16"})
    EXPECT_THAT(error_of(fmt::format("op_name: add\ndtype: {}\nshapes: [[4]]\n", name)),
                HasSubstr(fmt::format("dtype {} is not supported; use one of float32", name)));
  EXPECT_THAT(error_of("op_name: add\ndtype: int64\nshapes: [[4]]\n"),
              HasSubstr("add does not support dtype int64"));
}

class Hostile : public testing::Test {
protected:
  void SetUp() override { start_ = std::chrono::steady_clock::now(); }
  void TearDown() override {
    const auto spent = std::chrono::steady_clock::now() - start_;
    EXPECT_LT(std::chrono::duration<double>(spent).count(), 5.0);
  }

private:
  std::chrono::steady_clock::time_point start_;
};

TEST_F(Hostile, HugeFile) {
  EXPECT_THAT(error_of(std::string(10 << 20, 'a')), HasSubstr("may have 1 MiB"));
}

TEST_F(Hostile, AliasBomb) {
  std::string text = "op_name: matmul\ndtype: float32\na0: &a0 [1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 40; ++i)
    text +=
        fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i, i - 1);
  EXPECT_THAT(error_of(text), HasSubstr("unknown key 'a0'"));
  std::string inside = "op_name: matmul\ndtype: float32\nshapes:\n  - &b0 [1,1,1]\n";
  for (int i = 1; i < 40; ++i)
    inside += fmt::format("  - &b{0} [*b{1},*b{1},*b{1}]\n", i, i - 1);
  EXPECT_THAT(error_of(inside), HasSubstr("a size must be a whole number, not a list"));
}

TEST_F(Hostile, CyclicAlias) {
  EXPECT_THAT(error_of("op_name: &a [*a]\n"), HasSubstr("task.yaml:1:"));
}

TEST_F(Hostile, DeepNesting) {
  EXPECT_THAT(error_of(std::string(1 << 19, '[')), HasSubstr("task.yaml:1:1: a key must be"));
  EXPECT_THAT(error_of("a: " + std::string(40, '[') + std::string(40, ']')),
              HasSubstr("nested more than 16 levels"));
  EXPECT_THAT(error_of("a: " + std::string(1 << 18, '{')),
              HasSubstr("task.yaml:1:5: a key must be"));
  std::string ladder;
  for (int i = 0; i < 700; ++i)
    ladder += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(error_of(ladder), HasSubstr("nested more than 16 levels"));
}

TEST_F(Hostile, FloodOfValues) {
  std::string text = "op_name: matmul\ndtype: float32\nshapes: [";
  for (int i = 0; i < 200'000; ++i)
    text += "1,";
  EXPECT_THAT(error_of(text + "1]\n"), HasSubstr("more than 50000 values"));
  std::string keys;
  for (int i = 0; i < 20'000; ++i)
    keys += fmt::format("k{}: 1\n", i);
  EXPECT_THAT(error_of(keys), HasSubstr("more than 256 keys"));
}

TEST_F(Hostile, LongWordsAndExpressions) {
  const std::string word(900'000, 'x');
  EXPECT_THAT(error_of(word + ": 1\n"), HasSubstr("task.yaml:1:900001: not valid YAML"));
  EXPECT_THAT(error_of("op_name: " + word + "\n"), HasSubstr("is not in the catalogue"));
  EXPECT_THAT(error_of("op_name: matmul\ndtype: float32\nshapes: [[2,2,2]]\nwork: {flops: \"" +
                       std::string(500'000, '(') + "\"}\n"),
              HasSubstr("characters long"));
}

TEST_F(Hostile, BinaryNoise) {
  std::string noise;
  for (int i = 0; i < 100'000; ++i)
    noise += static_cast<char>((i * 7919) ^ (i >> 3));
  EXPECT_THAT(error_of(noise), HasSubstr("task.yaml"));
  EXPECT_THAT(error_of(std::string(1000, '\0')), HasSubstr("task.yaml"));
}

TEST(LoadTask, MissingFileIsNamed) {
  const auto loaded = load_task("/nowhere/task.yaml");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(format_error(loaded.error()), HasSubstr("/nowhere/task.yaml"));
}

} // namespace
} // namespace kernevo
