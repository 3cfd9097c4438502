#include "kernevo/predict/tensor_rate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace kernevo {
namespace {

struct Shape {
  std::string_view name;
  double multiply_adds;
};

// As nvdisasm prints m, n and k of the warp-wide instructions.
constexpr std::array<Shape, 12> kShapes = {{{"884", 8 * 8 * 4},
                                            {"1684", 16 * 8 * 4},
                                            {"1688", 16 * 8 * 8},
                                            {"16816", 16 * 8 * 16},
                                            {"16832", 16 * 8 * 32},
                                            {"16864", 16 * 8 * 64},
                                            {"8816", 8 * 8 * 16},
                                            {"8832", 8 * 8 * 32},
                                            {"88128", 8 * 8 * 128},
                                            {"168128", 16 * 8 * 128},
                                            {"168256", 16 * 8 * 256},
                                            {"16168", 16 * 16 * 8}}};
constexpr double kWarpsOfAGroup = 4;

// "64x128x16": the four warps of a group execute it together.
double group_multiply_adds(std::string_view text) {
  double product = 1;
  for (int part = 0; part < 3; ++part) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{})
      return 0;
    product *= number;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (part < 2) {
      if (!text.starts_with('x'))
        return 0;
      text.remove_prefix(1);
    }
  }
  return product / kWarpsOfAGroup;
}

bool is_tensor(std::string_view opcode) {
  return opcode.find("MMA") != std::string_view::npos;
}

// Operations per second of the whole GPU.
double rate(const sass::SassInstruction& i, const Gpu& gpu) {
  const double half = gpu.tensor_fp16_tflops.value_or(gpu.fp16_tflops.value_or(1));
  if (i.opcode == "DMMA")
    return gpu.tensor_fp64_tflops.value_or(gpu.fp64_tflops.value_or(half / 16)) * 1e12;
  if (i.opcode.find("IMMA") != std::string::npos)
    return gpu.tensor_int8_tops.value_or(2 * half) * 1e12;
  if (i.has("TF32"))
    return gpu.tensor_tf32_tflops.value_or(half / 2) * 1e12;
  if (i.has("E4M3") || i.has("E5M2"))
    return gpu.tensor_int8_tops.value_or(2 * half) * 1e12;
  return half * 1e12;
}

} // namespace

double tensor_operations(const sass::SassInstruction& instruction) {
  if (!is_tensor(instruction.opcode))
    return 0;
  for (const std::string& modifier : instruction.modifiers) {
    for (const Shape& shape : kShapes)
      if (modifier == shape.name)
        return 2 * shape.multiply_adds;
    if (modifier.find('x') != std::string::npos)
      if (const double group = group_multiply_adds(modifier); group > 0)
        return 2 * group;
  }
  return 0;
}

double tensor_cycles(const sass::SassInstruction& instruction, const Gpu& gpu) {
  const double operations = tensor_operations(instruction);
  const double per_cycle = rate(instruction, gpu) / (gpu.multiprocessors * gpu.clock_ghz * 1e9);
  return per_cycle > 0 ? operations / per_cycle : 0;
}

} // namespace kernevo
