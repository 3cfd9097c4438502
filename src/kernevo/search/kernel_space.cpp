#include "kernevo/kernel/source_scan.h"
#include "kernevo/search/search_space.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::search {

namespace {

Expression product(const std::vector<Expression>& factors) {
  std::string text;
  for (const Expression& factor : factors)
    text += fmt::format("{}({})", text.empty() ? "" : " * ", factor.text());
  return *Expression::parse(text);
}

// "demand <= limit", where the names it needs are known.
void add_limit(SpaceDescription& description, const Expression& demand, std::int64_t limit,
               const std::set<std::string>& known, const Place& place, std::string meaning) {
  const std::set<std::string> names = demand.names();
  if (names.empty() && demand.evaluate({}).value_or(limit + 1) <= limit)
    return;
  if (std::includes(known.begin(), known.end(), names.begin(), names.end()))
    description.constraints.push_back(
        {*Expression::parse(fmt::format("{} <= {}", demand.text(), limit), place), place,
         std::move(meaning)});
  else
    description.hints.push_back(demand);
}

std::set<std::string> words(std::string_view text) {
  std::set<std::string> found;
  std::string word;
  for (const char c : std::string(text) + ' ') {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')
      word += c;
    else if (!word.empty())
      found.insert(std::exchange(word, {}));
  }
  return found;
}

std::set<std::string> used_names(const KernelFile& file) {
  std::set<std::string> used;
  auto take = [&](const std::set<std::string>& names) { used.insert(names.begin(), names.end()); };
  const SourceScan scan = file.language == KernelLanguage::triton ? scan_python_source(file.source)
                                                                  : scan_cuda_source(file.source);
  for (const SourceToken& token : scan.tokens)
    if (token.kind == SourceToken::Kind::identifier)
      used.emplace(token.text);
  for (const ScratchDirective& scratch : file.scratch)
    for (const Expression& extent : scratch.shape)
      take(extent.names());
  for (const LaunchDirective& launch : file.launches) {
    for (const Expression& extent : launch.grid)
      take(extent.names());
    for (const Expression& extent : launch.block)
      take(extent.names());
    take(launch.shared.names());
    for (const std::string& argument : launch.template_arguments)
      take(words(argument));
    for (const std::string& argument : launch.arguments)
      take(words(argument));
  }
  // Options of the compiler and of Triton's launch that are parameters by their name alone.
  if (file.language == KernelLanguage::triton)
    used.insert({"num_warps", "num_stages", "num_ctas", "maxnreg"});
  return used;
}

} // namespace

Result<SearchSpace> kernel_space(const KernelFile& file, std::vector<FixedNames> problems,
                                 const std::optional<BlockLimits>& limits) {
  SpaceDescription description;
  std::set<std::string> known;
  for (const TuneParameter& parameter : file.parameters) {
    description.parameters.push_back({parameter.name, parameter.values});
    known.insert(parameter.name);
  }
  for (const Constraint& constraint : file.constraints) {
    const std::set<std::string> names = constraint.condition.names();
    const bool decidable =
        !problems.empty() || std::includes(known.begin(), known.end(), names.begin(), names.end());
    if (decidable)
      description.constraints.push_back({constraint.condition, constraint.place});
  }
  if (!problems.empty())
    for (const auto& [name, value] : problems.front())
      known.insert(name);
  for (const LaunchDirective& launch : file.launches) {
    description.hints.push_back(product(launch.grid));
    if (limits) { // what a constraint compares is a hint as well
      add_limit(description, product(launch.block), limits->threads, known, launch.place,
                "the threads a block may have");
      add_limit(description, product({launch.shared}), limits->shared_bytes, known, launch.place,
                "the bytes of shared memory a block may ask for");
    } else {
      description.hints.push_back(product(launch.block));
      description.hints.push_back(launch.shared);
    }
  }
  description.problems = std::move(problems);
  return SearchSpace::construct(std::move(description));
}

Result<void> check_parameters_used(const KernelFile& file) {
  const std::set<std::string> used = used_names(file);
  for (const TuneParameter& parameter : file.parameters)
    if (!used.contains(parameter.name))
      return fail(ErrorCode::input,
                  fmt::format("parameter '{}' is used neither by the source nor by a launch",
                              parameter.name),
                  parameter.place, "use it or remove its @tune line");
  return {};
}

} // namespace kernevo::search
