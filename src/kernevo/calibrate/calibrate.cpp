#include "kernevo/calibrate/calibrate.h"

#include "kernevo/base/files.h"
#include "kernevo/calibrate/time_probe.h"
#include "kernevo/device/open_device.h"
#include "kernevo/hardware/architecture_table.h"

#include <chrono>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace kernevo::calibrate {
namespace {

Result<std::unique_ptr<LoadedModule>> load_probes(Device& device) {
  KERNEVO_TRY(share, share_folder());
  const std::filesystem::path file = share / "calibration" / "micro_kernels.cu";
  CompileRequest request;
  KERNEVO_TRY(source, read_text_file(file));
  KERNEVO_TRY(architecture, device.architecture());
  request.source = std::move(source);
  request.file = file.string();
  request.architecture = std::move(architecture);
  request.resources = false;
  KERNEVO_TRY(build, device.build(request));
  if (!build.ok)
    return fail(ErrorCode::infrastructure,
                fmt::format("the micro-kernels do not compile for {}: {}", request.architecture,
                            build.diagnostics.empty() ? "" : build.diagnostics.front().message),
                Place{file.string()});
  KERNEVO_TRY(loaded, device.load(build.ptx, file.string(), {}));
  if (loaded.refusal)
    return fail(ErrorCode::infrastructure,
                fmt::format("{} does not take the micro-kernels: {}", device.identity().name,
                            loaded.refusal->message));
  return std::move(loaded.module);
}

} // namespace

Result<Calibration> calibrate(Device& device, const Progress& progress) {
  if (!device.capabilities().measures)
    return fail(ErrorCode::usage,
                fmt::format("{} is made of tables and measures nothing", device.identity().name),
                std::nullopt, "give a GPU: --device cuda:0");
  Calibration result;
  result.device = device.identity();
  const Gpu& gpu = device.gpu();
  KERNEVO_TRY(listed, find_listed(gpu));
  result.listed = std::move(listed);
  KERNEVO_TRY(architecture, find_architecture(gpu.compute_capability));
  KERNEVO_TRY(known, has_architecture(gpu.compute_capability));
  result.architecture_listed = known;
  KERNEVO_TRY(module, load_probes(device));
  result.code = module->code();
  const std::vector<Probe> probes = probes_for(gpu);
  std::vector<ProbeTime> times;
  for (const Probe& probe : probes) {
    if (progress)
      progress(probe.name, times.size(), probes.size());
    KERNEVO_TRY(time, time_probe(device, *module, probe));
    result.provenance.shots += time.shots;
    times.push_back(std::move(time));
  }
  result.figures = figures_of(gpu, times, result.listed ? &*result.listed : nullptr,
                              result.architecture_listed ? &architecture : nullptr);
  result.provenance.date = fmt::format(
      "{:%Y-%m-%d}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  KERNEVO_TRY(state, device.state());
  result.provenance.device = fmt::format("{} ({})", result.device.name, hardware_of(result.device));
  if (state.clocks.multiprocessor_mhz)
    result.provenance.device += fmt::format(" at {:.0f} MHz", *state.clocks.multiprocessor_mhz);
  result.provenance.limits =
      result.listed ? fmt::format("as {} has it", result.listed->name)
                    : fmt::format("as other GPUs near sm_{} have it", gpu.compute_capability);
  return result;
}

} // namespace kernevo::calibrate
