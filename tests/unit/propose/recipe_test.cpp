#include "kernevo/hardware/gpu_table.h"
#include "kernevo/propose/recipe.h"

#include "kernevo/base/worker_process.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/propose/directions.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/load_task.h"
#include "kernevo/toolchain/toolchain.h"
#include "places.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace kernevo::propose {
namespace {

using testing::HasSubstr;
using testing::Not;

// Shapes small enough to check in a moment, and what makes recipes for special cases apply.
const std::map<std::string, std::vector<std::string>> kShapes = {
    {"matmul", {"[64, 96, 128]"}},
    {"reduce", {"[40, 300]", "[300, 40]\naxis: 0", "[2, 70000]", "[70000, 8]\naxis: 0"}},
    {"rows", {"[20, 500]", "[3, 40000]", "[600, 40]"}},
    {"conv2d", {"[2, 8, 12, 12, 16, 3, 3]", "[1, 8, 12, 12, 8, 3, 3]\ngroups: 8\npadding: 1"}},
    {"conv1d", {"[2, 8, 64, 16, 3]", "[1, 8, 64, 8, 3]\ngroups: 8\npadding: 1"}},
};

std::string task_text(const std::string& operation, DType dtype, const std::string& shape) {
  return fmt::format("op_name: {}\ndtype: {}\ntarget_gpu: A100\nshapes:\n  - {}\n", operation,
                     name_of(dtype), shape);
}

// Tasks of an operation that between them make every recipe of it apply.
std::vector<std::string> tasks_of(const std::string& operation, DType dtype) {
  std::vector<std::string> shapes;
  if (operation.starts_with("matmul"))
    shapes = {"[64, 96, 128]", "[16, 16, 20000]"};
  else if (operation == "batched_matmul")
    shapes = {"[2, 48, 64, 80]", "[1, 16, 16, 20000]"};
  else if (operation == "matvec")
    shapes = {"[40, 300]", "[2, 70000]"};
  else if (operation.starts_with("reduce") || operation == "argmax")
    shapes = kShapes.at("reduce");
  else if (operation == "conv1d" || operation == "conv2d")
    shapes = kShapes.at(operation);
  else if (operation.ends_with("_pool1d"))
    shapes = {"[2, 3, 100]"};
  else if (operation.ends_with("_pool2d"))
    shapes = {"[2, 3, 20, 20]"};
  else if (operation == "embedding")
    shapes = {"[40, 30, 64]"};
  else if (operation == "attention")
    shapes = {"[1, 2, 70, 32]"};
  else if (operation == "group_norm")
    shapes = {"[2, 8, 49, 4]", "[2, 8, 1024, 4]", "[1, 8, 40000, 4]", "[2, 8, 6, 4]"};
  else if (operation == "batch_norm")
    shapes = {"[2, 8, 49]", "[2, 8, 1024]"};
  else if (find_operation(operation)->dimensions.size() == 1)
    shapes = {"[5000]"};
  else
    shapes = kShapes.at("rows");
  std::vector<std::string> tasks;
  for (const std::string& shape : shapes)
    tasks.push_back(task_text(operation, dtype, shape));
  if (operation.starts_with("matmul"))
    tasks.push_back(task_text(operation, dtype, shapes.front()) + "allow_tf32: true\n");
  return tasks;
}

std::vector<DType> dtypes_of(const Recipe& recipe, const std::string& operation) {
  const OperationInfo& info = *find_operation(operation);
  std::vector<DType> dtypes;
  for (const DType dtype : info.dtypes)
    if (recipe.dtypes.empty() || recipe.dtypes.contains(dtype))
      dtypes.push_back(dtype);
  return dtypes;
}

TEST(Recipes, EveryOperationOfTheCatalogueHasOne) {
  const auto recipes = load_recipes();
  ASSERT_TRUE(recipes) << format_error(recipes.error());
  for (const OperationInfo& operation : operations()) {
    bool found = false;
    for (const Recipe& recipe : *recipes)
      found = found || recipe.operations.contains(operation.name);
    EXPECT_TRUE(found) << operation.name;
  }
}

// Expansion and parsing of every recipe, operation and type; nothing of the template is left.
TEST(Recipes, AllAreKernelFilesForEveryOperationAndTypeTheyName) {
  const auto recipes = load_recipes();
  ASSERT_TRUE(recipes) << format_error(recipes.error());
  const auto gpu = find_gpu("A100");
  for (const Recipe& recipe : *recipes) {
    bool served = false;
    for (const std::string& operation : recipe.operations)
      for (const DType dtype : dtypes_of(recipe, operation))
        for (const std::string& text : tasks_of(operation, dtype)) {
          SCOPED_TRACE(recipe.name + "\n" + text);
          const auto task = parse_task(text, "task.yaml");
          ASSERT_TRUE(task) << format_error(task.error());
          const auto reason = unfit(recipe, task->task, *gpu);
          ASSERT_TRUE(reason) << format_error(reason.error());
          if (*reason)
            continue;
          served = true;
          const auto source = expand_recipe(recipe, task->task);
          ASSERT_TRUE(source) << format_error(source.error());
          EXPECT_THAT(*source, Not(HasSubstr("{{if")));
          const auto kernel = parse_kernel_file(*source, "kernel.cu");
          ASSERT_TRUE(kernel) << format_error(kernel.error());
          EXPECT_TRUE(choose_parameters(*kernel));
          EXPECT_FALSE(kernel->launches.empty());
        }
    EXPECT_TRUE(served) << recipe.name << " serves none of the shapes tried";
  }
}

class RecipeKernels : public testing::TestWithParam<int> {
protected:
  static void SetUpTestSuite() { set_worker_program(program_path()); }
};

constexpr int kParts = 8; // so that the cores share them

// Each recipe compiled and checked with every sanitizer on, for its first operation and first type.
TEST_P(RecipeKernels, AreRightOnSmallShapes) {
  if (const auto toolchain = find_toolchain(); !toolchain)
    GTEST_SKIP() << toolchain.error().message;
  const auto recipes = load_recipes();
  ASSERT_TRUE(recipes) << format_error(recipes.error());
  const auto gpu = find_gpu("A100");
  for (std::size_t i = 0; i < recipes->size(); ++i) {
    if (static_cast<int>(i % kParts) != GetParam())
      continue;
    const Recipe& recipe = (*recipes)[i];
    const std::string& operation = *recipe.operations.begin();
    const DType dtype = dtypes_of(recipe, operation).front();
    for (const std::string& text : tasks_of(operation, dtype)) {
      SCOPED_TRACE(recipe.name + "\n" + text);
      const auto task = parse_task(text, "task.yaml");
      ASSERT_TRUE(task);
      if (const auto reason = unfit(recipe, task->task, *gpu); !reason || *reason)
        continue;
      const auto source = expand_recipe(recipe, task->task);
      ASSERT_TRUE(source);
      const auto kernel = parse_kernel_file(*source, recipe.name + ".cu");
      ASSERT_TRUE(kernel);
      CheckOptions options;
      options.small_only = true;
      options.seed = 7;
      const auto checked = check_kernel(**open_device(DeviceChoice{}, task->task.target_gpu),
                                        task->task, *kernel, options);
      ASSERT_TRUE(checked) << format_error(checked.error());
      EXPECT_TRUE(checked->verdict.correct) << checked->verdict.summary;
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecipeKernels, testing::Range(0, kParts));

// --- the file format

class RecipeFile : public testing::Test {
protected:
  RecipeFile() : folder_(testing::TempDir() + "kernevo_recipes") {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/k.cu") << "// @launch {{name}}<<<1, 32>>>({{arguments}})\n";
  }
  Result<std::vector<Recipe>> parse(const std::string& text) const {
    return parse_recipes(text, folder_ + "/recipes.yaml", {"coalesce", "unroll"});
  }
  std::string folder_;
};

constexpr const char* kGood = "- name: r\n  title: t\n  file: k.cu\n  operations: [softmax]\n"
                              "  answers: [coalesce]\n";

TEST_F(RecipeFile, IsRead) {
  const auto recipes =
      parse(std::string(kGood) + "  dtypes: [float16]\n  when: sm >= 80 && N > 4\n");
  ASSERT_TRUE(recipes) << format_error(recipes.error());
  const Recipe& recipe = recipes->front();
  EXPECT_EQ(recipe.name, "r");
  EXPECT_EQ(recipe.dtypes, std::set<DType>{DType::float16});
  const auto a100 = find_gpu("A100");
  const auto v100 = find_gpu("V100");
  const auto half = parse_task(task_text("softmax", DType::float16, "[4, 8]"), "task.yaml");
  const auto narrow = parse_task(task_text("softmax", DType::float16, "[4, 4]"), "task.yaml");
  const auto single = parse_task(task_text("softmax", DType::float32, "[4, 8]"), "task.yaml");
  EXPECT_FALSE(*unfit(recipe, half->task, *a100));
  EXPECT_THAT(**unfit(recipe, half->task, *v100), HasSubstr("does not hold"));
  EXPECT_THAT(**unfit(recipe, narrow->task, *a100), HasSubstr("does not hold"));
  EXPECT_THAT(**unfit(recipe, single->task, *a100), HasSubstr("float32"));
}

TEST_F(RecipeFile, MistakesAreNamedWithLineAndFix) {
  const auto message = [&](std::string from, const std::string& to) {
    std::string text = kGood;
    text.replace(text.find(from), from.size(), to);
    const auto result = parse(text);
    return result ? std::string("read") : format_error(result.error());
  };
  EXPECT_THAT(message("coalesce", "coalese"), HasSubstr("did you mean 'coalesce'"));
  EXPECT_THAT(message("softmax", "sofmax"), HasSubstr("recipes.yaml:4"));
  EXPECT_THAT(message("k.cu", "other.cu"), HasSubstr("no template 'other.cu'"));
  EXPECT_THAT(message("  title: t\n", ""), HasSubstr("'title' is missing"));
  EXPECT_THAT(message("title:", "titel:"), HasSubstr("titel"));
}

// A task that is called softmax and takes other arguments is not the catalogue's softmax.
TEST(Recipes, ATaskWithArgumentsOfItsOwnIsNotServed) {
  const auto recipes = load_recipes();
  ASSERT_TRUE(recipes);
  auto task = parse_task(task_text("softmax", DType::float32, "[4, 8]"), "task.yaml");
  ASSERT_TRUE(task);
  task->task.arguments.front().name = "z";
  for (const Recipe& recipe : *recipes) {
    const auto reason = unfit(recipe, task->task, *find_gpu("A100"));
    ASSERT_TRUE(reason);
    EXPECT_TRUE(*reason) << recipe.name;
  }
}

} // namespace
} // namespace kernevo::propose
