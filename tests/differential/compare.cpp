#include "compare.h"

#include "kernevo/base/random.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/vgpu/execute/machine.h"
#include "outcome.h"
#include "quick_compiler.h"
#include "random_instruction.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <vector>

namespace kernevo::test {
namespace {

constexpr std::byte kPoison{0xA5};

struct Buffers {
  explicit Buffers(const RandomProgram& program) {
    const std::size_t threads = program.threads();
    all.emplace_back("in", kInputBytes);
    all.emplace_back("out", threads * kOutputPerThread);
    all.emplace_back("own", threads * kOwnPerThread);
    all.emplace_back("soa", threads * 16 * kRegions);
    all.emplace_back("atomics", kAtomicBytes);
  }

  void fill(std::uint64_t seed) {
    Dice dice(seed ^ 0x1234567);
    for (Buffer& buffer : all)
      std::fill(buffer.bytes().begin(), buffer.bytes().end(),
                buffer.name() == "atomics" ? std::byte{0} : kPoison);
    const auto input = all.front().bytes();
    for (std::size_t at = 0; at + 8 <= input.size(); at += 8) {
      std::array<std::uint32_t, 2> pair{};
      switch (dice.below(5)) {
      case 0: {
        const std::uint64_t bits = random_f64(dice);
        std::memcpy(pair.data(), &bits, 8);
        break;
      }
      case 1:
        for (std::uint32_t& word : pair)
          word = random_f16(dice) + (static_cast<std::uint32_t>(random_f16(dice)) << 16U);
        break;
      case 2:
        for (std::uint32_t& word : pair)
          word = static_cast<std::uint32_t>(random_constant(dice, 32));
        break;
      default:
        for (std::uint32_t& word : pair)
          word = random_f32(dice);
      }
      std::memcpy(input.data() + at, pair.data(), 8);
    }
  }

  std::vector<Buffer> all;
};

template <class T> void put(std::vector<std::byte>& parameters, T value) {
  const std::size_t at = (parameters.size() + sizeof value - 1) / sizeof value * sizeof value;
  parameters.resize(at + sizeof value);
  std::memcpy(parameters.data() + at, &value, sizeof value);
}

Outcome run(const RandomProgram& program, const vgpu::Program& loaded, Buffers& buffers,
            vgpu::Tier tier, bool counting) {
  Outcome outcome;
  const auto gpu = find_gpu(program.gpu);
  if (!gpu) {
    outcome.problem = format_error(gpu.error());
    return outcome;
  }
  vgpu::MachineOptions options;
  options.cores = 1;
  options.tier = tier;
  options.count_memory = counting;
  options.instruction_budget = 20'000'000;
  vgpu::Machine machine(*gpu, options);
  buffers.fill(program.seed);
  vgpu::LaunchConfig config;
  config.kernel = "k";
  config.grid = program.grid;
  config.block = program.block;
  for (Buffer& buffer : buffers.all) {
    vgpu::AllocationOptions allocation;
    allocation.read_only = buffer.name() == "in";
    const auto pointer = machine.adopt(buffer.bytes(), buffer.name(), allocation);
    if (!pointer) {
      outcome.problem = format_error(pointer.error());
      return outcome;
    }
    put(config.parameters, *pointer);
  }
  const CounterRandom random(program.seed);
  put(config.parameters, static_cast<std::uint32_t>(random.bits(1) % 7));
  put(config.parameters, static_cast<float>(random.normal(2)));
  put(config.parameters, random.normal(3));
  put(config.parameters, static_cast<std::uint16_t>(random.bits(4)));
  outcome.add(machine.launch(loaded, config));
  for (Buffer& buffer : buffers.all)
    outcome.take(buffer);
  return outcome;
}

} // namespace

Comparison compare_tiers(const RandomProgram& program, const std::string& text) {
  Comparison made;
  const auto loaded = vgpu::load_program(text, "random.ptx");
  if (!loaded) {
    made.refused = format_error(loaded.error());
    return made;
  }
  Buffers buffers(program);
  // Counting and quick code are code of their own, so all kinds are met.
  const bool counting = program.seed % 4 != 0;
  const bool optimised = program.seed % 3 == 0;
  set_optimised(optimised);
  const Outcome reference = run(program, **loaded, buffers, vgpu::Tier::interpreter, counting);
  Outcome compiled = run(program, **loaded, buffers, vgpu::Tier::compiled, counting);
  if (compiled.statistics.compiled_instructions == 0 && !compiled.fault && !optimised) {
    // Too long to be compiled quickly.
    set_optimised(true);
    const auto afresh = vgpu::load_program(text, "random.ptx");
    compiled = run(program, **afresh, buffers, vgpu::Tier::compiled, counting);
  }
  if (!reference.problem.empty() || !compiled.problem.empty()) {
    made.refused = reference.problem + compiled.problem;
    return made;
  }
  made.faulted = reference.fault.has_value();
  made.warp_instructions = reference.statistics.warp_instructions;
  made.compiled_instructions = compiled.statistics.compiled_instructions;
  made.difference = difference(reference, compiled);
  if (!made.difference && !made.faulted && made.compiled_instructions == 0)
    made.difference = "nothing was compiled";
  return made;
}

} // namespace kernevo::test
