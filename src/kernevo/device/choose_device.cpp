// From what a person asked for to a device that is ready to be judged on.
#include "kernevo/device/list_devices.h"
#include "kernevo/device/open_device.h"
#include "kernevo/hardware/gpu_table.h"

#include <algorithm>
#include <cctype>
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

// "NVIDIA A100-SXM4-40GB" as nvidia, a100, sxm4, 40gb.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty())
    words.pop_back();
  return words;
}

// Which of the table a driver speaks of: the one with the most words, all of them in the driver's
// name. A laptop's GPU shares a name with one that is not alike.
const Gpu* listed_as(const Gpu& gpu, const std::vector<Gpu>& gpus) {
  const std::vector<std::string> has = words_of(gpu.name);
  const auto has_word = [&](const std::string& word) {
    return std::find(has.begin(), has.end(), word) != has.end();
  };
  if (has_word("laptop") || has_word("mobile"))
    return nullptr;
  const Gpu* best = nullptr;
  std::size_t most = 0;
  for (const Gpu& other : gpus) {
    const std::vector<std::string> words = words_of(other.name);
    if (other.compute_capability == gpu.compute_capability && words.size() > most &&
        std::all_of(words.begin(), words.end(), has_word)) {
      best = &other;
      most = words.size();
    }
  }
  return best;
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
  const Gpu* like = listed_as(gpu, gpus);
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

Result<std::optional<Gpu>> find_listed(const Gpu& gpu) {
  KERNEVO_TRY(gpus, load_gpus());
  const Gpu* const listed = listed_as(gpu, gpus);
  return listed == nullptr ? std::nullopt : std::optional(*listed);
}

std::string mismatch_of(const DeviceIdentity& device, const std::string& target_gpu) {
  if (device.model.empty() || target_gpu.empty())
    return {};
  const auto target = find_gpu(target_gpu);
  const auto gpus = load_gpus();
  const Gpu* listed = gpus ? listed_as(device.gpu, *gpus) : nullptr;
  if (target &&
      (target->name == device.gpu.name || (listed != nullptr && listed->name == target->name)))
    return {};
  return fmt::format("the task is written for {}, {} is sm_{}: kernels are compiled, judged and "
                     "timed for that; --device virtual:{} models the other",
                     target_gpu, title_of(device), device.gpu.compute_capability, target_gpu);
}

} // namespace kernevo
