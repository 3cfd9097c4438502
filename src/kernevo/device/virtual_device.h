// The virtual GPU, each module in a process of its own: a crash, a hang or a runaway there is a
// finding here.
#pragma once

#include "kernevo/base/worker_process.h"
#include "kernevo/device/device.h"

#include <memory>

namespace kernevo {

std::shared_ptr<Device> open_virtual_device(const Gpu& gpu);

// The worker's role "execute". Its nursery is prepared with where the tables are and the file of
// the compiler plug-in; without one its workers only interpret.
WorkerRole virtual_device_role();

} // namespace kernevo
