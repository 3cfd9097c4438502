#include "compare.h"

#include "kernevo/base/random.h"
#include "kernevo/model/finding.h"
#include "kernevo/model/gpu.h"
#include "kernevo/vgpu/machine.h"
#include "quick_compiler.h"
#include "random_instruction.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <vector>

namespace kernevo::test {
namespace {

constexpr std::byte kPoison{0xA5};

// Memory both tiers use one after the other, so that addresses are the same.
struct Buffers {
  explicit Buffers(const RandomProgram& program) {
    const std::size_t threads = program.threads();
    sizes = {kInputBytes, threads * kOutputPerThread, threads * kOwnPerThread,
             threads * 16 * kRegions, kAtomicBytes};
    for (std::size_t i = 0; i < sizes.size(); ++i)
      words[i].resize(sizes[i] / 16 + 1);
  }

  std::span<std::byte> bytes(std::size_t i) {
    return std::as_writable_bytes(std::span(words[i])).first(sizes[i]);
  }

  void fill(std::uint64_t seed) {
    Dice dice(seed ^ 0x1234567);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      std::fill(bytes(i).begin(), bytes(i).end(), i == 4 ? std::byte{0} : kPoison);
    const auto input = bytes(0);
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

  struct alignas(16) Quad {
    std::array<std::byte, 16> data;
  };
  std::array<std::size_t, 5> sizes{};
  std::array<std::vector<Quad>, 5> words;
};

struct Outcome {
  vgpu::LaunchResult result;
  std::array<std::vector<std::byte>, 5> memory;
  std::string problem;
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
  static constexpr std::array<const char*, 5> kNames = {"in", "out", "own", "soa", "atomics"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    vgpu::AllocationOptions allocation;
    allocation.read_only = i == 0;
    const auto pointer = machine.adopt(buffers.bytes(i), kNames.at(i), allocation);
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
  outcome.result = machine.launch(loaded, config);
  for (std::size_t i = 0; i < outcome.memory.size(); ++i)
    outcome.memory.at(i).assign(buffers.bytes(i).begin(), buffers.bytes(i).end());
  return outcome;
}

std::string describe(const std::optional<Finding>& fault) {
  if (!fault)
    return "no fault";
  return fmt::format("{} at line {}, block {} thread {}: {}", name_of(fault->kind), fault->ptx_line,
                     fmt::join(fault->block, ","), fmt::join(fault->thread, ","), fault->message);
}

std::optional<std::string> difference(const Outcome& reference, const Outcome& other) {
  const auto& a = reference.result;
  const auto& b = other.result;
  if (describe(a.fault) != describe(b.fault))
    return fmt::format("fault: {}\n   but: {}", describe(a.fault), describe(b.fault));
  if (a.fault)
    return std::nullopt; // how far the others came is not defined
  if (a.printed != b.printed)
    return "printed text: " + a.printed + " but: " + b.printed;
  static constexpr std::array<const char*, 5> kNames = {"in", "out", "own", "soa", "atomics"};
  for (std::size_t i = 0; i < reference.memory.size(); ++i) {
    const auto& left = reference.memory.at(i);
    const auto& right = other.memory.at(i);
    for (std::size_t at = 0; at + 4 <= left.size(); at += 4)
      if (std::memcmp(left.data() + at, right.data() + at, 4) != 0) {
        std::uint32_t x = 0;
        std::uint32_t y = 0;
        std::memcpy(&x, left.data() + at, 4);
        std::memcpy(&y, right.data() + at, 4);
        return fmt::format("'{}' at {} (of {}): 0x{:08X} but 0x{:08X}", kNames.at(i), at,
                           left.size(), x, y);
      }
  }
  const auto counter = [&](const char* name, std::uint64_t x,
                           std::uint64_t y) -> std::optional<std::string> {
    if (x == y)
      return std::nullopt;
    return fmt::format("{}: {} but {}", name, x, y);
  };
  for (const auto& found : {counter("warp instructions", a.statistics.warp_instructions,
                                    b.statistics.warp_instructions),
                            counter("thread instructions", a.statistics.thread_instructions,
                                    b.statistics.thread_instructions),
                            counter("load requests", a.statistics.memory.global_load_requests,
                                    b.statistics.memory.global_load_requests),
                            counter("load sectors", a.statistics.memory.global_load_sectors,
                                    b.statistics.memory.global_load_sectors),
                            counter("store requests", a.statistics.memory.global_store_requests,
                                    b.statistics.memory.global_store_requests),
                            counter("store sectors", a.statistics.memory.global_store_sectors,
                                    b.statistics.memory.global_store_sectors)})
    if (found)
      return found;
  return std::nullopt;
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
  set_optimised(program.seed % 3 == 0);
  const Outcome reference = run(program, **loaded, buffers, vgpu::Tier::interpreter, counting);
  const Outcome compiled = run(program, **loaded, buffers, vgpu::Tier::compiled, counting);
  if (!reference.problem.empty() || !compiled.problem.empty()) {
    made.refused = reference.problem + compiled.problem;
    return made;
  }
  made.faulted = reference.result.fault.has_value();
  made.warp_instructions = reference.result.statistics.warp_instructions;
  made.compiled_instructions = compiled.result.statistics.compiled_instructions;
  made.difference = difference(reference, compiled);
  if (!made.difference && !made.faulted && made.compiled_instructions == 0)
    made.difference = "nothing was compiled";
  return made;
}

} // namespace kernevo::test
