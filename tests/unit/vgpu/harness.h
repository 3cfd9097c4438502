// Runs PTX snippets on a small virtual GPU.
#pragma once

#include "kernevo/vgpu/execute/machine.h"

#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <type_traits>
#include <vector>

namespace kernevo::vgpu::testing {

inline Gpu small_gpu() {
  Gpu gpu;
  gpu.name = "TestGPU";
  gpu.compute_capability = 80;
  gpu.multiprocessors = 4;
  gpu.max_threads_per_block = 1024;
  gpu.max_threads_per_multiprocessor = 2048;
  gpu.max_blocks_per_multiprocessor = 32;
  gpu.registers_per_multiprocessor = 65536;
  gpu.registers_per_block = 65536;
  gpu.max_registers_per_thread = 255;
  gpu.register_allocation_unit = 256;
  gpu.warp_allocation_granularity = 4;
  gpu.shared_per_multiprocessor = {167936};
  gpu.shared_per_block = {49152};
  gpu.shared_per_block_optin = {166912};
  gpu.shared_reserved_per_block = {1024};
  gpu.shared_allocation_unit = {128};
  return gpu;
}

// A kernel's parameter buffer, each value at its natural alignment.
class Parameters {
public:
  template <class T> Parameters& add(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = (bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  std::vector<std::byte> bytes() const { return bytes_; }

private:
  std::vector<std::byte> bytes_;
};

class Bench {
public:
  explicit Bench(const std::string& ptx, MachineOptions options = {})
      : machine(small_gpu(), options) {
    auto loaded = load_program(ptx, "test.ptx");
    if (!loaded)
      ADD_FAILURE() << format_error(loaded.error());
    else
      program = *loaded;
  }

  template <class T>
  DevicePointer buffer(const std::string& name, const std::vector<T>& content,
                       AllocationOptions options = {}) {
    auto pointer = machine.allocate(content.size() * sizeof(T), name, options);
    EXPECT_TRUE(pointer.has_value());
    if (options.initialized)
      std::memcpy(machine.bytes(*pointer).data(), content.data(), content.size() * sizeof(T));
    return *pointer;
  }

  template <class T> std::vector<T> content(DevicePointer pointer) {
    const auto bytes = machine.bytes(pointer);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  LaunchResult launch(const std::string& kernel, std::array<std::uint32_t, 3> grid,
                      std::array<std::uint32_t, 3> block, const Parameters& parameters,
                      std::uint32_t dynamic_shared = 0) {
    LaunchConfig config;
    config.kernel = kernel;
    config.grid = grid;
    config.block = block;
    config.parameters = parameters.bytes();
    config.dynamic_shared = dynamic_shared;
    config.cooperative = cooperative;
    config.registers_per_thread = registers;
    if (!program)
      return {};
    return machine.launch(*program, config);
  }

  Machine machine;
  std::shared_ptr<const Program> program;
  bool cooperative = false;
  std::optional<int> registers;
};

inline std::string header() {
  return ".version 8.0\n.target sm_80\n.address_size 64\n";
}

// A kernel k(u64 out, ...) with generous registers; the body starts with the linear thread number
// in %r0, the block in %r1 and the address of out[global thread] (4 bytes each) in %rd1.
inline std::string kernel(const std::string& body, const std::string& before = "",
                          const std::string& more_parameters = "") {
  return header() + before + "\n.visible .entry k(.param .u64 out" + more_parameters + R"()
{
  .reg .pred %p<20>;
  .reg .b16 %h<20>;
  .reg .b32 %r<60>;
  .reg .f32 %f<20>;
  .reg .b64 %rd<40>;
  .reg .f64 %fd<10>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r3, %r1, %r2, %r0;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd0, %rd0;
  mul.wide.u32 %rd1, %r3, 4;
  add.u64 %rd1, %rd0, %rd1;
)" + body +
         "\n}\n";
}

inline std::string fault_text(const LaunchResult& result) {
  return result.fault ? std::string(name_of(result.fault->kind)) + ": " + result.fault->message
                      : "no fault";
}

} // namespace kernevo::vgpu::testing

#define EXPECT_FAULT(result, expected)                                                             \
  do {                                                                                             \
    ASSERT_TRUE((result).fault.has_value()) << "no fault";                                         \
    EXPECT_EQ((result).fault->kind, FindingKind::expected)                                         \
        << ::kernevo::vgpu::testing::fault_text(result);                                           \
  } while (false)
#define ASSERT_RUNS(result)                                                                        \
  ASSERT_FALSE((result).fault.has_value()) << ::kernevo::vgpu::testing::fault_text(result)
