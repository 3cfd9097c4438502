// The kernels of the correctness corpus on both tiers: every buffer and every counter the same.
// Several kernels to a test, for starting a process costs as much as comparing a few.
#include "kernevo/base/files.h"
#include "kernevo/base/worker_process.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/prepare_kernel.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/load_task.h"
#include "kernevo/vgpu/program/kernels.h"
#include "kernevo/vgpu/tier/plugin.h"
#include "outcome.h"
#include "places.h"
#include "quick_compiler.h"
#include "run_program.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <variant>

namespace kernevo::test {
namespace {

namespace fs = std::filesystem;

constexpr int kGroups = 10;
constexpr std::byte kPoison{0xFF};

std::vector<fs::path> corpus() {
  std::vector<fs::path> kernels;
  for (const fs::directory_entry& entry : fs::directory_iterator(test_folder("correctness/good")))
    if (entry.path().extension() == ".cu")
      kernels.push_back(entry.path());
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

// A kernel at one shape, ready to run on either tier.
struct Case {
  Gpu gpu;
  LaunchPlan plan;
  Build build;
  CaseInputs inputs;
  std::shared_ptr<const vgpu::Program> program;
};

Result<Case> make_case(const fs::path& path) {
  KERNEVO_TRY(source, read_text_file(path));
  KERNEVO_TRY(loaded, load_task((path.parent_path() / header_line(source, "task")).string()));
  const Task& task = loaded.task;
  KERNEVO_TRY(kernel, load_kernel_file(path.string()));
  KERNEVO_TRY(device, open_device(DeviceChoice{}, task.target_gpu));
  KERNEVO_TRY(prepared, prepare_kernel(*device, task, kernel, {}));
  const auto shapes = task.check_shapes.empty() ? small_shapes(task) : task.check_shapes;
  KERNEVO_TRY(problem, make_problem(task, shapes.front()));
  if (prepared.fault)
    return fail(ErrorCode::input, "it does not compile");
  KERNEVO_TRY(plan, prepared.plan(problem));
  KERNEVO_TRY(program, vgpu::load_program(prepared.build.ptx, "kernel.ptx"));
  return Case{device->gpu(), std::move(plan), std::move(prepared.build),
              make_inputs(std::move(problem), InputSet::nominal, 1), std::move(program)};
}

template <class T> void put(std::vector<std::byte>& out, std::uint32_t offset, T value) {
  std::memcpy(out.data() + offset, &value, sizeof value);
}

void put_argument(const LaunchArgument& argument, const vgpu::KernelInfo::Parameter& parameter,
                  const std::vector<vgpu::DevicePointer>& pointers, std::vector<std::byte>& out) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument.value)) {
    put(out, parameter.offset, pointers.at(buffer->index));
    return;
  }
  const auto* integer = std::get_if<std::int64_t>(&argument.value);
  const double real =
      integer != nullptr ? static_cast<double>(*integer) : std::get<double>(argument.value);
  const std::int64_t whole = integer != nullptr ? *integer : static_cast<std::int64_t>(real);
  if (!parameter.is_float)
    std::memcpy(out.data() + parameter.offset, &whole, parameter.size);
  else if (parameter.size == 4)
    put(out, parameter.offset, static_cast<float>(real));
  else
    put(out, parameter.offset, real);
}

Result<vgpu::LaunchConfig> configure(const Case& at, const Launch& launch,
                                     const std::vector<vgpu::DevicePointer>& pointers) {
  const auto entry = at.build.lowered_names.find(launch.kernel);
  KERNEVO_TRY(kernel, vgpu::find_kernel(*at.program, entry == at.build.lowered_names.end()
                                                         ? launch.kernel
                                                         : entry->second));
  vgpu::LaunchConfig config;
  config.kernel = kernel.name;
  config.cooperative = launch.cooperative;
  config.dynamic_shared = static_cast<std::uint32_t>(launch.dynamic_shared);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    config.grid.at(axis) = static_cast<std::uint32_t>(launch.grid.at(axis));
    config.block.at(axis) = static_cast<std::uint32_t>(launch.block.at(axis));
  }
  config.parameters.resize(kernel.parameter_bytes);
  if (kernel.parameters.size() != launch.arguments.size())
    return fail(ErrorCode::input, "the launch does not fit the kernel");
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    put_argument(launch.arguments[i], kernel.parameters[i], pointers, config.parameters);
  return config;
}

Result<Outcome> run(const Case& at, std::vector<Buffer>& buffers, vgpu::Tier tier) {
  vgpu::MachineOptions options;
  options.cores = 1;
  options.tier = tier;
  options.count_memory = true;
  vgpu::Machine machine(at.gpu, options);
  std::vector<vgpu::DevicePointer> pointers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto bytes = buffers[i].bytes();
    std::fill(bytes.begin(), bytes.end(), kPoison);
    if (i < at.inputs.initial.size())
      std::copy(at.inputs.initial[i].begin(), at.inputs.initial[i].end(), bytes.begin());
    KERNEVO_TRY(pointer, machine.adopt(bytes, buffers[i].name()));
    pointers.push_back(pointer);
  }
  Outcome outcome;
  for (const Launch& launch : at.plan.launches) {
    KERNEVO_TRY(config, configure(at, launch, pointers));
    if (!outcome.add(machine.launch(*at.program, config)))
      break;
  }
  for (Buffer& buffer : buffers)
    outcome.take(buffer);
  return outcome;
}

// Quick code is code of its own, but some kernels are too long for it.
Result<Outcome> run_compiled(Case& at, std::vector<Buffer>& buffers, bool quick) {
  set_optimised(!quick);
  KERNEVO_TRY(outcome, run(at, buffers, vgpu::Tier::compiled));
  if (!quick || outcome.statistics.compiled_instructions != 0)
    return outcome;
  KERNEVO_TRY(afresh, vgpu::load_program(at.build.ptx, "kernel.ptx"));
  at.program = std::move(afresh);
  set_optimised(true);
  return run(at, buffers, vgpu::Tier::compiled);
}

void compare(const fs::path& path, bool quick) {
  auto made = make_case(path);
  ASSERT_TRUE(made) << format_error(made.error());
  std::vector<Buffer> buffers;
  for (const BufferSpec& buffer : made->inputs.problem.buffers)
    buffers.emplace_back(buffer.name, buffer.bytes());
  for (const ScratchBuffer& scratch : made->plan.scratch)
    buffers.emplace_back(scratch.name, scratch.bytes());
  const auto reference = run(*made, buffers, vgpu::Tier::interpreter);
  ASSERT_TRUE(reference) << format_error(reference.error());
  EXPECT_FALSE(reference->fault) << reference->fault->message;
  const auto compiled = run_compiled(*made, buffers, quick);
  ASSERT_TRUE(compiled) << format_error(compiled.error());
  EXPECT_GT(reference->statistics.memory.global_store_requests, 0U);
  EXPECT_GT(compiled->statistics.compiled_instructions, 0U) << "nothing was compiled";
  const auto found = difference(*reference, *compiled);
  EXPECT_FALSE(found) << *found;
}

class CorpusKernels : public testing::TestWithParam<int> {};

TEST_P(CorpusKernels, AreTheSameOnBothTiers) {
  const auto compiler = vgpu::load_compiler();
  ASSERT_TRUE(compiler) << format_error(compiler.error());
  set_worker_program(program_path());
  const std::vector<fs::path> kernels = corpus();
  ASSERT_GE(kernels.size(), 100U);
  for (std::size_t i = static_cast<std::size_t>(GetParam()); i < kernels.size(); i += kGroups) {
    SCOPED_TRACE(kernels[i].filename().string());
    compare(kernels[i], i % 3 != 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Group, CorpusKernels, testing::Range(0, kGroups),
                         testing::PrintToStringParamName());

} // namespace
} // namespace kernevo::test
