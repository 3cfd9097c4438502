#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/task/load_task.h"
#include "recipe_tasks.h"
#include "toolchain_test.h"

namespace kernevo::propose {
namespace {

class RecipeKernels : public KernelTestOf<testing::TestWithParam<int>> {};

constexpr int kParts = 8; // so that the cores share them

// The first task that the recipe serves, by its operations, types and shapes.
std::optional<Task> served_task(const Recipe& recipe, const Gpu& gpu) {
  for (const std::string& operation : recipe.operations)
    for (const DType dtype : dtypes_of(recipe, operation))
      for (const std::string& text : tasks_of(operation, dtype)) {
        const auto task = parse_task(text, "task.yaml");
        if (const auto reason = unfit(recipe, task.value().task, gpu); reason && !*reason)
          return task->task;
      }
  return std::nullopt;
}

// Each recipe compiled and checked with every sanitizer on.
TEST_P(RecipeKernels, AreRightOnSmallShapes) {
  const auto recipes = load_recipes();
  ASSERT_TRUE(recipes) << format_error(recipes.error());
  ASSERT_GE(recipes->size(), static_cast<std::size_t>(kParts));
  const auto gpu = find_gpu("A100");
  for (auto i = static_cast<std::size_t>(GetParam()); i < recipes->size(); i += kParts) {
    const Recipe& recipe = (*recipes)[i];
    SCOPED_TRACE(recipe.name);
    const auto task = served_task(recipe, *gpu);
    ASSERT_TRUE(task) << "serves none of the shapes tried";
    const auto source = expand_recipe(recipe, *task);
    ASSERT_TRUE(source);
    const auto kernel = parse_kernel_file(*source, recipe.name + ".cu");
    ASSERT_TRUE(kernel);
    CheckOptions options;
    options.small_only = true;
    options.seed = 7;
    const auto checked =
        check_kernel(**open_device(DeviceChoice{}, task->target_gpu), *task, *kernel, options);
    ASSERT_TRUE(checked) << format_error(checked.error());
    EXPECT_TRUE(checked->verdict.correct) << checked->verdict.summary;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecipeKernels, testing::Range(0, kParts));

} // namespace
} // namespace kernevo::propose
