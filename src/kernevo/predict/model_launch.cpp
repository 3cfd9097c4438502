#include "kernevo/predict/model_launch.h"

#include <utility>

namespace kernevo {

Result<ModelledLaunch> model_launch(const Gpu& gpu, const std::string& ptx,
                                    const sass::SassModule* code, const std::string& kernel,
                                    KernelResources resources, const LaunchCounts& counts) {
  ModelledLaunch modelled;
  modelled.resources = std::move(resources);
  if (const sass::SassFunction* function = code == nullptr ? nullptr : code->find(kernel)) {
    if (!modelled.resources.registers)
      modelled.resources.registers = function->registers;
    modelled.work = find_machine_work(*function, ptx, counts);
  }
  KERNEVO_TRY(prediction, predict_launch(gpu, counts, modelled.resources,
                                         modelled.work ? &*modelled.work : nullptr));
  modelled.prediction = std::move(prediction);
  return modelled;
}

} // namespace kernevo
