#include "kernevo/base/files.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/kernel_template.h"
#include "kernevo/task/operation.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace kernevo {
namespace {

constexpr const char* kKernelFile = "naive.cu";

// A shape of moderate size to begin with, per operation family.
const std::map<Family, std::vector<std::int64_t>> kFirstShapes = {
    {Family::matmul, {1024, 1024, 1024}},
    {Family::matvec, {4096, 4096}},
    {Family::unary, {1 << 24}},
    {Family::binary, {1 << 24}},
    {Family::axpy, {1 << 24}},
    {Family::reduction, {4096, 4096}},
    {Family::argmax, {4096, 4096}},
    {Family::batch_norm, {32, 64, 3136}},
    {Family::group_norm, {32, 64, 3136, 8}},
    {Family::embedding, {8192, 50257, 768}},
    {Family::attention, {2, 8, 1024, 64}},
};

std::vector<std::int64_t> first_shape(const Operation& op) {
  if (op.info.name == "batched_matmul")
    return {16, 512, 512, 512};
  if (op.info.name == "conv1d")
    return {16, 64, 4096, 128, 5};
  if (op.info.name == "conv2d")
    return {16, 64, 56, 56, 64, 3, 3};
  if (op.family == Family::pool)
    return op.info.name.ends_with("1d") ? std::vector<std::int64_t>{32, 64, 8192}
                                        : std::vector<std::int64_t>{32, 64, 112, 112};
  const auto found = kFirstShapes.find(op.family);
  return found != kFirstShapes.end() ? found->second : std::vector<std::int64_t>{4096, 4096};
}

std::string template_name(const Operation& op) {
  switch (op.family) {
  case Family::matmul: return "matmul";
  case Family::matvec: return "matvec";
  case Family::unary: return "unary";
  case Family::binary: return "binary";
  case Family::bias: return "bias";
  case Family::reduction: return "reduction";
  case Family::pool: return op.info.name.ends_with("1d") ? "pool1d" : "pool2d";
  default: return op.info.name; // the only member of its family, or told apart by its name
  }
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at != std::string::npos)
    text.replace(at, from.size(), to);
}

// One thread does what the default launch gives a block to do.
std::string starter_launch(const Operation& op, const std::string& name) {
  std::string launch = op.launch;
  replace(launch, "kernel", name);
  replace(launch, "<<<M, 256>>>", "<<<ceil_div(M, 64), 64>>>");
  replace(launch, "<<<N * G, 256>>>", "<<<ceil_div(N * G, 64), 64>>>");
  if (op.family == Family::attention)
    replace(launch, "causal)", "causal, weights)");
  return launch;
}

std::string starter_yaml(const Operation& op, DType dtype, const std::string& gpu) {
  std::string text = fmt::format("# {}\n", op.info.semantics);
  text +=
      fmt::format("op_name: {}\ndtype: {}\ntarget_gpu: {}\n", op.info.name, name_of(dtype), gpu);
  std::string attributes;
  for (const DimensionSpec& dimension : op.info.dimensions)
    if (dimension.attribute)
      attributes +=
          fmt::format("{}: {} # {}\n", dimension.name, dimension.fallback, dimension.meaning);
  for (const ScalarSpec& scalar : op.scalars)
    attributes += fmt::format("{}: {}\n", scalar.name, scalar.value);
  text += attributes;
  text += op.any_rank ? "shapes: # any tensor shape\n"
                      : fmt::format("shapes: # {}\n", fmt::join(size_names(op), ", "));
  text += fmt::format("  - [{}]\n", fmt::join(first_shape(op), ", "));
  text += fmt::format("reference_kernel: {}\n", kKernelFile);
  return text;
}

} // namespace

Result<Starter> make_starter(const std::string& operation, DType dtype, const std::string& gpu) {
  Task task;
  task.operation = operation;
  task.dtype = dtype;
  KERNEVO_CHECK(complete_from_catalogue(task));
  const Operation& op = *find_table_row(task.operation);
  KERNEVO_TRY(found, find_gpu(gpu));
  KERNEVO_TRY(share, share_folder());
  KERNEVO_TRY(text, read_text_file(share / "kernels" / (template_name(op) + ".cu")));
  const std::string name = op.info.name + "_kernel";
  KERNEVO_TRY(context, template_context(op.info.name, dtype, name));
  context.values["launch"] = starter_launch(op, name);
  KERNEVO_TRY(source, expand_template(text, context, template_name(op) + ".cu"));
  return Starter{starter_yaml(op, dtype, found.name), std::move(source), kKernelFile};
}

} // namespace kernevo
