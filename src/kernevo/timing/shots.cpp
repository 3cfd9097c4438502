#include "kernevo/timing/shots.h"

#include <cmath>
#include <fmt/format.h>

namespace kernevo {

Result<Shot> take_shot(ShotSource& source, Side side) {
  KERNEVO_TRY(shot, source.shoot(side));
  if (!std::isfinite(shot.time.value) || shot.time.value <= 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("the device reported a time of {} ns", shot.time.value));
  return shot;
}

} // namespace kernevo
