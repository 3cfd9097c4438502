#include "kernevo/cli/run_prediction.h"

#include "kernevo/cli/command.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/predict/model_launch.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/toolchain/toolchain.h"

#include <fmt/format.h>
#include <optional>

namespace kernevo::cli {

constexpr double kShownShare = 0.02;

Result<Prediction> predict_run(const std::string& ptx, const std::string& kernel, const Gpu& gpu,
                               const LaunchCounts& counts) {
  std::optional<sass::SassModule> code;
  if (const auto toolchain = find_toolchain()) {
    sass::DisassembleOptions how;
    how.architecture = nearest_architecture(*toolchain, gpu.compute_capability);
    KERNEVO_TRY(module, sass::disassemble_if_possible(*toolchain, ptx, how));
    code = std::move(module);
  }
  KernelResources resources;
  resources.name = kernel;
  KERNEVO_TRY(modelled, model_launch(gpu, ptx, code ? &*code : nullptr, kernel,
                                     std::move(resources), counts));
  return std::move(modelled.prediction);
}

void print_prediction(const Prediction& p) {
  fmt::print("time     {} +- {:.0f} % (modelled{}), occupancy {:.0f} %, {:.1f} waves\n",
             time_text(p.time.value), p.error * 100,
             p.from_machine_code ? "" : " from PTX alone: ptxas or nvdisasm is missing",
             p.occupancy.fraction * 100, p.waves);
  std::vector<std::vector<std::string>> rows;
  for (const TimingTerm& term : p.bounds)
    if (p.share_of(term.name) >= kShownShare)
      rows.push_back({term.name, fmt::format("{:.0f} %", 100 * p.share_of(term.name)),
                      time_text(term.time.value)});
  fmt::print("{}", table(rows));
}

} // namespace kernevo::cli
