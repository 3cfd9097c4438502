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
  const auto element = element_kernel(draft, kernel);
  if (!element)
    return tl::unexpected<Refusal>(element.error());
  const auto looped = index_to_loop_over(draft, *element);
  if (!looped)
    return tl::unexpected<Refusal>(looped.error());
  const IndexVariable& index = **looped;
  // How many elements a block steps over, as the index itself says it: (blockIdx * step + ...).
  const auto value = element->body.names->value(*index.declarator->init);
  const auto step =
      value ? value->coefficient(fmt::format("blockIdx.{}", index.axis)) : std::nullopt;
  if (!step)
    return refuse("'{}' of {} cannot be followed", index.name, kernel.name);
  const std::string blocks = draft.fresh("BLOCKS");
  const std::string block = draft.fresh("block");
  if (auto refusal = set_grids(draft, kernel, index.axis, [&](const std::string& grid) {
        return fmt::format("min({}, {})", grid, blocks);
      }))
    return tl::unexpected<Refusal>(*refusal);
  draft.add_directive(fmt::format("@tune {} {}", blocks, block_counts(draft, index.axis)));
  ElementLoop loop;
  loop.head =
      fmt::format("for (unsigned {0} = blockIdx.{1}; static_cast<long long>({0}) * {2} < {3}; "
                  "{0} += gridDim.{1})",
                  block, index.axis, step->text(), draft.text(*index.bound));
  loop.index = with_block(draft, index, block);
  wrap_in_loop(draft, element->body, index, loop);
  return fmt::format("{} blocks along {} loop over the elements of {}", blocks, index.axis,
                     kernel.name);
}

} // namespace kernevo::rewrite
