#include "kernevo/hardware/gpu_table.h"
#include "kernevo/rewrite/element_loop.h"
#include "kernevo/rewrite/rewrite_list.h"

#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

// Along x, whole multiples of the GPU's multiprocessors, so that no wave is half empty.
std::string block_counts(const Draft& draft, char axis) {
  if (axis != 'x')
    return "32 8 16 64 128";
  int processors = 108; // an A100, when the task's GPU is not known
  if (draft.context().task != nullptr)
    if (const auto gpu = find_gpu(draft.context().task->target_gpu))
      processors = gpu->multiprocessors;
  std::vector<int> counts;
  for (const int factor : {8, 1, 2, 4, 16, 32})
    counts.push_back(factor * processors);
  return fmt::format("{}", fmt::join(counts, " "));
}

} // namespace

Outcome grid_stride(Draft& draft, const Function& kernel) {
  const auto body = draft.body(kernel);
  if (!body)
    return refuse("{}", body.error().why);
  if (const std::string reason = cooperation(draft, *body); !reason.empty())
    return refuse("{}", reason);
  const auto shape = thread_shape(draft, *body);
  if (!shape)
    return refuse("{}", shape.error().why);
  const IndexVariable* index = shape->find('y');
  if (index == nullptr)
    index = shape->find('x');
  if (index == nullptr)
    return refuse("{} has no index along x or y", kernel.name);
  if (auto refusal = check_repeatable(draft, *body, *shape, *index))
    return tl::unexpected<Refusal>(*refusal);
  // How many elements a block steps over, as the index itself says it: (blockIdx * step + ...).
  const auto value = body->names->value(*index->declarator->init);
  const auto step =
      value ? value->coefficient(fmt::format("blockIdx.{}", index->axis)) : std::nullopt;
  if (!step)
    return refuse("'{}' of {} cannot be followed", index->name, kernel.name);
  const std::string blocks = draft.fresh("BLOCKS");
  const std::string block = draft.fresh("block");
  for (const LaunchDirective* launch : draft.launches(kernel)) {
    const Expression& grid = *axis_of(*launch, index->axis).grid;
    if (!draft.set(grid, fmt::format("min({}, {})", grid.text(), blocks)))
      return refuse("the launch of {} is broken over lines", kernel.name);
  }
  draft.add_directive(fmt::format("@tune {} {}", blocks, block_counts(draft, index->axis)));
  ElementLoop loop;
  loop.head =
      fmt::format("for (unsigned {0} = blockIdx.{1}; static_cast<long long>({0}) * {2} < {3}; "
                  "{0} += gridDim.{1})",
                  block, index->axis, step->text(), draft.text(*index->bound));
  loop.index = with_block(draft, *index, block);
  wrap_in_loop(draft, *body, *index, loop);
  return fmt::format("{} blocks along {} loop over the elements of {}", blocks, index->axis,
                     kernel.name);
}

} // namespace kernevo::rewrite
