// From what a person asked for to a device that is ready to be judged on.
#include "kernevo/device/list_devices.h"
#include "kernevo/device/open_device.h"
#include "kernevo/hardware/gpu_table.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

Result<DeviceName> named(const DeviceChoice& choice) {
  if (choice.device && !choice.gpu.empty())
    return fail(ErrorCode::usage, "both --device and --gpu are given", std::nullopt,
                fmt::format("--gpu {0} is short for --device virtual:{0}; give one", choice.gpu));
  return choice.device ? parse_device_name(*choice.device)
                       : Result<DeviceName>(DeviceName::of_virtual(choice.gpu));
}

// KERNEVO_DEVICE: what is asked for where nobody says anything; "virtual" is the task's own GPU.
DeviceChoice with_environment(DeviceChoice choice, const std::string& target_gpu) {
  const char* usual = std::getenv("KERNEVO_DEVICE");
  if (usual == nullptr || *usual == 0 || choice.device || !choice.gpu.empty())
    return choice;
  choice.device = std::string_view(usual) == "virtual" ? to_text(DeviceName::of_virtual(target_gpu))
                                                       : std::string(usual);
  return choice;
}

bool is_asked_for(const DeviceChoice& choice) {
  return choice.device.has_value() || !choice.gpu.empty();
}

// The one that is most like it; the table is never empty.
Device::Companion most_alike(const Gpu& gpu, const std::vector<Gpu>& gpus, const Gpu*& found) {
  const auto distance = [&](const Gpu& other) {
    return std::abs(other.multiprocessors - gpu.multiprocessors);
  };
  for (const Gpu& other : gpus) {
    const bool same = other.compute_capability == gpu.compute_capability;
    if (same && (found == nullptr || found->compute_capability != gpu.compute_capability ||
                 distance(other) < distance(*found)))
      found = &other;
  }
  if (found != nullptr)
    return {nullptr, "of the same compute capability"};
  for (const Gpu& other : gpus)
    if (found == nullptr || std::abs(other.compute_capability - gpu.compute_capability) <
                                std::abs(found->compute_capability - gpu.compute_capability))
      found = &other;
  return {nullptr, fmt::format("sm_{}, the nearest there is to sm_{}", found->compute_capability,
                               gpu.compute_capability)};
}

} // namespace

Result<DeviceName> choose_device(const DeviceChoice& choice, const std::string& target_gpu,
                                 const std::vector<RealGpu>& real_gpus) {
  if (is_asked_for(choice))
    return named(choice);
  for (const RealGpu& gpu : real_gpus)
    if (gpu.stand_in.empty()) {
      DeviceName name;
      name.kind = DeviceName::Kind::cuda;
      name.ordinal = gpu.ordinal;
      return name;
    }
  return DeviceName::of_virtual(target_gpu);
}

Result<DeviceName> choose_device(const DeviceChoice& asked, const std::string& target_gpu) {
  const DeviceChoice choice = with_environment(asked, target_gpu);
  if (is_asked_for(choice))
    return named(choice);
  KERNEVO_TRY(here, list_devices());
  return choose_device(choice, target_gpu, here.real_gpus);
}

Result<Device::Companion> find_companion(const Gpu& gpu) {
  Device::Companion companion{nullptr, "the same GPU"};
  KERNEVO_TRY(gpus, load_gpus());
  const auto listed = find_gpu(gpu.name);
  const Gpu* like =
      listed && listed->compute_capability == gpu.compute_capability ? &*listed : nullptr;
  if (like == nullptr)
    companion = most_alike(gpu, gpus, like);
  KERNEVO_TRY(device, open_device(DeviceName::of_virtual(like->name)));
  companion.device = std::move(device);
  return companion;
}

Result<std::shared_ptr<Device>> open_device(const DeviceChoice& choice,
                                            const std::string& target_gpu) {
  KERNEVO_TRY(name, choose_device(choice, target_gpu));
  KERNEVO_TRY(device, open_device(name));
  if (!device->capabilities().instrumented && !device->companion()) {
    KERNEVO_TRY(companion, find_companion(device->gpu()));
    device->accompany(std::move(companion));
  }
  return std::move(device);
}

std::string mismatch_of(const DeviceIdentity& device, const std::string& target_gpu) {
  if (device.model.empty() || target_gpu.empty())
    return {};
  const auto target = find_gpu(target_gpu);
  if (target && target->name == device.gpu.name)
    return {};
  return fmt::format("the task is written for {}, {} is sm_{}: kernels are compiled, judged and "
                     "timed for that; --device virtual:{} models the other",
                     target_gpu, title_of(device), device.gpu.compute_capability, target_gpu);
}

} // namespace kernevo
