// What the tests of sm_90a instructions share.
#pragma once

#include "harness.h"

namespace kernevo::vgpu::testing {

// A machine of compute capability 9.0 with a program loaded.
class HopperBench {
public:
  explicit HopperBench(const std::string& ptx, bool sanitize = false)
      : machine(gpu(), options(sanitize)) {
    auto loaded = load_program(ptx, "test.ptx");
    if (!loaded)
      ADD_FAILURE() << format_error(loaded.error());
    else
      program = *loaded;
  }

  template <class T> DevicePointer buffer(const std::string& name, const std::vector<T>& content) {
    auto pointer = machine.allocate(content.size() * sizeof(T), name);
    EXPECT_TRUE(pointer.has_value());
    std::memcpy(machine.bytes(*pointer).data(), content.data(), content.size() * sizeof(T));
    return *pointer;
  }
  template <class T> std::vector<T> content(DevicePointer pointer) {
    const auto bytes = machine.bytes(pointer);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  LaunchResult launch(std::uint32_t threads, const Parameters& parameters,
                      std::uint32_t dynamic_shared = 0,
                      std::array<std::uint32_t, 3> grid = {1, 1, 1},
                      const std::string& kernel = "k") {
    LaunchConfig config;
    config.kernel = kernel;
    config.grid = grid;
    config.cluster = cluster;
    config.block = {threads, 1, 1};
    config.parameters = parameters.bytes();
    config.dynamic_shared = dynamic_shared;
    if (!program)
      return {};
    return machine.launch(*program, config);
  }

  Machine machine;
  std::shared_ptr<const Program> program;
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};

private:
  static Gpu gpu() {
    Gpu made = small_gpu();
    made.compute_capability = 90;
    made.shared_per_multiprocessor = {233472};
    made.shared_per_block_optin = {232448};
    return made;
  }
  static MachineOptions options(bool sanitize) {
    MachineOptions made;
    made.sanitize = sanitize;
    return made;
  }
};

inline std::string hopper_header() {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n";
}

} // namespace kernevo::vgpu::testing
