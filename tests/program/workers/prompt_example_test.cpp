#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/propose/prompt_writer.h"
#include "kernevo/propose/read_reply.h"
#include "kernevo/task/load_task.h"
#include "toolchain_test.h"

#include <gmock/gmock.h>

namespace kernevo::propose {
namespace {

using testing::HasSubstr;

class PromptExample : public KernelTest {};

// Whoever follows the example must get through.
TEST_F(PromptExample, ShowsAKernelThatIsRight) {
  const auto parsed = parse_task(R"(op_name: row_sum
dtype: float32
target_gpu: A100
arguments:
  - {name: x, direction: in, dtype: float32, shape: [M, N]}
  - {name: y, direction: out, dtype: float32, shape: [M]}
shapes:
  - {M: 7, N: 3000}
check_shapes:
  - {M: 1, N: 1}
  - {M: 300, N: 33}
launch: row_sum<<<M, 32>>>(x, y, M, N)
reference_kernel: |
  __global__ void row_sum(const float* x, float* y, int M, int N) {
    if (threadIdx.x != 0) return;
    double sum = 0;
    for (int i = 0; i < N; i++) sum += x[blockIdx.x * N + i];
    y[blockIdx.x] = sum;
  }
)",
                                 "task.yaml");
  ASSERT_TRUE(parsed) << format_error(parsed.error());
  const Task& task = parsed->task;
  const auto writer = PromptWriter::create(task, *find_gpu(task.target_gpu), std::nullopt, "");
  ASSERT_TRUE(writer) << format_error(writer.error());
  const auto reply = read_kernel_reply(writer->guide());
  ASSERT_TRUE(reply) << format_error(reply.error());
  EXPECT_THAT(reply->title, HasSubstr("SPLIT"));
  const auto kernel = parse_kernel_file(reply->source, "example.cu");
  ASSERT_TRUE(kernel) << format_error(kernel.error());
  const auto checked =
      check_kernel(**open_device(DeviceChoice{}, task.target_gpu), task, *kernel, {});
  ASSERT_TRUE(checked) << format_error(checked.error());
  EXPECT_TRUE(checked->verdict.correct) << checked->verdict.summary;
}

} // namespace
} // namespace kernevo::propose
