#include "kernevo/device/cuda_driver.h"

#include "kernevo/base/printable.h"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace kernevo {
namespace {

namespace status = driver::status;

constexpr int kOldestDriver = 11040;

template <class F> bool bind(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name)); // NOLINT
  return function != nullptr;
}

tl::unexpected<Error> too_old(const std::string& library, const std::string& why) {
  return fail(ErrorCode::infrastructure,
              fmt::format("the CUDA driver in {} is too old: {}", library, why), std::nullopt,
              fmt::format("update the driver (CUDA {} or newer), or work without it: --device "
                          "virtual:NAME",
                          cuda_version(kOldestDriver)));
}

std::string text_of(const driver::Uuid& id, std::string_view prefix) {
  std::string text(prefix);
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      text += '-';
    text += fmt::format("{:02x}", id.at(i));
  }
  return text;
}

} // namespace

std::string cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Error lost_device(const std::string& device, const std::string& how) {
  return {ErrorCode::unavailable, fmt::format("{} is lost: {}", device, how), std::nullopt,
          "see nvidia-smi and the system's log; when it is back, go on where this stopped"};
}

std::string CudaDriver::describe(driver::Status status) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (calls_.error_name == nullptr || calls_.error_name(status, &name) != status::success ||
      name == nullptr)
    return fmt::format("error {}", status);
  calls_.error_text(status, &text);
  return text == nullptr ? printable(name)
                         : fmt::format("{} ({})", printable(name), printable(text));
}

tl::unexpected<Error> CudaDriver::trouble(driver::Status status, const std::string& doing) const {
  return fail(ErrorCode::infrastructure, fmt::format("cannot {}: {}", doing, describe(status)));
}

Result<CudaDriver> CudaDriver::open(const std::string& library) {
  // Never unloaded: drivers leave threads behind.
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const std::string why = printable(dlerror());
    return fail(ErrorCode::infrastructure, fmt::format("no CUDA driver: {}", why), std::nullopt,
                "install NVIDIA's driver, name its library with KERNEVO_LIBCUDA, or work without "
                "it: --device virtual:NAME");
  }
  CudaDriver driver;
  std::string missing;
  // Some drivers keep only the newer name of the same function.
#define KERNEVO_BIND(member, name, ...)                                                            \
  if (!bind(handle, name, driver.calls_.member) && missing.empty() &&                              \
      !(std::string_view(name) == "cuEventElapsedTime" &&                                          \
        bind(handle, name "_v2", driver.calls_.member)))                                           \
    missing = name;
  KERNEVO_DRIVER_FUNCTIONS(KERNEVO_BIND)
#undef KERNEVO_BIND
#define KERNEVO_BIND(member, name, ...) bind(handle, name, driver.calls_.member);
  KERNEVO_DRIVER_EXTRAS(KERNEVO_BIND)
#undef KERNEVO_BIND
  if (!missing.empty())
    return too_old(library, "it has no " + missing);
  if (driver.calls_.stand_in != nullptr) {
    std::array<char, 256> text{};
    if (driver.calls_.stand_in(text.data(), static_cast<int>(text.size()) - 1) != 0)
      driver.stand_in_ = printable(text.data());
    if (driver.stand_in_.empty())
      driver.stand_in_ = "kernevo";
  }
  driver.calls_.driver_version(&driver.version_);
  if (driver.version_ < kOldestDriver)
    return too_old(library, fmt::format("it is of CUDA {}", cuda_version(driver.version_)));
  const driver::Status started = driver.calls_.init(0);
  if (started == status::no_device)
    return fail(ErrorCode::infrastructure, "the CUDA driver finds no GPU", std::nullopt,
                "see nvidia-smi, and CUDA_VISIBLE_DEVICES; without one: --device virtual:NAME");
  if (started == status::system_driver_mismatch)
    return fail(ErrorCode::infrastructure,
                fmt::format("{} does not fit the driver in the kernel", library), std::nullopt,
                "restart the machine after an update of the driver; in a container use the host's "
                "library");
  if (started != status::success)
    return fail(ErrorCode::infrastructure,
                fmt::format("the CUDA driver does not start: {}", driver.describe(started)),
                std::nullopt, "see nvidia-smi; without a GPU: --device virtual:NAME");
  // Should such a library ever forget to say so.
  std::array<char, 256> name{};
  driver::DeviceHandle device = 0;
  if (driver.stand_in_.empty() && driver.calls_.device_get(&device, 0) == status::success &&
      driver.calls_.device_name(name.data(), static_cast<int>(name.size()) - 1, device) ==
          status::success &&
      std::string_view(name.data()).starts_with("virtual "))
    driver.stand_in_ = printable(name.data());
  return driver;
}

Result<int> CudaDriver::count() const {
  int count = 0;
  if (const auto done = calls_.device_count(&count); done != status::success)
    return trouble(done, "count the GPUs");
  return count;
}

Result<CudaFacts> CudaDriver::facts(int ordinal) const {
  driver::DeviceHandle device = 0;
  const std::string doing = fmt::format("ask for GPU {}", ordinal);
  if (const auto done = calls_.device_get(&device, ordinal); done != status::success)
    return trouble(done, doing);
  CudaFacts facts;
  facts.ordinal = ordinal;
  facts.stand_in = stand_in_;
  facts.driver_version = version_;
  std::array<char, 256> text{};
  if (const auto done = calls_.device_name(text.data(), static_cast<int>(text.size()) - 1, device);
      done != status::success)
    return trouble(done, doing);
  facts.name = printable(text.data());
  text = {};
  if (calls_.device_bus(text.data(), static_cast<int>(text.size()) - 1, device) == status::success)
    facts.bus = printable(text.data());
  // The newer call knows parts of a GPU (MIG), which the older one takes for the whole.
  driver::Uuid whole{};
  driver::Uuid id{};
  const bool old =
      calls_.device_uuid != nullptr && calls_.device_uuid(&whole, device) == status::success;
  const bool newer = calls_.device_uuid_of_part != nullptr &&
                     calls_.device_uuid_of_part(&id, device) == status::success;
  const bool part = newer && (old ? id != whole : facts.name.find("MIG ") != std::string::npos);
  facts.uuid = text_of(newer ? id : whole, part ? "MIG-" : "GPU-");
  std::size_t memory = 0;
  if (const auto done = calls_.device_memory(&memory, device); done != status::success)
    return trouble(done, doing);
  facts.memory = Bytes{memory};

  using driver::DeviceAttribute;
  const auto ask = [&](DeviceAttribute which) {
    int value = 0;
    return calls_.device_attribute(&value, which, device) == status::success ? value : 0;
  };
  facts.compute_capability =
      10 * ask(DeviceAttribute::capability_major) + ask(DeviceAttribute::capability_minor);
  facts.multiprocessors = ask(DeviceAttribute::multiprocessors);
  facts.threads_per_block = ask(DeviceAttribute::max_threads_per_block);
  facts.threads_per_multiprocessor = ask(DeviceAttribute::threads_per_multiprocessor);
  facts.blocks_per_multiprocessor = ask(DeviceAttribute::blocks_per_multiprocessor);
  facts.registers_per_block = ask(DeviceAttribute::registers_per_block);
  facts.registers_per_multiprocessor = ask(DeviceAttribute::registers_per_multiprocessor);
  facts.shared_per_block = ask(DeviceAttribute::shared_per_block);
  facts.shared_per_block_optin = ask(DeviceAttribute::shared_per_block_optin);
  facts.shared_per_multiprocessor = ask(DeviceAttribute::shared_per_multiprocessor);
  facts.shared_reserved_per_block = ask(DeviceAttribute::shared_reserved_per_block);
  facts.l2_bytes = ask(DeviceAttribute::l2_bytes);
  facts.clock_khz = ask(DeviceAttribute::clock_khz);
  facts.memory_clock_khz = ask(DeviceAttribute::memory_clock_khz);
  facts.memory_bus_bits = ask(DeviceAttribute::memory_bus_bits);
  if (facts.compute_capability < 10 || facts.multiprocessors < 1)
    return fail(ErrorCode::infrastructure,
                fmt::format("GPU {} does not say what it is: compute capability {}, {} "
                            "multiprocessors",
                            ordinal, facts.compute_capability, facts.multiprocessors));
  return facts;
}

} // namespace kernevo
