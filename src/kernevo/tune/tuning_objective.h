// What a tuner minimises.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/search/history.h"

#include <optional>
#include <string>

namespace kernevo::tune {

class TuningObjective {
public:
  virtual ~TuningObjective() = default;
  // How fast a configuration is, or how it fails; Trial::configuration is the caller's business.
  // May give up a configuration that is clearly slower than the incumbent (null: there is none).
  // Depends on its arguments alone, and is called from several threads at once. A Result error is
  // trouble of the machine or the input: it ends the tuning and teaches nothing.
  virtual Result<search::Trial> evaluate(const ParameterValues& values,
                                         const search::Trial* incumbent) = 0;
  // Why its results are wrong; nothing when they are right. Called from one thread.
  virtual Result<std::optional<std::string>> check(const ParameterValues& values) = 0;
  // How fast what would be the new best is when more care is taken than for each of many: other
  // blocks, other inputs. Nothing where evaluate() takes no less. Called from one thread.
  virtual Result<std::optional<search::Trial>> recount(const ParameterValues& /*values*/,
                                                       const search::Trial* /*incumbent*/) {
    return std::optional<search::Trial>();
  }
};

} // namespace kernevo::tune
