#include "kernevo/device/device.h"

#include <fmt/format.h>
#include <thread>

namespace kernevo {

std::string title_of(const DeviceIdentity& device) {
  return device.model.empty() ? device.name : fmt::format("{} {}", device.name, device.model);
}

std::string hardware_of(const DeviceIdentity& device) {
  std::string text = device.model;
  if (!device.driver.empty())
    text += fmt::format("{}driver {}", text.empty() ? "" : ", ", device.driver);
  if (!device.stand_in.empty())
    text += fmt::format("{}played by {}", text.empty() ? "" : ", ", device.stand_in);
  return text;
}

Result<CountedRun> LoadedModule::count(const RunRequest& /*request*/, const Arena& /*arena*/,
                                       const std::vector<std::string>& /*counters*/) {
  return fail(ErrorCode::unsupported, "the device of this module has no counters of hardware");
}

Result<std::unique_ptr<DeviceShots>>
Device::shots(const Timed& /*incumbent*/, const Timed* /*candidate*/, CacheState /*cache*/) {
  return fail(ErrorCode::unsupported, identity().name + " does not measure time");
}

Clock& Device::clock() {
  static SteadyClock steady;
  return steady;
}

void Device::rest(Nanoseconds time) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(time.value));
}

} // namespace kernevo
