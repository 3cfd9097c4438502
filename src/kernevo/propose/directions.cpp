#include "kernevo/propose/directions.h"

#include "kernevo/explain/rules.h"

#include <set>

namespace kernevo::propose {

Result<std::vector<BottleneckDirection>> load_directions() {
  KERNEVO_TRY(rules, load_rules());
  std::vector<BottleneckDirection> directions;
  std::set<std::string> seen = {"stop"};
  for (const Rule& rule : rules)
    for (const RuleDirection& entry : rule.directions)
      if (seen.insert(entry.direction.name).second)
        directions.push_back(entry.direction);
  return directions;
}

Result<std::vector<std::string>> direction_names() {
  KERNEVO_TRY(directions, load_directions());
  std::vector<std::string> names;
  for (const BottleneckDirection& direction : directions)
    names.push_back(direction.name);
  return names;
}

Result<std::vector<Offer>> every_direction() {
  // Asked at every decision; the rules do not change while a program runs.
  static const Result<std::vector<std::string>> names = direction_names();
  if (!names)
    return tl::unexpected<Error>(names.error());
  std::vector<Offer> offers;
  for (const std::string& name : *names)
    offers.push_back({name, std::nullopt});
  offers.push_back({kOwnIdea, std::nullopt});
  return offers;
}

} // namespace kernevo::propose
