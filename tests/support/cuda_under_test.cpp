#include "cuda_under_test.h"

#include "kernevo/base/worker_process.h"
#include "kernevo/device/cuda_device.h"
#include "kernevo/device/list_devices.h"
#include "places.h"

#include <algorithm>
#include <cstdlib>

namespace kernevo {

bool wants_real_gpu() {
  const char* wanted = std::getenv("KERNEVO_TEST_GPU");
  return wanted != nullptr && *wanted != '\0';
}

std::string choose_cuda_under_test() {
  set_worker_program(program_path());
  if (!wants_real_gpu()) {
    if (libcuda_path().empty())
      return "our CUDA driver library is not built here";
    setenv("KERNEVO_LIBCUDA", libcuda_path().c_str(), 1);
    if (!libnvml_path().empty())
      setenv("KERNEVO_LIBNVML", libnvml_path().c_str(), 1);
    return {};
  }
  const auto list = list_devices();
  if (!list)
    return format_error(list.error());
  if (std::ranges::none_of(list->real_gpus,
                           [](const RealGpu& gpu) { return gpu.stand_in.empty(); }))
    return "no real GPU: " + list->driver;
  return {};
}

Result<std::shared_ptr<Device>> open_cuda_under_test(int ordinal) {
  if (const std::string nothing = choose_cuda_under_test(); !nothing.empty())
    return fail(ErrorCode::unsupported, nothing);
  return open_cuda_device(ordinal);
}

} // namespace kernevo
