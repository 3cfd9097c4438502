#include "kernevo/hardware/gpu_table.h"
#include "kernevo/propose/recipe.h"

#include "kernevo/kernel/device_code.h"
#include "kernevo/kernel/judged_source.h"
#include "kernevo/propose/directions.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/load_task.h"
#include "recipe_tasks.h"
#include "test_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::propose {
namespace {

using testing::HasSubstr;
using testing::Not;

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
          const auto parameters = choose_parameters(*kernel);
          ASSERT_TRUE(parameters) << format_error(parameters.error());
          const auto judged = judged_source(*kernel, *parameters, "sm_80");
          ASSERT_TRUE(judged) << format_error(judged.error());
          const auto code = device_code(*judged, "kernel.cu");
          EXPECT_TRUE(code) << format_error(code.error());
          EXPECT_FALSE(kernel->launches.empty());
        }
    EXPECT_TRUE(served) << recipe.name << " serves none of the shapes tried";
  }
}

// --- the file format

class RecipeFile : public testing::Test {
protected:
  RecipeFile() { folder_.write("k.cu", "// @launch {{name}}<<<1, 32>>>({{arguments}})\n"); }
  Result<std::vector<Recipe>> parse(const std::string& text) const {
    return parse_recipes(text, folder_.path("recipes.yaml"), {"coalesce", "unroll"});
  }
  const TestFolder folder_;
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
