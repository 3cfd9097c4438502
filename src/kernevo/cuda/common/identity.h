// What the driver and NVML must say alike of the virtual GPU.
#pragma once

#include "kernevo/model/gpu.h"

#include <array>
#include <string>
#include <vector>

namespace kernevo::cuda {

// The GPU of $KERNEVO_GPU; one that is unknown ends the process with a line that says so.
const Gpu& played_gpu();
std::string played_name(const Gpu& gpu); // "virtual A100"
std::array<unsigned char, 16> played_uuid(const Gpu& gpu);
std::string played_bus(); // "0000:00:00.0"

// Processes of this user that have a context, as NVML lists them.
void announce_process(); // this one, until it ends
std::vector<unsigned> announced_processes();

} // namespace kernevo::cuda
