#include "kernevo/propose/task_text.h"

#include "kernevo/propose/prompt_files.h"
#include "kernevo/propose/reply_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo::propose {
namespace {

constexpr std::size_t kShapesShown = 12;
constexpr std::size_t kSemanticsShown = 600;

std::string arguments_text(const Task& task) {
  std::vector<std::string> lines;
  for (const ArgumentSpec& argument : task.arguments) {
    std::vector<std::string> sizes;
    for (const Expression& size : argument.shape)
      sizes.push_back(size.text());
    const char* direction = argument.direction == Direction::in    ? "in"
                            : argument.direction == Direction::out ? "out"
                                                                   : "in and out";
    std::string line = fmt::format("- {} {}[{}], {}", name_of(argument.dtype), argument.name,
                                   fmt::join(sizes, ", "), direction);
    // Values whose meaning fixes them are part of the operation: indices, variances, masks.
    if (argument.fixed_distribution && (argument.initial.kind == Distribution::Kind::indices ||
                                        argument.initial.kind == Distribution::Kind::integers))
      line += ", integers within their valid range";
    lines.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string scalars_text(const Task& task) {
  std::vector<std::string> parts;
  for (const ScalarSpec& scalar : task.scalars)
    parts.push_back(fmt::format("{} {} = {}", name_of(scalar.dtype), scalar.name, scalar.value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string shapes_text(const Task& task) {
  std::vector<std::string> lines;
  for (const ShapeCase& shape : task.shapes) {
    if (lines.size() == kShapesShown) {
      lines.push_back(fmt::format("- and {} more", task.shapes.size() - kShapesShown));
      break;
    }
    std::string line = "-";
    for (const auto& [name, value] : shape.dims)
      line += fmt::format(" {}={}", name, value);
    if (shape.weight != 1.0)
      line += fmt::format(" (weight {})", shape.weight);
    lines.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// "(x, y, M, N)" of the default launch.
std::string call_text(const Task& task) {
  const std::size_t launch = task.default_launch.find(">>>");
  if (launch == std::string::npos)
    return "as the kernel to start from has them";
  return task.default_launch.substr(launch + 3);
}

std::string_view objective_text(Objective objective) {
  switch (objective) {
  case Objective::geometric_mean_speedup:
    return "the geometric mean of the speedups at these sizes";
  case Objective::weighted_mean_time: return "the weighted mean time over these sizes";
  case Objective::worst_case_time: return "the longest time among these sizes";
  }
  return "time";
}

bool tensor_cores(const Task& task, const Gpu& gpu) {
  switch (task.dtype) {
  case DType::float32: return task.allow_tf32 && gpu.tensor_tf32_tflops;
  case DType::float16: return gpu.tensor_fp16_tflops.has_value();
  case DType::bfloat16: return gpu.tensor_fp16_tflops && gpu.compute_capability >= 80;
  case DType::float64: return gpu.tensor_fp64_tflops.has_value();
  case DType::int8: return gpu.tensor_int8_tops.has_value();
  case DType::int32:
  case DType::int64: return false;
  }
  return false;
}

std::string precision_text(const Task& task, const Gpu& gpu) {
  std::string text;
  switch (task.dtype) {
  case DType::float32:
    text = task.allow_tf32
               ? "float32; matrix products may round their inputs to TF32, all else stays float32."
               : "strict float32: no TF32, no half precision anywhere, accumulate in float32.";
    break;
  case DType::float16:
  case DType::bfloat16:
    text = fmt::format("read and write {0}, compute and accumulate in float32, round once at the "
                       "end; no accumulation in {0}.",
                       name_of(task.dtype));
    break;
  case DType::float64: text = "all arithmetic in float64."; break;
  case DType::int8:
  case DType::int32:
  case DType::int64: text = "integers: the result is exact; sums in int32 or wider."; break;
  }
  return text + (tensor_cores(task, gpu) ? " Tensor cores are allowed." : " No tensor cores.");
}

std::string tolerance_text(const Task& task) {
  if (!is_floating(task.dtype))
    return "none, results are exact";
  if (task.tolerance)
    return fmt::format("{:.3g} relative to max(|expected|, twice the rms of the output)",
                       *task.tolerance);
  return "the rounding of the output and of a sum in the arithmetic above; nothing more";
}

std::string size_text(Bytes bytes) {
  constexpr std::uint64_t kibi = 1024;
  const std::uint64_t kib = bytes.value / kibi;
  if (kib >= kibi && kib % kibi == 0)
    return fmt::format("{} MiB", kib / kibi);
  return fmt::format("{} KiB", kib);
}

std::string gpu_text(const Gpu& gpu, const Task& task) {
  const DType dtype = task.dtype;
  // peak_operations_per_second never counts on TF32.
  const double peak = dtype == DType::float32 && task.allow_tf32 && gpu.tensor_tf32_tflops
                          ? *gpu.tensor_tf32_tflops
                          : gpu.peak_operations_per_second(dtype) / 1e12;
  std::string text =
      fmt::format("{}, sm_{}, {} SMs", gpu.name, gpu.compute_capability, gpu.multiprocessors);
  text += fmt::format("; per SM {} threads, {} registers, {} shared memory",
                      gpu.max_threads_per_multiprocessor, gpu.registers_per_multiprocessor,
                      size_text(gpu.shared_per_multiprocessor));
  text += fmt::format("; per block {} threads, {} shared memory ({} dynamic)",
                      gpu.max_threads_per_block, size_text(gpu.shared_per_block),
                      size_text(gpu.shared_per_block_optin));
  text += fmt::format("; {} registers per thread; L2 {}; DRAM {:.0f} GB/s; peak {:.4g} {} for {}",
                      gpu.max_registers_per_thread, size_text(gpu.l2_cache), gpu.dram_gbps, peak,
                      is_floating(dtype) ? "TFLOP/s" : "TOP/s",
                      task.allow_tf32 && dtype == DType::float32 ? "TF32" : name_of(dtype));
  return text;
}

} // namespace

TemplateContext task_context(const Task& task, const Gpu& gpu,
                             std::optional<Nanoseconds> roofline) {
  TemplateContext context = PromptFiles::blank("task");
  auto& values = context.values;
  // The reference's name says what a task of one's own does.
  const std::string own = task.default_launch.substr(0, task.default_launch.find("<<<"));
  values["operation"] = clean_line(task.operation == "custom" ? own : task.operation, 100);
  values["dtype"] = name_of(task.dtype);
  values["semantics"] = clean_line(task.semantics, kSemanticsShown);
  values["arguments"] = arguments_text(task);
  values["scalars"] = scalars_text(task);
  values["call"] = call_text(task);
  values["shapes"] = shapes_text(task);
  values["objective"] = objective_text(task.objective);
  if (task.target_us)
    values["target"] = fmt::format("{:.4g}", *task.target_us);
  values["precision"] = precision_text(task, gpu);
  values["tolerance"] = tolerance_text(task);
  values["gpu"] = gpu_text(gpu, task);
  if (roofline)
    values["roofline"] = fmt::format("{:.4g}", roofline->value / 1000);
  for (auto& [flag, set] : context.flags)
    set = !values[flag].empty();
  return context;
}

} // namespace kernevo::propose
