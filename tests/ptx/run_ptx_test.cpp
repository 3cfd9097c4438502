// Runs every tests/ptx/*.ptx on the virtual GPU: each file is one test, and one more that compares
// compiled code with the interpreter.
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/finding.h"
#include "kernevo/model/gpu.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/program/kernels.h"
#include "kernevo/vgpu/tier/plugin.h"
#include "places.h"
#include "ptx_case.h"
#include "test_needs.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::test {
namespace {

constexpr std::byte kPoison{0xA5};
constexpr int kMostMismatchesShown = 8;

std::vector<std::string> discover() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test_folder("ptx")))
    if (entry.path().extension() == ".ptx")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

void store(std::byte* at, Element element, std::uint64_t bits) {
  std::memcpy(at, &bits, size_of(element));
}

std::uint64_t fetch(const std::byte* at, Element element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(element));
  return bits;
}

// `value`: the memory of the image before, its handle after.
void create_image(vgpu::Machine& machine, const Argument& argument, std::uint64_t& value) {
  vgpu::TextureDescription description = argument.texture;
  description.image.memory = value;
  const auto handle = argument.role == Role::texture ? machine.create_texture(description)
                                                     : machine.create_surface(description.image);
  ASSERT_TRUE(handle) << format_error(handle.error());
  value = *handle;
}

// Puts the argument's bytes into the parameter buffer; buffers are allocated first.
void bind(vgpu::Machine& machine, const vgpu::Program& program, const Argument& argument,
          vgpu::LaunchConfig& config, const vgpu::KernelInfo::Parameter& parameter,
          std::vector<vgpu::DevicePointer>& pointers) {
  if (argument.role == Role::scalar) {
    ASSERT_EQ(argument.initial.size() * size_of(argument.element), parameter.size)
        << "size of parameter '" << argument.name << "'";
    for (std::size_t i = 0; i < argument.initial.size(); ++i)
      store(config.parameters.data() + parameter.offset + i * size_of(argument.element),
            argument.element, argument.initial[i].bits);
    pointers.push_back(0);
    return;
  }
  if (argument.bound.empty()) {
    ASSERT_EQ(parameter.size, 8U) << "parameter '" << argument.name << "' must be .u64";
  }
  const std::size_t count = std::max(argument.initial.size(), argument.expected.size());
  const auto pointer = machine.allocate(count * size_of(argument.element), argument.name);
  ASSERT_TRUE(pointer) << format_error(pointer.error());
  const auto bytes = machine.bytes(*pointer);
  std::fill(bytes.begin(), bytes.end(), kPoison);
  for (std::size_t i = 0; i < argument.initial.size(); ++i)
    store(bytes.data() + i * size_of(argument.element), argument.element, argument.initial[i].bits);
  pointers.push_back(*pointer);
  std::uint64_t value = *pointer;
  if (argument.role == Role::texture || argument.role == Role::surface)
    create_image(machine, argument, value);
  if (testing::Test::HasFatalFailure())
    return;
  if (argument.bound.empty()) {
    std::memcpy(config.parameters.data() + parameter.offset, &value, sizeof value);
    return;
  }
  const auto reference = machine.variable(program, argument.bound);
  ASSERT_TRUE(reference) << format_error(reference.error());
  std::memcpy(machine.bytes(*reference).data(), &value, sizeof value);
}

void compare(vgpu::Machine& machine, const Case& test, const Argument& argument,
             vgpu::DevicePointer pointer) {
  const auto bytes = machine.bytes(pointer);
  const Tolerance tolerance = argument.tolerance.value_or(test.tolerance);
  int mismatches = 0;
  for (std::size_t i = 0; i < argument.expected.size(); ++i) {
    const Value& expected = argument.expected[i];
    const std::uint64_t actual =
        fetch(bytes.data() + i * size_of(argument.element), argument.element);
    if (matches(argument.element, expected, actual, tolerance))
      continue;
    if (++mismatches <= kMostMismatchesShown)
      ADD_FAILURE() << argument.name << "[" << i << "] = " << show(argument.element, actual)
                    << ", expected " << show(argument.element, expected.bits);
  }
  EXPECT_EQ(mismatches, 0) << "wrong values in '" << argument.name << "'";
}

// What a launch left.
struct Outcome {
  vgpu::LaunchResult result;
  std::vector<std::vector<std::byte>> memory; // by argument
};

// Checks it against the case, too.
void run(const Case& test, const vgpu::Program& program, vgpu::Tier tier, Outcome& outcome) {
  const auto gpu = find_gpu(test.gpu);
  ASSERT_TRUE(gpu) << format_error(gpu.error());
  vgpu::MachineOptions options;
  options.sanitize = test.sanitize;
  options.tier = tier;
  options.count_memory = true;
  vgpu::Machine machine(*gpu, options);

  vgpu::LaunchConfig config;
  config.kernel = test.kernel;
  if (config.kernel.empty()) {
    const auto kernels = vgpu::kernels_of(program);
    ASSERT_EQ(kernels.size(), 1U) << "several entries: name one with a `// kernel:` line";
    config.kernel = kernels.front().name;
  }
  const auto info = vgpu::find_kernel(program, config.kernel);
  ASSERT_TRUE(info) << format_error(info.error());
  const auto passed = std::count_if(test.arguments.begin(), test.arguments.end(),
                                    [](const Argument& a) { return a.bound.empty(); });
  ASSERT_EQ(info->parameters.size(), static_cast<std::size_t>(passed))
      << "arguments and parameters differ";
  config.grid = test.grid;
  config.block = test.block;
  config.dynamic_shared = test.shared;
  config.cooperative = test.cooperative;
  config.parameters.resize(info->parameter_bytes);
  std::vector<vgpu::DevicePointer> pointers;
  std::size_t next = 0;
  for (const Argument& argument : test.arguments) {
    const vgpu::KernelInfo::Parameter none;
    bind(machine, program, argument, config,
         argument.bound.empty() ? info->parameters[next++] : none, pointers);
    if (testing::Test::HasFatalFailure())
      return;
  }

  outcome.result = machine.launch(program, config);
  const vgpu::LaunchResult& result = outcome.result;
  if (test.fault) {
    ASSERT_TRUE(result.fault) << "expected the fault " << *test.fault << ", the launch succeeded";
    EXPECT_EQ(name_of(result.fault->kind), *test.fault) << result.fault->message;
  } else {
    ASSERT_FALSE(result.fault) << name_of(result.fault->kind) << ": " << result.fault->message;
  }
  if (test.prints) {
    EXPECT_EQ(result.printed, *test.prints);
  }
  for (std::size_t i = 0; i < test.arguments.size(); ++i) {
    if (!test.arguments[i].expected.empty())
      compare(machine, test, test.arguments[i], pointers[i]);
    outcome.memory.emplace_back();
    if (pointers[i] != 0) {
      const auto bytes = machine.bytes(pointers[i]);
      outcome.memory.back().assign(bytes.begin(), bytes.end());
    }
  }
}

void expect_equal(const Case& test, const Outcome& interpreted, const Outcome& compiled) {
  const vgpu::LaunchResult& a = interpreted.result;
  const vgpu::LaunchResult& b = compiled.result;
  ASSERT_EQ(a.fault.has_value(), b.fault.has_value());
  if (a.fault) {
    EXPECT_EQ(name_of(a.fault->kind), name_of(b.fault->kind));
    EXPECT_EQ(a.fault->ptx_line, b.fault->ptx_line);
    EXPECT_EQ(a.fault->thread, b.fault->thread);
    return;
  }
  EXPECT_EQ(a.printed, b.printed);
  EXPECT_EQ(a.statistics.warp_instructions, b.statistics.warp_instructions);
  EXPECT_EQ(a.statistics.thread_instructions, b.statistics.thread_instructions);
  EXPECT_EQ(a.statistics.memory, b.statistics.memory);
  for (std::size_t i = 0; i < test.arguments.size(); ++i)
    EXPECT_EQ(interpreted.memory[i] == compiled.memory[i], true)
        << "bits of '" << test.arguments[i].name << "' differ between the tiers";
}

class Ptx : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    path_ = test_folder("ptx") + "/" + GetParam() + ".ptx";
    file_ = read_ptx_file(path_);
    ASSERT_TRUE(file_) << format_error(file_.error());
    program_ = vgpu::load_program(file_->text, path_);
  }
  std::string place(const Case& test) const {
    return path_ + ":" + std::to_string(test.line) + ": kernel '" + test.kernel + "'";
  }

  std::string path_;
  Result<PtxFile> file_ = PtxFile();
  Result<std::shared_ptr<const vgpu::Program>> program_ = nullptr;
};

TEST_P(Ptx, Runs) {
  for (const Case& test : file_->cases) {
    SCOPED_TRACE(place(test));
    if (test.load_error) {
      ASSERT_FALSE(program_) << "expected the module to be refused";
      EXPECT_NE(format_error(program_.error()).find(*test.load_error), std::string::npos)
          << format_error(program_.error());
      continue;
    }
    ASSERT_TRUE(program_) << format_error(program_.error());
    Outcome outcome;
    run(test, **program_, vgpu::Tier::interpreter, outcome);
  }
}

TEST_P(Ptx, RunsTheSameCompiled) {
  if (!program_) {
    ASSERT_TRUE(file_->cases.front().load_error) << format_error(program_.error());
    GTEST_SKIP() << "the module is meant to be refused";
  }
  if (!vgpu::find_plugin())
    return skip_for_want_of("the compiler, without which this was built");
  for (const Case& test : file_->cases) {
    if (test.load_error || test.sanitize)
      continue;
    SCOPED_TRACE(place(test));
    Outcome interpreted;
    Outcome compiled;
    run(test, **program_, vgpu::Tier::interpreter, interpreted);
    run(test, **program_, vgpu::Tier::compiled, compiled);
    if (HasFatalFailure())
      return;
    expect_equal(test, interpreted, compiled);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Ptx, testing::ValuesIn(discover()),
                         [](const auto& parameter) { return parameter.param; });

} // namespace
} // namespace kernevo::test
