#include "kernevo/rewrite/element_loop.h"
#include "kernevo/rewrite/rewrite_list.h"

namespace kernevo::rewrite {

Outcome coarsen(Draft& draft, const Function& kernel) {
  const auto body = draft.body(kernel);
  if (!body)
    return refuse("{}", body.error().why);
  if (const std::string reason = cooperation(draft, *body); !reason.empty())
    return refuse("{}", reason);
  const auto shape = thread_shape(draft, *body);
  if (!shape)
    return refuse("{}", shape.error().why);
  // Along y where there is one: neighbours along x stay neighbours in memory.
  const IndexVariable* index = shape->find('y');
  if (index == nullptr)
    index = shape->find('x');
  if (index == nullptr)
    return refuse("{} has no index along x or y", kernel.name);
  if (auto refusal = check_repeatable(draft, *body, *shape, *index))
    return tl::unexpected<Refusal>(*refusal);
  const std::string items = draft.fresh("ITEMS");
  const std::string item = draft.fresh("item");
  for (const LaunchDirective* launch : draft.launches(kernel)) {
    const Expression& grid = *axis_of(*launch, index->axis).grid;
    if (!draft.set(grid, fmt::format("ceil_div({}, {})", grid.text(), items)))
      return refuse("the launch of {} is broken over lines", kernel.name);
  }
  draft.add_directive(fmt::format("@tune {} 4 2 8 16", items));
  ElementLoop loop;
  loop.head = fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", item, items);
  loop.unrolled = true;
  loop.index =
      with_block(draft, *index, fmt::format("(blockIdx.{} * {} + {})", index->axis, items, item));
  wrap_in_loop(draft, *body, *index, loop);
  return fmt::format("a thread of {} does {} elements along {}, a block apart", kernel.name, items,
                     index->axis);
}

} // namespace kernevo::rewrite
