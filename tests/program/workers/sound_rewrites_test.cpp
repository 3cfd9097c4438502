// Whatever a rewrite makes of a right kernel is right: starters of the catalogue and kernels of the
// examples, rewrites alone and one after the other, checked on the virtual GPU with every
// sanitizer.
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/load_task.h"
#include "rewriting.h"
#include "toolchain_test.h"

#include <filesystem>
#include <fmt/format.h>

namespace kernevo::rewrite {
namespace {

struct Subject {
  std::string name;
  Task task;
  std::string source;
};

class Sound : public KernelTestOf<testing::TestWithParam<std::string>> {
protected:
  // A starter of an operation, or a kernel of the examples: "folder/kernel.cu".
  static Subject subject() {
    const std::string& name = GetParam();
    if (!name.ends_with(".cu")) {
      const auto starter = make_starter(name, DType::float32, "A100");
      EXPECT_TRUE(starter);
      auto task = parse_task(
          starter->task_yaml.substr(0, starter->task_yaml.find("reference_kernel")), "task.yaml");
      EXPECT_TRUE(task) << format_error(task.error());
      return {name, std::move(task->task), starter->kernel_source};
    }
    const std::filesystem::path file = std::filesystem::path(source_folder()) / "examples" / name;
    auto task = load_task((file.parent_path() / "task.yaml").string());
    EXPECT_TRUE(task) << format_error(task.error());
    return {name, std::move(task->task), load_kernel_file(file.string())->source};
  }

  static void expect_right(const Subject& subject, const std::string& source,
                           const std::string& how) {
    const auto kernel = parse_kernel_file(source, "rewritten.cu");
    ASSERT_TRUE(kernel) << format_error(kernel.error());
    CheckOptions options;
    options.small_only = true;
    options.seed = 11;
    const auto result = check_kernel(**open_device(DeviceChoice{}, subject.task.target_gpu),
                                     subject.task, *kernel, options);
    ASSERT_TRUE(result) << format_error(result.error());
    EXPECT_TRUE(result->verdict.correct)
        << subject.name << " after " << how << ": " << result->verdict.summary << "\n"
        << source;
  }
};

// Those that change the structure; the others are hints, and tried together.
constexpr std::array<std::string_view, 5> kStructural = {"tile_shared", "swap_thread_roles",
                                                         "vectorise", "coarsen", "grid_stride"};

// Everything that still applies, one after the other; `how` says what did.
std::string with_all(KernelFile kernel, const RewriteContext& context, std::string& how) {
  for (const Rewrite& next : rewrites()) {
    if (std::find(kStructural.begin(), kStructural.end(), next.name) != kStructural.end() &&
        how.empty())
      continue;
    const auto more = apply(next, kernel, context);
    EXPECT_TRUE(more);
    if (!more->rewritten)
      continue;
    how += fmt::format(" {}", next.name);
    kernel = *parse_kernel_file(more->rewritten->source, "kernel.cu");
    // Never twice.
    EXPECT_FALSE(apply(next, kernel, context)->rewritten) << next.name << "\n" << kernel.source;
  }
  return kernel.source;
}

TEST_P(Sound, AloneAndTogether) {
  const Subject subject = Sound::subject();
  // Fast math is not meant to keep results: whether it is good enough is for the judge alone.
  const RewriteContext context{&subject.task, false};
  const auto kernel = parse_kernel_file(subject.source, "kernel.cu");
  ASSERT_TRUE(kernel);
  std::string hints;
  const std::string hinted = with_all(*kernel, context, hints);
  ASSERT_FALSE(hints.empty()) << subject.name;
  expect_right(subject, hinted, hints);
  for (const std::string_view name : kStructural) {
    const auto once = apply(rewrite_named(name), *kernel, context);
    ASSERT_TRUE(once);
    if (!once->rewritten)
      continue;
    expect_right(subject, once->rewritten->source, std::string(name));
    std::string how(name);
    const auto between = parse_kernel_file(once->rewritten->source, "kernel.cu");
    ASSERT_TRUE(between);
    EXPECT_FALSE(apply(rewrite_named(name), *between, context)->rewritten) << subject.name << name;
    expect_right(subject, with_all(*between, context, how), how);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Sound,
    testing::Values("matmul", "batched_matmul", "relu", "axpy", "bias_gelu", "softmax", "transpose",
                    "conv2d", "matmul/naive.cu", "bottlenecks/uncoalesced/before.cu",
                    "bottlenecks/dram_bound/before.cu", "bottlenecks/compute_bound/before.cu",
                    "bottlenecks/latency_bound/before.cu", "bottlenecks/spills/before.cu",
                    "bottlenecks/divergence/before.cu"),
    [](const auto& kernel) {
      std::string name = kernel.param;
      std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
      return name;
    });

} // namespace
} // namespace kernevo::rewrite
