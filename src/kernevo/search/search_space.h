// The valid combinations of a kernel's parameters. Every one has an index, in the order in which
// nested loops over the parameters would meet it; the rest of the search speaks of indices alone.
#pragma once

#include "kernevo/base/expression.h"
#include "kernevo/base/result.h"
#include "kernevo/kernel/kernel_file.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::search {

using Configuration = std::size_t; // an index into a SearchSpace

struct Parameter {
  std::string name;
  std::vector<std::int64_t> values;
  // JSON of each value where a foreign file has values that are not integers (`values` then counts
  // them); empty otherwise.
  std::vector<std::string> labels = {};
};

struct SpaceConstraint {
  Expression condition;
  Place place;
  std::string meaning = {}; // for people, where the condition is not one they wrote
};

// Names a constraint may use beside the parameters, such as the dimensions of a task.
using FixedNames = std::map<std::string, std::int64_t>;

struct SpaceDescription {
  std::vector<Parameter> parameters;
  std::vector<SpaceConstraint> constraints;
  // A constraint holds when it holds for each of these; none is the same as one that names nothing.
  std::vector<FixedNames> problems;
  // Quantities that are likely to matter (threads of a block, bytes of shared memory). They exclude
  // nothing; models take them as features.
  std::vector<Expression> hints;
};

class SearchSpace {
public:
  // More valid combinations than this are refused: no search could tell them apart.
  static constexpr std::size_t kMaxConfigurations = 20'000'000;

  // Every valid combination. A constraint is decided as soon as its parameters are bound, so what
  // it excludes is never visited. An empty space is an input error that names the constraint to
  // blame.
  static Result<SearchSpace> construct(SpaceDescription description);
  // The listed rows (one value index a parameter), as a recording has them. Repeated rows are an
  // error.
  static Result<SearchSpace> from_rows(std::vector<Parameter> parameters,
                                       std::vector<std::vector<std::uint16_t>> rows);

  std::size_t size() const { return parameters_.empty() ? 1 : rows_.size() / parameters_.size(); }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<Expression>& hints() const { return hints_; }
  const std::vector<FixedNames>& problems() const { return problems_; }
  // Of all values, before any constraint. A double: it may exceed any integer type.
  double combinations() const;

  // Which value of each parameter.
  std::span<const std::uint16_t> row(Configuration configuration) const {
    return {rows_.data() + configuration * parameters_.size(), parameters_.size()};
  }
  std::int64_t value(Configuration configuration, std::size_t parameter) const {
    return parameters_[parameter].values[row(configuration)[parameter]];
  }
  ParameterValues values(Configuration configuration) const;
  // "BM=64 BN=32", for people.
  std::string text(Configuration configuration) const;

  std::optional<Configuration> find(std::span<const std::uint16_t> row) const;
  std::optional<Configuration> find(const ParameterValues& values) const;

  // Valid configurations that differ in exactly one parameter.
  std::vector<Configuration> hamming_neighbours(Configuration configuration) const;
  // For each parameter the nearest valid values below and above, by size.
  std::vector<Configuration> adjacent_neighbours(Configuration configuration) const;

  // The place of a value among its parameter's values by size: @tune may list them in any order.
  std::size_t rank(std::size_t parameter, std::uint16_t value) const {
    return ranks_[parameter][value];
  }

  // Identifies the parameters, their values and what is valid, across runs and machines.
  std::string id() const;

private:
  void rank_values();

  std::vector<Parameter> parameters_;
  std::vector<Expression> hints_;
  std::vector<FixedNames> problems_;
  std::vector<std::uint16_t> rows_;                 // size() x parameters, in lexicographic order
  std::vector<std::vector<std::uint16_t>> ranks_;   // [parameter][value]
  std::vector<std::vector<std::uint16_t>> by_rank_; // [parameter][rank] -> value
};

// What a GPU grants one block; a launch that asks for more cannot be right.
struct BlockLimits {
  std::int64_t threads = 0;
  std::int64_t shared_bytes = 0;
};

// The space of a kernel file: its @tune values, its @where constraints at all the given problems,
// and its launch as hints. A constraint that names a dimension is left to the launch plan when no
// problem is given. With limits, configurations whose @launch asks for more are left out, too.
Result<SearchSpace> kernel_space(const KernelFile& file, std::vector<FixedNames> problems = {},
                                 const std::optional<BlockLimits>& limits = {});

// An input error for a @tune parameter that neither the source nor a launch uses: tuning it would
// measure the same kernel again and again.
Result<void> check_parameters_used(const KernelFile& file);

} // namespace kernevo::search
