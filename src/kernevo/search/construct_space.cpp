#include "kernevo/search/comparison_sides.h"
#include "kernevo/search/constraint_table.h"
#include "kernevo/search/search_space.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace kernevo::search {

namespace {

constexpr std::size_t kMaxValues = std::numeric_limits<std::uint16_t>::max();
// Partial combinations visited before giving up: about ten seconds.
constexpr std::size_t kMaxVisits = 2'000'000'000;

// Digits in groups of three, as people write large counts.
std::string grouped(double count) {
  if (count > 1e18)
    return fmt::format("{:.3g}", count);
  std::string text = fmt::format("{:.0f}", count);
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

// Depth-first search over the parameters, in an order that lets constraints bite early.
class Builder {
public:
  Builder(const std::vector<Parameter>& parameters, const std::vector<SpaceConstraint>& constraints,
          std::size_t constraint_count, const std::vector<FixedNames>& problems)
      : parameters_(parameters) {
    for (std::size_t i = 0; i < constraint_count; ++i)
      tables_.emplace_back(constraints[i], parameters, problems);
    choose_order();
  }

  // All valid rows, or only the first when that is all one needs to know.
  Result<std::vector<std::uint16_t>> run(bool first_only) {
    first_only_ = first_only;
    row_.assign(parameters_.size(), 0);
    for (ConstraintTable* table : constant_) {
      KERNEVO_TRY(holds, table->holds(row_));
      if (!holds)
        return std::vector<std::uint16_t>{};
    }
    KERNEVO_CHECK(visit(0));
    return std::move(rows_);
  }

private:
  // Takes next the parameter that decides most constraints; among equals the one that takes part in
  // most, then the one with fewest values.
  void choose_order() {
    std::vector<std::size_t> unbound;
    for (const ConstraintTable& table : tables_)
      unbound.push_back(table.names().size());
    std::vector<bool> bound(parameters_.size(), false);
    ready_.resize(parameters_.size());
    for (std::size_t i = 0; i < tables_.size(); ++i)
      if (unbound[i] == 0)
        constant_.push_back(&tables_[i]);
    for (std::size_t step = 0; step < parameters_.size(); ++step) {
      std::size_t best = parameters_.size();
      std::array<double, 3> best_score{};
      for (std::size_t p = 0; p < parameters_.size(); ++p) {
        if (bound[p])
          continue;
        std::array<double, 3> score{0, 0, -static_cast<double>(parameters_[p].values.size())};
        for (std::size_t i = 0; i < tables_.size(); ++i) {
          const auto& names = tables_[i].names();
          if (unbound[i] == 0 || std::find(names.begin(), names.end(), p) == names.end())
            continue;
          score[0] += unbound[i] == 1 ? 1 : 0;
          score[1] += 1;
        }
        if (best == parameters_.size() || score > best_score) {
          best = p;
          best_score = score;
        }
      }
      bound[best] = true;
      order_.push_back(best);
      for (std::size_t i = 0; i < tables_.size(); ++i) {
        const auto& names = tables_[i].names();
        if (std::find(names.begin(), names.end(), best) != names.end() && --unbound[i] == 0)
          ready_[step].push_back(&tables_[i]);
      }
    }
  }

  Result<void> visit(std::size_t step) {
    if (step == order_.size()) {
      if (rows_.size() / std::max<std::size_t>(1, row_.size()) >= SearchSpace::kMaxConfigurations)
        return fail(ErrorCode::input,
                    fmt::format("more than {} combinations meet every constraint",
                                grouped(static_cast<double>(SearchSpace::kMaxConfigurations))),
                    std::nullopt, "add a constraint, or list fewer values");
      rows_.insert(rows_.end(), row_.begin(), row_.end());
      found_ = true;
      return {};
    }
    const std::size_t parameter = order_[step];
    const auto count = static_cast<std::uint16_t>(parameters_[parameter].values.size());
    for (std::uint16_t value = 0; value < count && !(found_ && first_only_); ++value) {
      if (++visits_ > kMaxVisits)
        return fail(ErrorCode::input, "the constraints leave too many combinations to look through",
                    std::nullopt,
                    "write constraints over few parameters each, or list fewer values");
      row_[parameter] = value;
      bool allowed = true;
      for (ConstraintTable* table : ready_[step]) {
        KERNEVO_TRY(holds, table->holds(row_));
        if (!holds) {
          allowed = false;
          break;
        }
      }
      if (allowed)
        KERNEVO_CHECK(visit(step + 1));
    }
    return {};
  }

  const std::vector<Parameter>& parameters_;
  std::vector<ConstraintTable> tables_;
  std::vector<ConstraintTable*> constant_;           // those that name no parameter
  std::vector<std::size_t> order_;                   // which parameter is bound at each step
  std::vector<std::vector<ConstraintTable*>> ready_; // decided at that step
  std::vector<std::uint16_t> row_;
  std::vector<std::uint16_t> rows_;
  std::size_t visits_ = 0;
  bool found_ = false;
  bool first_only_ = false;
};

// The search order is for speed; indices follow the order of the parameters.
std::vector<std::uint16_t> sorted_rows(const std::vector<std::uint16_t>& rows, std::size_t width) {
  std::vector<std::size_t> order(width == 0 ? 0 : rows.size() / width);
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto less = [&](std::size_t a, std::size_t b) {
    const auto* left = rows.data() + a * width;
    const auto* right = rows.data() + b * width;
    return std::lexicographical_compare(left, left + width, right, right + width);
  };
  if (std::is_sorted(order.begin(), order.end(), less))
    return rows;
  std::sort(order.begin(), order.end(), less);
  std::vector<std::uint16_t> result;
  result.reserve(rows.size());
  for (const std::size_t at : order)
    result.insert(result.end(), rows.begin() + static_cast<std::ptrdiff_t>(at * width),
                  rows.begin() + static_cast<std::ptrdiff_t>((at + 1) * width));
  return result;
}

Result<void> check_parameters(const std::vector<Parameter>& parameters) {
  std::set<std::string> names;
  for (const Parameter& parameter : parameters) {
    if (!names.insert(parameter.name).second)
      return fail(ErrorCode::input, fmt::format("parameter '{}' appears twice", parameter.name));
    if (parameter.values.empty())
      return fail(ErrorCode::input, fmt::format("parameter '{}' has no values", parameter.name));
    if (parameter.values.size() > kMaxValues)
      return fail(ErrorCode::input, fmt::format("parameter '{}' has more than {} values",
                                                parameter.name, kMaxValues));
  }
  return {};
}

// Adding constraints in the order they are written, the first that leaves nothing.
Result<const SpaceConstraint*> last_to_exclude(const SpaceDescription& description,
                                               const std::vector<FixedNames>& problems) {
  for (std::size_t count = 1; count < description.constraints.size(); ++count) {
    KERNEVO_TRY(
        rows, Builder(description.parameters, description.constraints, count, problems).run(true));
    if (rows.empty())
      return &description.constraints[count - 1];
  }
  return &description.constraints.back();
}

} // namespace

Result<SearchSpace> SearchSpace::construct(SpaceDescription description) {
  KERNEVO_CHECK(check_parameters(description.parameters));
  SearchSpace space;
  space.problems_ = description.problems;
  if (space.problems_.empty())
    space.problems_.emplace_back();
  if (description.parameters.empty())
    return space;
  KERNEVO_TRY(rows, Builder(description.parameters, description.constraints,
                            description.constraints.size(), space.problems_)
                        .run(false));
  space.parameters_ = std::move(description.parameters);
  if (rows.empty()) {
    description.parameters = space.parameters_;
    KERNEVO_TRY(culprit, last_to_exclude(description, space.problems_));
    return fail(
        ErrorCode::input,
        fmt::format(
            "these constraints exclude all {} combinations; the last one to do so is '{}'{}",
            grouped(space.combinations()), culprit->condition.text(),
            culprit->meaning.empty() ? "" : ", " + culprit->meaning),
        culprit->place.file.empty() ? std::nullopt : std::optional<Place>(culprit->place));
  }
  space.rows_ = sorted_rows(rows, space.parameters_.size());
  space.hints_ = std::move(description.hints);
  for (const SpaceConstraint& constraint : description.constraints)
    for (Expression& side : comparison_sides(constraint.condition))
      space.hints_.push_back(std::move(side));
  space.rank_values();
  return space;
}

Result<SearchSpace> SearchSpace::from_rows(std::vector<Parameter> parameters,
                                           std::vector<std::vector<std::uint16_t>> rows) {
  KERNEVO_CHECK(check_parameters(parameters));
  if (parameters.empty() || rows.empty())
    return fail(ErrorCode::input, "the space has no configurations");
  std::sort(rows.begin(), rows.end());
  SearchSpace space;
  space.parameters_ = std::move(parameters);
  space.problems_.emplace_back();
  if (const auto twice = std::adjacent_find(rows.begin(), rows.end()); twice != rows.end()) {
    space.rows_ = *twice;
    return fail(ErrorCode::input, fmt::format("the configuration {} appears twice", space.text(0)));
  }
  for (const std::vector<std::uint16_t>& row : rows)
    space.rows_.insert(space.rows_.end(), row.begin(), row.end());
  space.rank_values();
  return space;
}

} // namespace kernevo::search
