// How the shots were taken that made a candidate the best of its run.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/run_event.h"
#include "kernevo/model/timing.h"
#include "kernevo/store/journal.h"

#include <optional>
#include <string>

namespace kernevo::extract {

// Absent where nothing was measured, or the shots were not kept.
Result<std::optional<Receipt>> conditions_of(store::Journal& journal, const Evaluation& evaluation);

// "1410 MHz, 54 C", what is known of it; may be empty.
std::string clock_and_heat(const Receipt& receipt);

} // namespace kernevo::extract
