// Runs every tests/ptx/*.ptx on the virtual GPU: each file is one test.
#include "kernevo/model/finding.h"
#include "kernevo/model/gpu.h"
#include "kernevo/vgpu/machine.h"
#include "ptx_case.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kernevo::test {
namespace {

constexpr std::byte kPoison{0xA5};
constexpr int kMostMismatchesShown = 8;

std::vector<std::string> discover() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(KERNEVO_TEST_DATA))
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

// Puts the argument's bytes into the parameter buffer; buffers are allocated first.
void bind(vgpu::Machine& machine, const Argument& argument, vgpu::LaunchConfig& config,
          const vgpu::KernelInfo::Parameter& parameter,
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
  ASSERT_EQ(parameter.size, 8U) << "parameter '" << argument.name << "' must be .u64";
  const std::size_t count = std::max(argument.initial.size(), argument.expected.size());
  const auto pointer = machine.allocate(count * size_of(argument.element), argument.name);
  ASSERT_TRUE(pointer) << format_error(pointer.error());
  const auto bytes = machine.bytes(*pointer);
  std::fill(bytes.begin(), bytes.end(), kPoison);
  for (std::size_t i = 0; i < argument.initial.size(); ++i)
    store(bytes.data() + i * size_of(argument.element), argument.element, argument.initial[i].bits);
  std::memcpy(config.parameters.data() + parameter.offset, &*pointer, sizeof(*pointer));
  pointers.push_back(*pointer);
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

void run(const Case& test, const vgpu::Program& program) {
  const auto gpu = find_gpu(test.gpu);
  ASSERT_TRUE(gpu) << format_error(gpu.error());
  vgpu::MachineOptions options;
  options.sanitize = test.sanitize;
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
  ASSERT_EQ(info->parameters.size(), test.arguments.size()) << "arguments and parameters differ";
  config.grid = test.grid;
  config.block = test.block;
  config.dynamic_shared = test.shared;
  config.cooperative = test.cooperative;
  config.parameters.resize(info->parameter_bytes);
  std::vector<vgpu::DevicePointer> pointers;
  for (std::size_t i = 0; i < test.arguments.size(); ++i) {
    bind(machine, test.arguments[i], config, info->parameters[i], pointers);
    if (testing::Test::HasFatalFailure())
      return;
  }

  const vgpu::LaunchResult result = machine.launch(program, config);
  if (test.fault) {
    ASSERT_TRUE(result.fault) << "expected the fault " << *test.fault << ", the launch succeeded";
    EXPECT_EQ(name_of(result.fault->kind), *test.fault) << result.fault->message;
  } else {
    ASSERT_FALSE(result.fault) << name_of(result.fault->kind) << ": " << result.fault->message;
  }
  if (test.prints) {
    EXPECT_EQ(result.printed, *test.prints);
  }
  for (std::size_t i = 0; i < test.arguments.size(); ++i)
    if (test.arguments[i].role == Role::out || test.arguments[i].role == Role::inout)
      compare(machine, test, test.arguments[i], pointers[i]);
}

class Ptx : public testing::TestWithParam<std::string> {};

TEST_P(Ptx, Runs) {
  const std::string path = std::string(KERNEVO_TEST_DATA) + "/" + GetParam() + ".ptx";
  const auto file = read_ptx_file(path);
  ASSERT_TRUE(file) << format_error(file.error());
  const auto program = vgpu::load_program(file->text, path);
  for (const Case& test : file->cases) {
    SCOPED_TRACE(path + ":" + std::to_string(test.line) + ": kernel '" + test.kernel + "'");
    if (test.load_error) {
      ASSERT_FALSE(program) << "expected the module to be refused";
      EXPECT_NE(format_error(program.error()).find(*test.load_error), std::string::npos)
          << format_error(program.error());
      continue;
    }
    ASSERT_TRUE(program) << format_error(program.error());
    run(test, **program);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Ptx, testing::ValuesIn(discover()),
                         [](const auto& parameter) { return parameter.param; });

} // namespace
} // namespace kernevo::test
