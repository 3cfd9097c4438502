#include "kernevo/rewrite/rewrite_list.h"
#include "kernevo/rewrite/thread_shape.h"

#include <algorithm>
#include <charconv>

namespace kernevo::rewrite {
namespace {

std::optional<int> literal(std::string_view text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::string values(int first, const std::vector<int>& others) {
  std::string text = std::to_string(first);
  for (const int value : others)
    if (value != first)
      text += fmt::format(" {}", value);
  return text;
}

// Every "N" in the size becomes the parameter; the shape's proof says it is ceil_div(..., N).
std::string with_parameter(const std::string& size, const std::string& number,
                           const std::string& parameter) {
  std::string result;
  std::size_t at = 0;
  const std::vector<Token> tokens = tokenise(size);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // Only as a divisor: the bound may hold the same number.
    const bool divisor = tokens[i].is(number) && i > 0 && tokens[i - 1].is(",") &&
                         i + 1 < tokens.size() && tokens[i + 1].is(")");
    result += size.substr(at, tokens[i].begin - at);
    result += divisor ? parameter : std::string(tokens[i].text);
    at = tokens[i].end();
  }
  return result + size.substr(at);
}

} // namespace

Outcome block_shape(Draft& draft, const Function& kernel) {
  const auto element = element_kernel(draft, kernel);
  if (!element)
    return tl::unexpected<Refusal>(element.error());
  const auto launches = draft.launches(kernel);
  if (std::find(kernel.attributes.begin(), kernel.attributes.end(), "__launch_bounds__") !=
      kernel.attributes.end())
    return refuse("{} has launch bounds", kernel.name);
  struct Change {
    char axis;
    int size;
    std::string number; // as written
    std::string name;
  };
  std::vector<Change> changes;
  for (const IndexVariable& index : element->shape.indices) {
    std::set<std::string> blocks;
    for (const LaunchDirective* launch : launches) {
      const LaunchAxis sizes = axis_of(*launch, index.axis);
      blocks.insert(sizes.block == nullptr ? "" : sizes.block->text());
    }
    const auto size = blocks.size() == 1 ? literal(*blocks.begin()) : std::nullopt;
    if (size && *size >= 1)
      changes.push_back({index.axis, *size, *blocks.begin(), ""});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.axis < b.axis; });
  if (changes.empty())
    return refuse("the block of {} is not a plain number", kernel.name);
  // Sizes that other axes keep.
  int fixed = 1;
  for (const LaunchDirective* launch : launches)
    for (std::size_t axis = 0; axis < launch->block.size(); ++axis)
      if (std::none_of(changes.begin(), changes.end(), [&](const Change& change) {
            return static_cast<std::size_t>(change.axis - 'x') == axis;
          })) {
        const auto size = literal(launch->block[axis].text());
        if (!size)
          return refuse("the block of {} is not a plain number", kernel.name);
        fixed = std::max(fixed, *size);
      }
  const bool flat = changes.size() == 1 && fixed == 1;
  for (Change& change : changes) {
    change.name = draft.fresh(fmt::format("BLOCK_{}", static_cast<char>(change.axis - 'x' + 'X')));
    draft.add_directive(fmt::format("@tune {} {}", change.name,
                                    flat ? values(change.size, {32, 64, 128, 256, 512, 1024})
                                    : change.axis == 'x'
                                        ? values(change.size, {8, 16, 32, 64, 128, 256})
                                        : values(change.size, {1, 2, 4, 8, 16, 32})));
  }
  if (!flat) {
    std::string product = fixed > 1 ? std::to_string(fixed) : "";
    for (const Change& change : changes)
      product += fmt::format("{}{}", product.empty() ? "" : " * ", change.name);
    draft.add_directive(fmt::format("@where {} <= 1024 && {} >= 32", product, product));
  }
  for (const Change& change : changes) {
    for (const LaunchDirective* launch : launches) {
      const LaunchAxis sizes = axis_of(*launch, change.axis);
      if (!draft.set(*sizes.block, change.name) ||
          !draft.set(*sizes.grid, with_parameter(sizes.grid->text(), change.number, change.name)))
        return refuse("the launch of {} is broken over lines", kernel.name);
    }
    // blockIdx.x * 256 + threadIdx.x in the kernel: there the number is the block, by the proof.
    const IndexVariable& index = *element->shape.find(change.axis);
    visit(*index.declarator->init, [&](const Expr& expr) {
      if (expr.is(Expr::Kind::number, change.number))
        draft.edits().replace(expr.begin, expr.end, change.name);
    });
  }
  return fmt::format("the block of {} is {}", kernel.name,
                     changes.size() == 1
                         ? changes[0].name
                         : fmt::format("{} x {}", changes[0].name, changes[1].name));
}

} // namespace kernevo::rewrite
