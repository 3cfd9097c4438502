#include "kernevo/rewrite/element_loop.h"
#include "kernevo/rewrite/rewrite_list.h"

namespace kernevo::rewrite {

Outcome coarsen(Draft& draft, const Function& kernel) {
  const auto element = element_kernel(draft, kernel);
  if (!element)
    return tl::unexpected<Refusal>(element.error());
  const auto looped = index_to_loop_over(draft, *element);
  if (!looped)
    return tl::unexpected<Refusal>(looped.error());
  const IndexVariable& index = **looped;
  const std::string items = draft.fresh("ITEMS");
  const std::string item = draft.fresh("item");
  if (auto refusal = set_grids(draft, kernel, index.axis, [&](const std::string& grid) {
        return fmt::format("ceil_div({}, {})", grid, items);
      }))
    return tl::unexpected<Refusal>(*refusal);
  draft.add_directive(fmt::format("@tune {} 4 2 8 16", items));
  ElementLoop loop;
  loop.head = fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", item, items);
  loop.unrolled = true;
  loop.index =
      with_block(draft, index, fmt::format("(blockIdx.{} * {} + {})", index.axis, items, item));
  wrap_in_loop(draft, element->body, index, loop);
  return fmt::format("a thread of {} does {} elements along {}, a block apart", kernel.name, items,
                     index.axis);
}

} // namespace kernevo::rewrite
