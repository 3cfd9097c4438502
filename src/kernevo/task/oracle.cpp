#include "kernevo/task/oracle.h"

#include "kernevo/task/oracle_parts.h"

#include <cassert>
#include <fmt/format.h>
#include <limits>

namespace kernevo {
namespace {

double wrap(DType dtype, std::uint64_t bits) {
  switch (dtype) {
  case DType::int8: return static_cast<std::int8_t>(bits);
  case DType::int32: return static_cast<std::int32_t>(bits);
  default: return static_cast<double>(static_cast<std::int64_t>(bits));
  }
}

std::vector<Expected> dispatch(const OracleContext& context, Points points) {
  switch (context.op.family) {
  case Family::unary:
  case Family::binary:
  case Family::axpy:
  case Family::bias:
  case Family::transpose:
  case Family::embedding: return expected_pointwise(context, points);
  case Family::matmul:
  case Family::matvec:
  case Family::conv: return expected_products(context, points);
  case Family::reduction:
  case Family::argmax:
  case Family::cumsum:
  case Family::pool: return expected_reductions(context, points);
  case Family::softmax:
  case Family::log_softmax:
  case Family::cross_entropy: return expected_rows(context, points);
  case Family::layer_norm:
  case Family::rms_norm:
  case Family::batch_norm:
  case Family::group_norm: return expected_norms(context, points);
  case Family::attention: return expected_attention(context, points);
  }
  return {};
}

Result<void> check_inputs(const Problem& problem, const OracleInputs& inputs) {
  if (inputs.size() != problem.buffers.size())
    return fail(ErrorCode::unsupported, fmt::format("the oracle got {} buffers for {}",
                                                    inputs.size(), problem.buffers.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const BufferSpec& buffer = problem.buffers[i];
    if (buffer.direction != Direction::out && inputs[i].bytes.size() < buffer.bytes())
      return fail(ErrorCode::unsupported,
                  fmt::format("the oracle got {} bytes of '{}', which has {}",
                              inputs[i].bytes.size(), buffer.name, buffer.bytes()));
  }
  return {};
}

} // namespace

Reader OracleContext::reader(const std::string& name) const {
  for (std::size_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].name == name)
      return {problem.buffers[i].dtype, inputs[i]};
  assert(false && "the catalogue names its own buffers");
  return {};
}

double OracleContext::scalar(const std::string& name) const {
  for (const ScalarSpec& scalar : problem.scalars)
    if (scalar.name == name)
      return scalar.dtype == DType::float64 ? scalar.value : static_cast<float>(scalar.value);
  assert(false && "the catalogue names its own scalars");
  return 0;
}

OracleContext make_context(const Problem& problem, const Operation& op, const OracleInputs& inputs,
                           DType result) {
  OracleContext context{problem, op, inputs, result};
  context.integers = !is_floating(problem.dtype);
  if (context.integers)
    return context;
  const bool wide = problem.dtype == DType::float64;
  context.u_result = unit_roundoff(result);
  // float64 answers are judged by a float64 oracle: its own roundings count too.
  context.u_sum = wide ? 0x1p-52 : 0x1p-24;
  context.fast = 8.0 * context.u_sum;
  switch (result) {
  case DType::float16: context.floor = 0x1p-24; break;
  case DType::float64: context.floor = 0x1p-1073; break;
  default: context.floor = 0x1p-126;
  }
  if (problem.allow_tf32 && problem.dtype == DType::float32)
    context.tf32 = 0x1p-9; // both factors may be truncated to ten bits, not rounded
  return context;
}

Expected finish(const OracleContext& context, Estimate estimate) {
  const double size = std::abs(estimate.value);
  if (size > largest_value(context.result) * (1.0 + context.u_result))
    return {std::copysign(std::numeric_limits<double>::infinity(), estimate.value), 0.0};
  if (!std::isfinite(estimate.value))
    return {estimate.value, 0.0};
  return {estimate.value, 2.0 * context.u_result * size + estimate.error + 2.0 * context.floor};
}

Expected finish_integer(const OracleContext& context, std::uint64_t wrapped) {
  return {wrap(context.result, wrapped), 0.0};
}

Expected finish_exact(const OracleContext& context, double value, bool flushable) {
  const bool small_floats = context.result == DType::float32 || context.result == DType::bfloat16;
  return {value, flushable && small_floats ? context.floor : 0.0};
}

Result<std::vector<Expected>> expected_values(const Problem& problem, const OracleInputs& inputs,
                                              std::size_t output,
                                              std::span<const std::int64_t> points) {
  const Operation* op = find_table_row(problem.operation);
  if (op == nullptr)
    return fail(ErrorCode::unsupported,
                fmt::format("operation '{}' has no oracle of its own", problem.operation),
                std::nullopt, "use the reference kernel as the oracle");
  if (output >= problem.buffers.size() || problem.buffers[output].direction == Direction::in)
    return fail(ErrorCode::unsupported, fmt::format("buffer {} is not an output", output));
  KERNEVO_CHECK(check_inputs(problem, inputs));
  const std::int64_t elements = problem.buffers[output].elements();
  for (const std::int64_t point : points)
    if (point < 0 || point >= elements)
      return fail(ErrorCode::unsupported,
                  fmt::format("point {} is outside '{}' of {} elements", point,
                              problem.buffers[output].name, elements));
  return dispatch(make_context(problem, *op, inputs, problem.buffers[output].dtype), points);
}

} // namespace kernevo
