// Any bytes are a kernel file or an error with a place: no crash, no hang, no unbounded work.
#include "kernevo/kernel/kernel_file.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

void demand(bool condition) {
  if (!condition)
    std::abort();
}

void exercise(const std::string& text, const std::string& path) {
  using namespace kernevo;
  const auto file = parse_kernel_file(text, path);
  if (!file) {
    demand(!file.error().message.empty());
    demand(file.error().place.has_value());
    return;
  }
  const auto parameters = choose_parameters(*file);
  if (!parameters)
    return;
  Problem problem;
  problem.dims = {{"M", 64}, {"N", 48}, {"K", 0}};
  problem.scalars = {{"eps", DType::float32, 1e-5}};
  problem.buffers.resize(2);
  problem.buffers[0].name = "A";
  problem.buffers[1].name = "C";
  const auto plan = make_launch_plan(*file, *parameters, problem, "kernel<<<M, 32>>>(A, C, N)",
                                     Place{"task.yaml", 1, 1});
  if (!plan)
    return;
  for (const Launch& launch : plan->launches)
    for (std::size_t axis = 0; axis < 3; ++axis)
      demand(launch.grid[axis] >= 1 && launch.block[axis] >= 1);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  exercise(text, "k.cu");
  exercise(text, "k.py");
  return 0;
}
