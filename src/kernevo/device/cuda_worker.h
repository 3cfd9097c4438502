// A process that drives a real GPU: it alone loads the driver, and owns the context with one
// candidate's module. What it does not have, others cannot lose with it.
#pragma once

#include "kernevo/base/worker_process.h"

namespace kernevo {

// The worker's role "cuda"; its nursery is prepared with CudaSettings.
WorkerRole cuda_device_role();

} // namespace kernevo
