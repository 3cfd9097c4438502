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
  // Of a device that measures: how fast the first is beside the second when the two are timed in
  // turns, on the scale of the second's times. Less time than the second's is only told where that
  // was shown. Nothing where times do not drift. Called from one thread.
  virtual Result<std::optional<search::Trial>> contest(const ParameterValues& /*values*/,
                                                       const ParameterValues& /*incumbent*/,
                                                       const search::Trial& /*timed*/) {
    return std::optional<search::Trial>();
  }
  // A trial that seems slower than the best by no more than this share of its time may be faster.
  virtual double doubt() const { return 0; }
};

} // namespace kernevo::tune
