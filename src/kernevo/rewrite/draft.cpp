#include "kernevo/rewrite/draft.h"

#include "kernevo/kernel/directive_text.h"
#include "kernevo/kernel/launch_syntax.h"
#include "kernevo/kernel/reserved_names.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

void take_names(std::string_view text, std::set<std::string>& taken) {
  for (const Token& token : tokenise(text))
    if (token.is_name())
      taken.emplace(token.text);
}

} // namespace

Draft::Draft(const KernelFile& kernel, const RewriteContext& context)
    : kernel_(kernel), context_(context), code_(kernel) {
  taken_.insert(code_.identifiers().begin(), code_.identifiers().end());
  for (const TuneParameter& parameter : kernel.parameters)
    taken_.insert(parameter.name);
  for (const ScratchDirective& scratch : kernel.scratch)
    taken_.insert(scratch.name);
  for (const LaunchDirective& launch : kernel.launches)
    for (const std::string& argument : launch.arguments)
      take_names(argument, taken_);
  if (context.task == nullptr)
    return;
  const Task& task = *context.task;
  for (const ArgumentSpec& argument : task.arguments)
    taken_.insert(argument.name);
  for (const ScalarSpec& scalar : task.scalars)
    taken_.insert(scalar.name);
  for (const ShapeCase& shape : task.shapes)
    for (const auto& [name, value] : shape.dims)
      taken_.insert(name);
  if (!kernel.launches.empty() || task.default_launch.empty() || kernel.kernels.size() != 1 ||
      !kernel.template_kernels.empty())
    return;
  const DirectiveText text(task.default_launch, Place{task.file, 1, 1});
  if (auto launch = parse_launch(text, {0, task.default_launch.size()}, kernel.language)) {
    launch->kernel = kernel.kernels[0];
    default_launch_.push_back(std::move(*launch));
  }
}

OrRefusal<Body> Draft::body(const Function& function) const {
  const auto same = std::count_if(code_.kernels().begin(), code_.kernels().end(),
                                  [&](const Function& f) { return f.name == function.name; });
  if (same > 1)
    return refuse("{} is defined more than once", function.name);
  if (!function.simple_parameters)
    return refuse("the parameters of {} are not plain", function.name);
  ParsedBody parsed = parse_body(code_, function);
  if (!parsed.block)
    return refuse("{}", parsed.problem);
  Body body;
  body.function = &function;
  body.names = std::make_unique<Names>(code_, function, *parsed.block);
  body.block = std::move(parsed.block);
  return body;
}

std::vector<const LaunchDirective*> Draft::launches(const Function& function) const {
  std::vector<const LaunchDirective*> found;
  for (const auto* list : {&kernel_.launches, &default_launch_})
    for (const LaunchDirective& launch : *list) {
      const std::size_t colons = launch.kernel.rfind("::");
      if ((colons == std::string::npos ? launch.kernel : launch.kernel.substr(colons + 2)) ==
          function.name)
        found.push_back(&launch);
    }
  return found;
}

std::size_t Draft::offset(const Place& place) const {
  std::size_t begin = 0;
  for (int line = kernel_.first_line; line < place.line && begin < source().size(); ++line) {
    const std::size_t newline = source().find('\n', begin);
    if (newline == std::string_view::npos)
      return source().size();
    begin = newline + 1;
  }
  return std::min(begin + static_cast<std::size_t>(std::max(place.column - 1, 0)), source().size());
}

bool Draft::set(const Expression& size, const std::string& text) {
  launch_changed_ = true;
  if (kernel_.launches.empty()) {
    default_sizes_[&size] = text;
    return true;
  }
  const std::size_t begin = offset(size.place());
  if (!source().substr(begin).starts_with(size.text()))
    return false; // broken over lines
  edits_.replace(begin, begin + size.text().size(), text);
  return true;
}

std::string Draft::fresh(std::string_view wanted) {
  std::string name(wanted);
  for (int i = 2; taken_.contains(name) || is_reserved_name(name); ++i)
    name = fmt::format("{}_{}", wanted, i);
  taken_.insert(name);
  return name;
}

std::string Draft::default_launch_text() const {
  const LaunchDirective& launch = default_launch_[0];
  const auto sizes = [&](const std::vector<Expression>& list) {
    std::vector<std::string> parts;
    for (const Expression& size : list) {
      const auto found = default_sizes_.find(&size);
      parts.push_back(found == default_sizes_.end() ? size.text() : found->second);
    }
    return parts.size() == 1 ? parts[0] : fmt::format("dim3({})", fmt::join(parts, ", "));
  };
  const std::string shared =
      launch.shared.text() == "0" ? "" : fmt::format(", {}", launch.shared.text());
  return fmt::format("@launch {}{}<<<{}, {}{}>>>({})", launch.cooperative ? "cooperative " : "",
                     launch.kernel, sizes(launch.grid), sizes(launch.block), shared,
                     fmt::join(launch.arguments, ", "));
}

// Before the first launch; without one, after the comment the file begins with.
std::size_t Draft::directives_place() const {
  if (!kernel_.launches.empty())
    return code_.line_start(offset(kernel_.launches[0].place));
  std::size_t at = 0;
  while (source().substr(at).starts_with("//")) {
    const std::size_t newline = source().find('\n', at);
    if (newline == std::string_view::npos)
      break;
    at = newline + 1;
  }
  return at;
}

std::string Draft::finish() {
  std::string lines;
  for (const std::string& directive : directives_)
    lines += fmt::format("// {}\n", directive);
  if (launch_changed_ && kernel_.launches.empty())
    lines += fmt::format("// {}\n", default_launch_text());
  if (!lines.empty())
    edits_.insert(directives_place(), lines);
  return edits_.apply(source());
}

} // namespace kernevo::rewrite
