#include "scripted_kernels.h"

#include "kernevo/base/expression.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/task/load_task.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace kernevo {
namespace {

using Names = std::map<std::string, std::int64_t>;

constexpr std::int64_t kMicrosecond = 1000;

void put_number(Names& names, const std::string& name, std::string_view text) {
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc())
    names[name] = value;
}

// The lines NAME=VALUE that a fake build ends with.
Names parameters_of(const std::string& source) {
  Names names;
  std::istringstream lines(source.substr(source.rfind('}') + 1));
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find('='); at != std::string::npos)
      put_number(names, line.substr(0, at), std::string_view(line).substr(at + 1));
  return names;
}

Names names_of(const std::string& source, const RunRequest& request) {
  Names names = parameters_of(source);
  for (const Launch& launch : request.plan.launches)
    for (const LaunchArgument& argument : launch.arguments)
      if (const auto* value = std::get_if<std::int64_t>(&argument.value))
        names[argument.name] = *value;
  return names;
}

std::int64_t said(const std::string& source, const std::string& statement, const Names& names,
                  std::int64_t otherwise = 0) {
  const std::string begin = "  " + statement + "(";
  const std::size_t at = source.find(begin);
  if (at == std::string::npos)
    return otherwise;
  const std::size_t from = at + begin.size();
  const auto expression = Expression::parse(source.substr(from, source.find(");", from) - from));
  const auto value = expression ? expression->evaluate(names)
                                : Result<std::int64_t>(tl::unexpected(expression.error()));
  EXPECT_TRUE(value) << statement << " in\n" << source;
  return value.value_or(otherwise);
}

template <class T> T* elements(const TensorBinding& tensor, const Arena& arena) {
  return reinterpret_cast<T*>(arena.region(tensor.region).data()); // NOLINT: as a device sees it
}

RunOutcome run_add(const std::string& source, const RunRequest& request, const Arena& arena) {
  const Names names = names_of(source, request);
  if (said(source, "faults", names) != 0) {
    Finding finding;
    finding.kind = FindingKind::out_of_bounds;
    finding.message = "reads beyond the end of 'A'";
    return RunOutcome::stopped_by(finding);
  }
  RunOutcome outcome;
  if (said(source, "silent", names) != 0)
    return outcome;
  auto* a = elements<float>(request.tensors.at(0), arena);
  const auto* b = elements<const float>(request.tensors.at(1), arena);
  auto* c = elements<float>(request.tensors.at(2), arena);
  const std::int64_t n = names.at("N");
  for (std::int64_t i = 0; i < n; ++i)
    c[i] = a[i] + b[i];
  if (said(source, "wrong", names) != 0)
    c[n / 2] = c[n / 2] + 1000;
  if (said(source, "scribbles", names) != 0)
    a[0] = -a[0] - 1;
  return outcome;
}

} // namespace

std::string scripted_add(const std::string& statements, const std::string& directives) {
  std::string body;
  std::istringstream all(statements);
  for (std::string one; std::getline(all, one, ';');)
    if (const std::size_t at = one.find_first_not_of(" \n"); at != std::string::npos)
      body += "  " + one.substr(at) + ";\n";
  return fmt::format("{}__global__ void add(const float* A, const float* B, float* C, int N) {{\n"
                     "{}}}\n",
                     directives, body);
}

FakeScript scripted_kernels() {
  FakeScript script;
  script.refuses = [](const CompileRequest& request) -> std::optional<std::string> {
    Names names;
    for (const auto& [name, value] : request.macros)
      put_number(names, name, value);
    if (said(request.source, "refuses", names) != 0)
      return "refused by the script";
    return std::nullopt;
  };
  script.run = run_add;
  script.time = [](const std::string& source, const RunRequest& request) {
    return Nanoseconds{
        static_cast<double>(said(source, "takes", names_of(source, request), kMicrosecond))};
  };
  return script;
}

std::string scripted_task(const std::string& shapes, const std::string& more) {
  return fmt::format("op_name: add\nshapes: {}\ndtype: float32\ntarget_gpu: A100\n{}", shapes,
                     more);
}

std::shared_ptr<FakeDevice> fake_device(FakeScript script) {
  return std::make_shared<FakeDevice>(find_gpu("A100").value(), std::move(script));
}

std::shared_ptr<FakeDevice> noisy_device(const std::string& noise, std::uint64_t seed) {
  FakeScript script = scripted_kernels();
  script.noise = noise;
  script.seed = seed;
  return fake_device(std::move(script));
}

Task task_of(const std::string& text) {
  auto loaded = parse_task(text, "task.yaml");
  EXPECT_TRUE(loaded) << format_error(loaded.error());
  return loaded.value().task;
}

KernelFile kernel_of(const std::string& source, const std::string& file) {
  auto kernel = parse_kernel_file(source, file);
  EXPECT_TRUE(kernel) << format_error(kernel.error());
  return std::move(kernel).value();
}

} // namespace kernevo
