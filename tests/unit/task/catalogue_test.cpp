#include "kernevo/task/catalogue.h"

#include "harness.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/task/drawn_shapes.h"
#include "kernevo/task/feasibility.h"
#include "kernevo/task/load_task.h"
#include "kernevo/task/operation.h"
#include "places.h"
#include "test_folder.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

// A shape every operation accepts.
Dims ordinary_dims(const Operation& op) {
  Dims dims;
  for (const DimensionSpec& dimension : op.info.dimensions)
    if (!dimension.attribute)
      dims[dimension.name] = 12;
  for (const char* filter : {"R", "S"})
    if (op.family == Family::conv && dims.count(filter) != 0)
      dims[filter] = 3;
  if (op.family == Family::group_norm)
    dims["G"] = 4;
  return dims;
}

Task make_task(const std::string& operation, DType dtype, std::vector<Dims> shapes) {
  Task task;
  task.operation = operation;
  task.dtype = dtype;
  for (Dims& dims : shapes)
    task.shapes.push_back(
        {fmt::format("s{}", task.shapes.size()), std::move(dims), 1.0, std::nullopt, false});
  const auto completed = complete_from_catalogue(task);
  EXPECT_TRUE(completed) << format_error(completed.error());
  return task;
}

TEST(Catalogue, EveryOperationIsCompleteAtEveryDrawnShapeForEveryDType) {
  for (const Operation& op : operation_table())
    for (const DType dtype : op.info.dtypes) {
      const Task task = make_task(op.info.name, dtype, {ordinary_dims(op)});
      std::vector<ShapeCase> cases = draw_shapes(task, 1);
      EXPECT_GE(cases.size(), 6U) << op.info.name;
      cases.push_back(task.shapes[0]);
      for (const ShapeCase& shape : cases) {
        const auto problem = make_problem(task, shape);
        ASSERT_TRUE(problem) << op.info.name << ": " << format_error(problem.error());
        std::int64_t largest = 0;
        for (const BufferSpec& buffer : problem->buffers)
          largest = std::max(largest, buffer.elements());
        EXPECT_LE(largest, 30'000) << op.info.name << " " << shape.id;
        EXPECT_TRUE(task.work.flops->evaluate(shape.dims)) << op.info.name;
        EXPECT_GT(*task.work.bytes->evaluate(shape.dims), 0) << op.info.name;
      }
    }
}

// Infinities and NaN are among the special values, and what they lead to is expected exactly.
TEST(Catalogue, EveryInputSetHasFiniteAnswers) {
  for (const Operation& op : operation_table())
    for (const DType dtype : op.info.dtypes) {
      Harness harness(op.info.name, dtype, ordinary_dims(op));
      for (const InputSet set : harness.all_sets()) {
        const bool has_specials =
            set == InputSet::special_values || set == InputSet::wide_and_special;
        harness.fill(set, 3);
        for (const Expected& value : harness.expected()) {
          ASSERT_TRUE(std::isfinite(value.value) || has_specials)
              << op.info.name << " " << name_of(dtype) << " " << name_of(set);
          ASSERT_TRUE(std::isfinite(value.tolerance))
              << op.info.name << " " << name_of(dtype) << " " << name_of(set);
          ASSERT_GE(value.tolerance, 0.0);
        }
      }
    }
}

TEST(Catalogue, AliasesFindTheirOperation) {
  EXPECT_EQ(find_operation("gemm")->name, "matmul");
  EXPECT_EQ(find_operation("sdpa")->name, "attention");
  EXPECT_EQ(find_operation("nothing"), nullptr);
}

TEST(Catalogue, LeavesAloneWhatTheTaskGave) {
  Task task;
  task.operation = "relu";
  task.default_launch = "mine<<<1, 1>>>(x)";
  task.semantics = "mine";
  task.shapes = {{"s", {{"N", 8}}, 1.0, std::nullopt, false}};
  task.check_shapes = {{"c", {{"N", 3}}, 1.0, std::nullopt, false}};
  ASSERT_TRUE(complete_from_catalogue(task));
  EXPECT_EQ(task.default_launch, "mine<<<1, 1>>>(x)");
  EXPECT_EQ(task.semantics, "mine");
  EXPECT_EQ(task.check_shapes.size(), 1U);
}

TEST(SmallShapes, KeepDivisibilityAndCostLittle) {
  const Task task = make_task("matmul", DType::float16,
                              {{{"M", 4096}, {"N", 4096}, {"K", 4096}},
                               {{"M", 1000}, {"N", 4097}, {"K", 96}},
                               {{"M", 16}, {"N", 16}, {"K", 16}}});
  const auto small = small_shapes(task);
  ASSERT_EQ(small.size(), 3U);
  EXPECT_EQ(small[0].dims, (Dims{{"M", 128}, {"N", 128}, {"K", 128}}));
  EXPECT_EQ(small[0].id, "128x128x128");
  EXPECT_EQ(small[1].dims.at("M") % 8, 0);
  EXPECT_NE(small[1].dims.at("M") % 16, 0);
  EXPECT_EQ(small[1].dims.at("N") % 2, 1);
  EXPECT_EQ(small[1].dims.at("K") % 32, 0);
  EXPECT_NE(small[1].dims.at("K") % 64, 0);
  EXPECT_EQ(small[2].dims, task.shapes[2].dims) << "small already";
  for (const ShapeCase& shape : small)
    EXPECT_LE(shape.dims.at("M") * shape.dims.at("N") * shape.dims.at("K"), 4'000'000);
}

TEST(SmallShapes, OfEveryStarterAreSmall) {
  for (const OperationInfo& info : operations()) {
    const auto starter = make_starter(info.name, DType::float32, "A100");
    ASSERT_TRUE(starter) << format_error(starter.error());
    const TestFolder folder;
    folder.write(starter->kernel_file, starter->kernel_source);
    const auto loaded = parse_task(starter->task_yaml, folder.path("task.yaml"));
    ASSERT_TRUE(loaded) << info.name << ": " << format_error(loaded.error());
    for (const ShapeCase& shape : small_shapes(loaded->task)) {
      const auto problem = make_problem(loaded->task, shape);
      ASSERT_TRUE(problem) << info.name;
      for (const BufferSpec& buffer : problem->buffers)
        EXPECT_LE(buffer.elements(), 65'536) << info.name << " " << buffer.name;
    }
  }
}

TEST(SmallShapes, OfACustomTaskKeepRatios) {
  const auto loaded = load_task(test_folder("unit/task") + "/fixtures/custom.yaml");
  ASSERT_TRUE(loaded);
  const auto small = small_shapes(loaded->task);
  ASSERT_FALSE(small.empty());
  EXPECT_LE(small[0].dims.at("ROWS") * small[0].dims.at("COLS"), 65'536);
  EXPECT_EQ(small[0].dims.at("ROWS") % 32, 0);
  EXPECT_EQ(small[0].dims.at("COLS") % 32, 0);
}

TEST(Starter, NoPlaceholderIsLeftAndArgumentsFollowTheConventions) {
  for (const OperationInfo& info : operations())
    for (const DType dtype : info.dtypes) {
      const auto starter = make_starter(info.name, dtype, "H100");
      ASSERT_TRUE(starter) << format_error(starter.error());
      EXPECT_EQ(starter->kernel_source.find("{{"), std::string::npos) << info.name;
      EXPECT_THAT(starter->kernel_source, HasSubstr("// @launch " + info.name + "_kernel<<<"));
    }
  const auto matmul = make_starter("matmul", DType::float16, "h100");
  ASSERT_TRUE(matmul);
  std::string words;
  for (const char c : matmul->kernel_source)
    if (c != ' ' || words.empty() || words.back() != ' ')
      words += c == '\n' ? ' ' : c;
  EXPECT_THAT(words, testing::ContainsRegex(
                         "const Element. A, const Element. B, Out. C, +int M, +int N, +int K"));
  EXPECT_THAT(matmul->kernel_source, HasSubstr("#include <cuda_fp16.h>"));
  EXPECT_THAT(matmul->task_yaml, HasSubstr("target_gpu: H100"));
  EXPECT_FALSE(make_starter("softmax", DType::int8, "A100"));
  EXPECT_FALSE(make_starter("no_such", DType::float32, "A100"));
  EXPECT_FALSE(make_starter("matmul", DType::float32, "A1000000"));
}

TEST(Inputs, DependOnSeedBufferAndElementAlone) {
  Harness h("add", DType::float32, {{"N", 1000}});
  h.fill(InputSet::nominal, 1);
  const auto a = h.floats("A");
  EXPECT_NE(a, h.floats("B"));
  std::vector<std::byte> prefix(40);
  fill_input(h.problem, 0, InputSet::nominal, 1, prefix);
  EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), h.memory[0].begin()));
  h.fill(InputSet::nominal, 2);
  EXPECT_NE(a, h.floats("A"));
}

TEST(Inputs, NominalFloatsAreStandardNormal) {
  Harness h("relu", DType::float64, {{"N", 200'000}});
  h.fill(InputSet::nominal, 9);
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  for (std::int64_t i = 0; i < 200'000; ++i) {
    const double x = h.get("x", i);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / 2e5, 0.0, 0.01);
  EXPECT_NEAR(squares / 2e5, 1.0, 0.02);
  EXPECT_NEAR(fourth / 2e5, 3.0, 0.1);
}

TEST(Inputs, SetsAreWhatTheirNamesSay) {
  Harness h("matmul", DType::float32, {{"M", 16}, {"N", 16}, {"K", 64}});
  h.fill(InputSet::zeros, 1);
  for (const float v : h.floats("A"))
    EXPECT_EQ(v, 0.0F);
  h.fill(InputSet::exact_integers, 1);
  for (const float v : h.floats("A"))
    EXPECT_TRUE(v == std::nearbyint(v) && std::abs(v) <= 4.0F);
  h.fill(InputSet::denormal_heavy, 1);
  int denormals = 0;
  for (const float v : h.floats("A"))
    denormals += std::fpclassify(v) == FP_SUBNORMAL ? 1 : 0;
  EXPECT_GT(denormals, 300);
  h.fill(InputSet::wide_range, 1);
  float smallest = 1e30F;
  float largest = 0;
  for (const float v : h.floats("A")) {
    smallest = std::min(smallest, std::abs(v));
    largest = std::max(largest, std::abs(v));
  }
  EXPECT_GT(largest / smallest, 1e4F);
}

// A real shape is run twice where one set can be both wide and special.
TEST(Inputs, OfARealShapeAreInAsFewSetsAsShowThem) {
  const auto sets = [](const std::string& operation, DType dtype, Dims dims) {
    return real_input_sets(Harness(operation, dtype, std::move(dims)).problem);
  };
  const std::vector<InputSet> joined = {InputSet::nominal, InputSet::wide_and_special};
  EXPECT_EQ(sets("softmax", DType::float32, {{"M", 64}, {"N", 100}}), joined);
  EXPECT_EQ(sets("matmul", DType::float16, {{"M", 64}, {"N", 64}, {"K", 64}}), joined);
  EXPECT_EQ(sets("relu", DType::float32, {{"N", 1000}}), joined);
  const std::vector<InputSet> apart = {InputSet::nominal, InputSet::wide_range,
                                       InputSet::special_values};
  EXPECT_EQ(sets("softmax", DType::float32, {{"M", 8}, {"N", 100}}), apart)
      << "so few rows may all be of one kind";
  EXPECT_EQ(sets("argmax", DType::float32, {{"OUTER", 64}, {"R", 64}, {"INNER", 1}}), apart)
      << "the maximum of a wide row is never below zero";
  EXPECT_EQ(
      sets("add", DType::int32, {{"N", 1000}}),
      (std::vector<InputSet>{InputSet::nominal, InputSet::wide_range, InputSet::exact_integers}));
  EXPECT_EQ(sets("log", DType::float32, {{"N", 8}}),
            (std::vector<InputSet>{InputSet::nominal, InputSet::nominal}))
      << "a plan is launched twice at least";
}

TEST(Inputs, RowsAreWideOrSpecialOrHarmless) {
  Harness h("softmax", DType::float32, {{"M", 300}, {"N", 64}});
  h.fill(InputSet::wide_and_special, 5);
  const auto x = h.floats("x");
  int wide = 0;
  int special = 0;
  int harmless = 0;
  for (std::size_t row = 0; row < 300; ++row) {
    const auto count = [&](auto is) {
      return std::count_if(x.begin() + static_cast<std::ptrdiff_t>(64 * row),
                           x.begin() + static_cast<std::ptrdiff_t>(64 * row + 64), is);
    };
    const auto infinite = count([](float v) { return std::isinf(v); });
    const auto small = count([](float v) { return std::abs(v) < 0.05F; });
    const auto ordinary = count([](float v) { return std::abs(v) < 6; });
    wide += infinite == 0 && small > 16 ? 1 : 0;
    special += infinite > 0 ? 1 : 0;
    harmless += infinite == 0 && small <= 16 && ordinary > 56 ? 1 : 0;
  }
  for (const int rows : {wide, special, harmless}) {
    EXPECT_GT(rows, 60);
    EXPECT_LT(rows, 140);
  }
  EXPECT_GT(wide + special + harmless, 280);
}

TEST(Inputs, WithoutRowsSpecialValuesAreAmongWideOnes) {
  Harness h("matmul", DType::float32, {{"M", 16}, {"N", 16}, {"K", 64}});
  h.fill(InputSet::wide_and_special, 1);
  int denormals = 0;
  int ties = 0;
  float largest = 0;
  for (const float v : h.floats("A")) {
    denormals += std::fpclassify(v) == FP_SUBNORMAL ? 1 : 0;
    ties += v == 2.0F ? 1 : 0;
    largest = std::max(largest, std::abs(v));
  }
  EXPECT_GT(denormals, 60);
  EXPECT_GT(ties, 60);
  EXPECT_GT(largest, 100.0F);
}

TEST(Inputs, MeaningfulInputsKeepTheirDistribution) {
  Harness loss("cross_entropy", DType::float32, {{"M", 500}, {"N", 7}});
  for (const InputSet set : input_sets(loss.problem)) {
    loss.fill(set, 4);
    bool last = false;
    for (std::int64_t i = 0; i < 500; ++i) {
      EXPECT_GE(loss.get("labels", i), 0);
      EXPECT_LE(loss.get("labels", i), 6);
      last = last || loss.get("labels", i) == 6;
    }
    EXPECT_TRUE(last);
  }
  Harness norm("batch_norm", DType::float16, {{"N", 1}, {"C", 300}, {"HW", 1}});
  norm.fill(InputSet::zeros, 4);
  for (const float v : norm.floats("var"))
    EXPECT_TRUE(v >= 0.5F && v <= 2.0F);
  EXPECT_EQ(input_sets(Harness("log", DType::float32, {{"N", 8}}).problem).size(), 1U);
}

TEST(Feasibility, NamesTheBindingResource) {
  const auto gpu = find_gpu("A100");
  ASSERT_TRUE(gpu);
  Task copy = make_task("copy", DType::float32, {{{"N", 1 << 26}}});
  copy.target_us = 10;
  const auto memory = target_warning(copy, *gpu);
  ASSERT_TRUE(memory);
  EXPECT_THAT(*memory, HasSubstr("target 10.0 us is below the roofline: the A100 needs at least"));
  EXPECT_THAT(*memory, HasSubstr("us to move 536.9 MB at"));
  copy.target_us = 1e6;
  EXPECT_FALSE(target_warning(copy, *gpu));
  copy.work = {};
  const auto none = roofline(copy, copy.shapes[0].dims, *gpu);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(Feasibility, AsksAnEstimateForWhatTheTaskDoesNotSay) {
  const auto gpu = find_gpu("A100"); // 1555 GB/s, 19.5 TFLOP/s
  ASSERT_TRUE(gpu);
  Task task = make_task("copy", DType::float32, {{{"N", 1 << 20}}});
  const ShapeEstimate estimate{"1048576", 39e9, 1555e6, 1400e6, 128, 128};
  const auto declared = roofline(task, task.shapes[0].dims, *gpu, &estimate);
  ASSERT_TRUE(declared && *declared);
  EXPECT_FALSE((*declared)->estimated); // the task's word counts
  EXPECT_EQ((*declared)->sure_us, (*declared)->least_us);
  task.work = {};
  const auto line = roofline(task, task.shapes[0].dims, *gpu, &estimate);
  ASSERT_TRUE(line && *line);
  EXPECT_TRUE((*line)->estimated);
  EXPECT_TRUE((*line)->compute_bound);
  EXPECT_NEAR((*line)->least_us, 2000, 1);   // by the reference's operations
  EXPECT_NEAR((*line)->moving_us, 1000, 1);  // by what must be moved
  EXPECT_NEAR((*line)->sure_us, 900.3, 0.5); // beyond doubt
}

TEST(Feasibility, AggregatesShapesLikeTheObjective) {
  const auto gpu = find_gpu("A100");
  ASSERT_TRUE(gpu);
  Task task =
      make_task("matmul", DType::float16,
                {{{"M", 4096}, {"N", 4096}, {"K", 4096}}, {{"M", 512}, {"N", 512}, {"K", 512}}});
  task.target_us = 300;
  task.objective = Objective::worst_case_time;
  ASSERT_TRUE(target_warning(task, *gpu));
  EXPECT_THAT(*target_warning(task, *gpu), HasSubstr("over its 2 shapes (worst case)"));
  task.objective = Objective::weighted_mean_time;
  EXPECT_FALSE(target_warning(task, *gpu));
}

} // namespace
} // namespace kernevo
