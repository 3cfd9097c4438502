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

// Each recipe compiled and checked with every sanitizer on, for its first operation and first type.
TEST_P(RecipeKernels, AreRightOnSmallShapes) {
  const auto recipes = load_recipes();
  ASSERT_TRUE(recipes) << format_error(recipes.error());
  const auto gpu = find_gpu("A100");
  ASSERT_GE(recipes->size(), static_cast<std::size_t>(kParts));
  for (std::size_t i = 0; i < recipes->size(); ++i) {
    if (static_cast<int>(i % kParts) != GetParam())
      continue;
    const Recipe& recipe = (*recipes)[i];
    const std::string& operation = *recipe.operations.begin();
    const DType dtype = dtypes_of(recipe, operation).front();
    bool served = false;
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
      served = true;
      break;
    }
    EXPECT_TRUE(served) << recipe.name << " serves none of the shapes tried";
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecipeKernels, testing::Range(0, kParts));

} // namespace
} // namespace kernevo::propose
