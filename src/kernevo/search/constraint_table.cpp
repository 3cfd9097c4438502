#include "kernevo/search/constraint_table.h"

namespace kernevo::search {

namespace {

// 4 MB a constraint. A constraint over more combinations than this is evaluated each time.
constexpr std::size_t kMaxTable = std::size_t{1} << 22U;

} // namespace

ConstraintTable::ConstraintTable(const SpaceConstraint& constraint,
                                 const std::vector<Parameter>& parameters,
                                 const std::vector<FixedNames>& problems)
    : constraint_(&constraint), parameters_(&parameters), problems_(&problems) {
  const std::set<std::string> used = constraint.condition.names();
  std::size_t entries = 1;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!used.contains(parameters[i].name))
      continue;
    names_.push_back(i);
    entries = entries > kMaxTable ? entries : entries * parameters[i].values.size();
  }
  if (entries <= kMaxTable)
    answers_.assign(entries, Answer::unknown);
}

Result<bool> ConstraintTable::holds(std::span<const std::uint16_t> row) {
  if (answers_.empty())
    return evaluate(row);
  std::size_t entry = 0;
  for (const std::size_t name : names_)
    entry = entry * (*parameters_)[name].values.size() + row[name];
  Answer& answer = answers_[entry];
  if (answer == Answer::unknown) {
    KERNEVO_TRY(value, evaluate(row));
    answer = value ? Answer::yes : Answer::no;
  }
  return answer == Answer::yes;
}

Result<bool> ConstraintTable::evaluate(std::span<const std::uint16_t> row) const {
  for (const FixedNames& fixed : *problems_) {
    FixedNames values = fixed;
    for (const std::size_t name : names_)
      values[(*parameters_)[name].name] = (*parameters_)[name].values[row[name]];
    KERNEVO_TRY(value, constraint_->condition.evaluate(values));
    if (value == 0)
      return false;
  }
  return true;
}

} // namespace kernevo::search
