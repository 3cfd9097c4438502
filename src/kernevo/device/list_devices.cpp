#include "kernevo/device/list_devices.h"

#include "kernevo/device/cuda_session.h"
#include "kernevo/device/cuda_settings.h"
#include "kernevo/device/device_name.h"
#include "kernevo/hardware/gpu_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {
namespace {

void ask_driver(DeviceList& list) {
  const auto settings = cuda_settings();
  if (!settings) {
    list.driver = settings.error().message;
    return;
  }
  const auto listing = CudaObserver::list(*settings);
  if (!listing) {
    list.driver = format_error(listing.error());
    return;
  }
  list.driver = fmt::format("CUDA driver {}", cuda_version(listing->driver_version));
  if (!listing->stand_in.empty())
    list.driver += fmt::format(", played by {}", listing->stand_in);
  for (const CudaFacts& facts : listing->gpus)
    list.real_gpus.push_back(
        {facts.ordinal, facts.name, facts.compute_capability, facts.memory, facts.stand_in});
}

} // namespace

Result<DeviceList> list_devices() {
  DeviceList list;
  KERNEVO_TRY(gpus, load_gpus());
  list.virtual_gpus = std::move(gpus);
  KERNEVO_TRY(own, own_gpus());
  list.own = std::move(own);
  ask_driver(list);
  return list;
}

std::string devices_here() {
  const auto gpus = load_gpus();
  if (!gpus)
    return format_error(gpus.error());
  std::vector<std::string> names;
  for (const Gpu& gpu : *gpus)
    names.push_back(to_text(DeviceName::of_virtual(gpu.name)));
  return fmt::format("devices here: {}", fmt::join(names, ", "));
}

} // namespace kernevo
