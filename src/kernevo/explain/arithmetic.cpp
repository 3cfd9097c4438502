#include "kernevo/explain/arithmetic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace kernevo {
namespace {

std::vector<std::string_view> parts_of(std::string_view opcode) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t dot = opcode.find('.');
    parts.push_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos)
      return parts;
    opcode.remove_prefix(dot + 1);
  }
}

// m * n * k of "m16n8k16".
std::optional<double> volume_of(std::string_view shape) {
  double volume = 1;
  for (const char axis : {'m', 'n', 'k'}) {
    if (shape.empty() || shape.front() != axis)
      return std::nullopt;
    int size = 0;
    const auto [end, problem] =
        std::from_chars(shape.data() + 1, shape.data() + shape.size(), size);
    if (problem != std::errc())
      return std::nullopt;
    volume *= size;
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
  }
  return shape.empty() ? std::optional(volume) : std::nullopt;
}

std::string_view tensor_unit(std::string_view type) {
  if (type == "tf32")
    return "tensor tf32";
  if (type == "f64")
    return "tensor fp64";
  if (type == "f16" || type == "bf16")
    return "tensor fp16";
  return "tensor int8"; // and the 8-bit floats, which run at its rate
}

Operations matrix_operations(const std::vector<std::string_view>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto volume = volume_of(parts[i]);
    if (!volume)
      continue;
    // The types end the name: D.A.B.C; wgmma has no C; wmma of half precision names D and C alone.
    const bool group = parts.front() == "wgmma";
    const bool half = parts.front() == "wmma" && parts.size() - i - 1 < 4;
    const std::string_view input = half ? "f16" : parts[parts.size() - (group ? 2 : 3)];
    return {tensor_unit(input), 2 * *volume / (group ? 4 : 1), true};
  }
  return {};
}

} // namespace

Operations operations_of(std::string_view opcode) {
  const std::vector<std::string_view> parts = parts_of(opcode);
  const std::string_view head = parts.front();
  if (head == "mma" ||
      (parts.size() > 2 && (head == "wmma" || head == "wgmma") && parts[1].starts_with("mma")))
    return matrix_operations(parts);
  constexpr std::array<std::string_view, 12> once = {"add", "sub", "mul",   "div", "sqrt", "rcp",
                                                     "ex2", "lg2", "rsqrt", "sin", "cos",  "tanh"};
  const bool twice = head == "fma" || head == "mad";
  if (!twice && std::find(once.begin(), once.end(), head) == once.end())
    return {};
  const double count = twice ? 2 : 1;
  const std::string_view type = parts.back();
  if (type == "f32")
    return {"fp32", count};
  if (type == "f32x2")
    return {"fp32", 2 * count};
  if (type == "f64")
    return {"fp64", count};
  if (type == "f16" || type == "bf16")
    return {"fp16", count};
  if (type == "f16x2" || type == "bf16x2")
    return {"fp16", 2 * count};
  return {};
}

Arithmetic count_arithmetic(const LaunchCounts& counts) {
  Arithmetic work;
  if (counts.blocks.empty())
    return work;
  const double scale =
      double(counts.grid[0]) * counts.grid[1] * counts.grid[2] / counts.represented();
  for (const InstructionCounts& i : counts.instructions)
    if (const Operations one = operations_of(i.opcode); !one.unit.empty())
      work[std::string(one.unit)] +=
          one.count * scale * static_cast<double>(one.of_warp ? i.executions : i.threads);
  return work;
}

double peak_of(const Gpu& gpu, std::string_view unit) {
  const auto tera = [&]() -> std::optional<double> {
    if (unit == "fp16") // where it has no rate of its own it runs as float32
      return gpu.fp16_tflops ? gpu.fp16_tflops : gpu.fp32_tflops;
    if (unit == "fp32")
      return gpu.fp32_tflops;
    if (unit == "fp64")
      return gpu.fp64_tflops;
    if (unit == "tensor fp16")
      return gpu.tensor_fp16_tflops;
    if (unit == "tensor tf32")
      return gpu.tensor_tf32_tflops;
    if (unit == "tensor fp64")
      return gpu.tensor_fp64_tflops;
    if (unit == "tensor int8")
      return gpu.tensor_int8_tops;
    return std::nullopt;
  };
  return tera().value_or(0) * 1e12;
}

} // namespace kernevo
