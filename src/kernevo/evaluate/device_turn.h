// Who times on a device must have it to himself: threads of this program wait for each other here,
// other programs at the device's own door.
#pragma once

#include "kernevo/device/device.h"

#include <mutex>

namespace kernevo {

std::unique_lock<std::mutex> take_turn(const Device& device);

} // namespace kernevo
