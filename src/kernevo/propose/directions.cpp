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

} // namespace kernevo::propose
