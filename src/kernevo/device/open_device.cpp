#include "kernevo/device/open_device.h"

#include "kernevo/device/cuda_device.h"
#include "kernevo/device/cuda_settings.h"
#include "kernevo/device/list_devices.h"
#include "kernevo/device/virtual_device.h"
#include "kernevo/hardware/gpu_table.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

tl::unexpected<Error> cannot_open(const DeviceName& name, std::string_view why) {
  return fail(ErrorCode::input, fmt::format("cannot open {}: {}", to_text(name), why), std::nullopt,
              devices_here());
}

Result<std::shared_ptr<Device>> open_cuda(const DeviceName& name) {
  auto opened = open_cuda_device(name.ordinal);
  if (opened || opened.error().code == ErrorCode::unavailable)
    return opened;
  Error error = std::move(opened).error();
  error.message = fmt::format("cannot open {}: {}", to_text(name), error.message);
  // Where there is a driver, what it says of itself and its GPUs is the way on.
  if (!cuda_settings())
    error.fix += (error.fix.empty() ? "" : "; ") + devices_here();
  return tl::unexpected<Error>(std::move(error));
}

} // namespace

Result<std::shared_ptr<Device>> open_device(const DeviceName& name) {
  switch (name.kind) {
  case DeviceName::Kind::virtual_gpu: {
    auto gpu = find_gpu(name.gpu);
    if (!gpu) {
      gpu.error().fix = devices_here();
      return tl::unexpected<Error>(gpu.error());
    }
    return open_virtual_device(*gpu);
  }
  case DeviceName::Kind::cuda: return open_cuda(name);
  case DeviceName::Kind::remote:
    return cannot_open(name, "this program does not reach other machines");
  }
  return cannot_open(name, "unknown kind of device");
}

} // namespace kernevo
