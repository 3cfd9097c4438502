// A constraint that remembers its answers: it is evaluated once for each combination of the
// parameters it names, however many configurations share them.
#pragma once

#include "kernevo/search/search_space.h"

namespace kernevo::search {

class ConstraintTable {
public:
  // `names` are the positions of the parameters it uses.
  ConstraintTable(const SpaceConstraint& constraint, const std::vector<Parameter>& parameters,
                  const std::vector<FixedNames>& problems);

  const std::vector<std::size_t>& names() const { return names_; }
  const SpaceConstraint& constraint() const { return *constraint_; }
  // Whether it holds; `row` need be bound only where names() says.
  Result<bool> holds(std::span<const std::uint16_t> row);

private:
  Result<bool> evaluate(std::span<const std::uint16_t> row) const;

  enum class Answer : std::uint8_t { unknown, no, yes };

  const SpaceConstraint* constraint_;
  const std::vector<Parameter>* parameters_;
  const std::vector<FixedNames>* problems_;
  std::vector<std::size_t> names_;
  std::vector<Answer> answers_; // empty when the table would be too large
};

} // namespace kernevo::search
