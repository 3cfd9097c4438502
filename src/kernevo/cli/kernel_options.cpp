#include "kernevo/cli/kernel_options.h"

#include "kernevo/cli/command_line.h"

#include <charconv>
#include <fmt/format.h>

namespace kernevo::cli {

void add_device_options(CommandLine& command, DeviceChoice& choice) {
  command.add_option("--device", choice.device,
                     "Where kernels run, such as cuda:0 or virtual:H100 (default: the first real "
                     "GPU, else the virtual one of the task's target; 'kernevo devices' lists "
                     "them)");
  command.add_option("--gpu", choice.gpu, "Named GPU instead of the task's target: virtual:GPU");
}

Error no_kernel() {
  return {ErrorCode::usage, "no kernel is named", std::nullopt,
          "name its file after the task; '--help' shows the command's form"};
}

void add_hot_cache(CommandLine& command, bool& hot) {
  command.add_flag("--hot-cache", hot,
                   "Where times are measured: caches as the run before left them, on the same "
                   "buffers; L2 is flushed before each run otherwise");
}

void add_patience(CommandLine& command, double& minutes) {
  command
      .add_option(
          "--patience", minutes,
          "Minutes that running one real shape whole may take, on an ordinary machine of two "
          "cores; what would take longer is bounded by a sample, or unproven")
      ->capture_default_str()
      ->in_range(0.01, 1e6);
}

void add_inputs(CommandLine& command, std::uint64_t& seed) {
  command.add_option("--inputs", seed,
                     "Seed of what kernels are judged on (default: a secret one, which the run's "
                     "journal keeps)");
}

std::string device_text(const DeviceIdentity& device) {
  if (device.method == TimingMethod::modelled)
    return fmt::format("virtual {} (sm_{})", device.gpu.name, device.gpu.compute_capability);
  const std::string hardware = hardware_of(device);
  return fmt::format("{}{} (sm_{})", device.name, hardware.empty() ? "" : " " + hardware,
                     device.gpu.compute_capability);
}

void note_mismatch(const DeviceIdentity& device, const std::string& target_gpu,
                   const CommonOptions& common) {
  const std::string mismatch = mismatch_of(device, target_gpu);
  if (!mismatch.empty() && !common.quiet)
    fmt::print(stderr, "kernevo: {}\n", mismatch);
}

Result<std::shared_ptr<Device>> open_for(const DeviceChoice& choice, const Task& task,
                                         const CommonOptions& common) {
  KERNEVO_TRY(device, open_device(choice, task.target_gpu));
  note_mismatch(device->identity(), task.target_gpu, common);
  return std::move(device);
}

Result<ParameterValues> parse_parameters(const std::vector<std::string>& settings) {
  ParameterValues values;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    std::int64_t value = 0;
    const char* end = setting.data() + setting.size();
    if (equals == std::string::npos || equals == 0 ||
        std::from_chars(setting.data() + equals + 1, end, value).ptr != end ||
        equals + 1 == setting.size())
      return fail(ErrorCode::usage,
                  fmt::format("'{}' is not NAME=VALUE with an integer value", setting),
                  std::nullopt, "for example: --param BM=64");
    values[setting.substr(0, equals)] = value;
  }
  return values;
}

std::vector<std::pair<std::string, std::string>>
parse_defines(const std::vector<std::string>& defines) {
  std::vector<std::pair<std::string, std::string>> macros;
  for (const std::string& define : defines) {
    const std::size_t equals = define.find('=');
    macros.emplace_back(define.substr(0, equals),
                        equals == std::string::npos ? "1" : define.substr(equals + 1));
  }
  return macros;
}

std::string parameters_text(const ParameterValues& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string time_text(double nanoseconds) {
  if (nanoseconds < 1e3)
    return fmt::format("{:.4g} ns", nanoseconds);
  if (nanoseconds < 1e6)
    return fmt::format("{:.4g} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9)
    return fmt::format("{:.4g} ms", nanoseconds / 1e6);
  return fmt::format("{:.4g} s", nanoseconds / 1e9);
}

} // namespace kernevo::cli
