#include "kernevo/base/suggest.h"
#include "kernevo/kernel/kernel_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {

namespace {

// Bounds the search for a default; constraints that reject this many combinations are a mistake.
constexpr int kMaxTrials = 200000;

std::string shown(const ParameterValues& values) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values)
    parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

class Chooser {
public:
  Chooser(const KernelFile& file, const ParameterValues& chosen) : file_(file), chosen_(chosen) {
    std::map<std::string, std::size_t> order;
    for (std::size_t i = 0; i < file.parameters.size(); ++i)
      order[file.parameters[i].name] = i;
    ready_.resize(file.parameters.size());
    for (const Constraint& constraint : file.constraints) {
      std::size_t last = 0;
      bool only_parameters = true;
      for (const std::string& name : constraint.condition.names()) {
        const auto found = order.find(name);
        only_parameters = only_parameters && found != order.end();
        if (found != order.end())
          last = std::max(last, found->second);
      }
      // One that names a dimension waits for the launch plan, which knows the shape.
      if (only_parameters && !file.parameters.empty())
        ready_[last].push_back(&constraint);
    }
  }

  Result<ParameterValues> run() {
    ParameterValues values;
    KERNEVO_TRY(found, search(0, values));
    if (found)
      return values;
    const Constraint& constraint = *violated_;
    if (chosen_.size() == file_.parameters.size())
      return fail(ErrorCode::input,
                  fmt::format("the parameters {} violate '@where {}'", shown(chosen_),
                              constraint.condition.text()),
                  constraint.place);
    return fail(ErrorCode::input,
                chosen_.empty()
                    ? std::string("no combination of the @tune values meets every @where")
                    : fmt::format("no combination with {} meets every @where", shown(chosen_)),
                constraint.place, fmt::format("'@where {}' fails", constraint.condition.text()));
  }

private:
  Result<bool> search(std::size_t index, ParameterValues& values) {
    if (index == file_.parameters.size())
      return true;
    const TuneParameter& parameter = file_.parameters[index];
    const auto fixed = chosen_.find(parameter.name);
    const std::vector<std::int64_t> candidates =
        fixed != chosen_.end() ? std::vector<std::int64_t>{fixed->second} : parameter.values;
    for (const std::int64_t candidate : candidates) {
      if (++trials_ > kMaxTrials)
        return fail(ErrorCode::input,
                    fmt::format("no valid parameters among the first {} combinations", kMaxTrials),
                    parameter.place, "list first the values that meet every @where");
      values[parameter.name] = candidate;
      KERNEVO_TRY(allowed, meets(index, values));
      if (!allowed)
        continue;
      KERNEVO_TRY(found, search(index + 1, values));
      if (found)
        return true;
    }
    values.erase(parameter.name);
    return false;
  }

  Result<bool> meets(std::size_t index, const ParameterValues& values) {
    for (const Constraint* constraint : ready_[index]) {
      KERNEVO_TRY(value, constraint->condition.evaluate(values));
      if (value == 0) {
        violated_ = constraint;
        return false;
      }
    }
    return true;
  }

  const KernelFile& file_;
  const ParameterValues& chosen_;
  std::vector<std::vector<const Constraint*>> ready_; // decided once parameter i is bound
  const Constraint* violated_ = nullptr;
  int trials_ = 0;
};

} // namespace

Result<ParameterValues> choose_parameters(const KernelFile& file, const ParameterValues& chosen) {
  std::vector<std::string> names;
  for (const TuneParameter& parameter : file.parameters)
    names.push_back(parameter.name);
  for (const auto& [name, value] : chosen) {
    const auto found = std::find_if(file.parameters.begin(), file.parameters.end(),
                                    [&](const TuneParameter& p) { return p.name == name; });
    if (found == file.parameters.end())
      return fail(ErrorCode::input,
                  fmt::format("has no parameter '{}'{}", name, did_you_mean(name, names)),
                  Place{file.path},
                  names.empty() ? "it has no @tune line"
                                : fmt::format("it has {}", fmt::join(names, ", ")));
    if (std::find(found->values.begin(), found->values.end(), value) == found->values.end())
      return fail(ErrorCode::input, fmt::format("{} is not a value of parameter {}", value, name),
                  found->place, fmt::format("its values are {}", fmt::join(found->values, " ")));
  }
  return Chooser(file, chosen).run();
}

} // namespace kernevo
