#include "kernevo/model/task.h"

#include <fmt/format.h>

namespace kernevo {

std::int64_t BufferSpec::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape)
    count *= extent;
  return count;
}

const BufferSpec* Problem::find_buffer(const std::string& name) const {
  for (const BufferSpec& buffer : buffers)
    if (buffer.name == name)
      return &buffer;
  return nullptr;
}

Result<Problem> make_problem(const Task& task, const ShapeCase& shape) {
  Problem problem;
  problem.operation = task.operation;
  problem.dtype = task.dtype;
  problem.case_id = shape.id;
  problem.dims = shape.dims;
  problem.scalars = task.scalars;
  problem.tolerance = shape.tolerance ? shape.tolerance : task.tolerance;
  problem.allow_tf32 = task.allow_tf32;
  for (const ArgumentSpec& argument : task.arguments) {
    BufferSpec buffer{argument.name,    argument.direction,         argument.dtype, {},
                      argument.initial, argument.fixed_distribution};
    // 2^40 bytes is past every GPU; refusing more keeps the products below from overflowing.
    constexpr double limit = 0x1p40;
    double bytes = static_cast<double>(size_of(argument.dtype));
    for (const Expression& extent : argument.shape) {
      KERNEVO_TRY(value, extent.evaluate(shape.dims));
      if (value < 1)
        return fail(ErrorCode::input,
                    fmt::format("argument '{}' has extent {} = {} in case '{}'", argument.name,
                                extent.text(), value, shape.id),
                    extent.place(), "every extent must be at least 1");
      bytes *= static_cast<double>(value);
      if (bytes > limit)
        return fail(
            ErrorCode::input,
            fmt::format("argument '{}' is larger than 1 TiB in case '{}'", argument.name, shape.id),
            extent.place(), "use a smaller shape");
      buffer.shape.push_back(value);
    }
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

} // namespace kernevo
