#include "kernevo/device/device.h"

namespace kernevo {

Result<std::unique_ptr<ShotSource>> Device::shots(const Timed& /*incumbent*/,
                                                  const Timed* /*candidate*/) {
  return fail(ErrorCode::unsupported, identity().name + " does not measure time");
}

Clock& Device::clock() {
  static SteadyClock steady;
  return steady;
}

} // namespace kernevo
