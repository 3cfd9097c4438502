#include "kernevo/device/list_devices.h"

#include "kernevo/device/device_name.h"
#include "kernevo/hardware/gpu_table.h"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

namespace kernevo {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

// The few driver entry points asked for here, by their C names and types.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*device_memory)(std::size_t*, int) = nullptr;
  int (*stand_in)(char*, int) = nullptr; // of a library that plays a GPU
};

constexpr int kCapabilityMajor = 75; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kCapabilityMinor = 76;

template <class F> bool bind(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(
      dlsym(library, name)); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  return function != nullptr;
}

void ask_driver(DeviceList& list) {
  const std::unique_ptr<void, CloseLibrary> library(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL));
  if (!library) {
    list.driver = "no CUDA driver (libcuda.so.1 was not found)";
    return;
  }
  Driver d;
  if (!bind(library.get(), "cuInit", d.init) ||
      !bind(library.get(), "cuDriverGetVersion", d.driver_version) ||
      !bind(library.get(), "cuDeviceGetCount", d.device_count) ||
      !bind(library.get(), "cuDeviceGet", d.device_get) ||
      !bind(library.get(), "cuDeviceGetName", d.device_name) ||
      !bind(library.get(), "cuDeviceGetAttribute", d.device_attribute) ||
      !bind(library.get(), "cuDeviceTotalMem_v2", d.device_memory)) {
    list.driver = "the CUDA driver library lacks functions every driver has";
    return;
  }
  if (const int code = d.init(0); code != 0) {
    list.driver = fmt::format("the CUDA driver does not start (error {})", code);
    return;
  }
  std::string stand_in;
  if (bind(library.get(), "kernevoStandIn", d.stand_in)) {
    std::array<char, 256> text{};
    d.stand_in(text.data(), static_cast<int>(text.size()) - 1);
    stand_in = text.data();
  }
  int version = 0;
  d.driver_version(&version);
  list.driver = fmt::format("CUDA driver {}.{}", version / 1000, version % 1000 / 10);
  int count = 0;
  d.device_count(&count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    std::array<char, 128> name{};
    int major = 0;
    int minor = 0;
    std::size_t memory = 0;
    if (d.device_get(&device, ordinal) != 0 ||
        d.device_name(name.data(), static_cast<int>(name.size()) - 1, device) != 0)
      continue;
    d.device_attribute(&major, kCapabilityMajor, device);
    d.device_attribute(&minor, kCapabilityMinor, device);
    d.device_memory(&memory, device);
    list.real_gpus.push_back({ordinal, name.data(), major * 10 + minor, Bytes{memory}, stand_in});
  }
}

} // namespace

Result<DeviceList> list_devices() {
  DeviceList list;
  KERNEVO_TRY(gpus, load_gpus());
  list.virtual_gpus = std::move(gpus);
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
