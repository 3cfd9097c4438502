#include "kernevo/tune/tuning_subject.h"

#include "kernevo/base/file_cache.h"
#include "kernevo/base/files.h"
#include "kernevo/base/hash.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/toolchain/toolchain.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::tune {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kShortHash = 12;

std::string short_hash(std::string_view text) {
  return sha256_hex(text).substr(0, kShortHash);
}

Result<std::string> kernel_id(const Task& task, const KernelFile& kernel) {
  KERNEVO_TRY(task_text, read_text_file(task.file));
  const std::string name =
      kernel.kernels.empty() ? fs::path(kernel.path).stem().string() : kernel.kernels.front();
  return fmt::format("{}-{}", name,
                     short_hash(fmt::format("{}\n{}", sha256_hex(kernel.source), task_text)));
}

} // namespace

Result<TuningSubject> prepare_subject(const Task& task, const KernelFile& kernel,
                                      const Device& device, bool hot_cache) {
  const Gpu& gpu = device.gpu();
  if (kernel.language != KernelLanguage::cuda)
    return fail(ErrorCode::unsupported, "Triton kernel files cannot be tuned yet",
                Place{kernel.path}, "give a CUDA kernel file");
  if (kernel.parameters.empty())
    return fail(ErrorCode::input, "has no parameters to tune", Place{kernel.path},
                "add a line such as '// @tune TILE 16 32 64' and use TILE in the source");
  KERNEVO_CHECK(search::check_parameters_used(kernel));
  std::vector<search::FixedNames> problems;
  for (const ShapeCase& shape : task.shapes) {
    KERNEVO_TRY(problem, make_problem(task, shape));
    problems.push_back(problem.dims);
  }
  const search::BlockLimits limits{gpu.max_threads_per_block,
                                   static_cast<std::int64_t>(gpu.shared_per_block_optin.value)};
  KERNEVO_TRY(space, search::kernel_space(kernel, std::move(problems), limits));
  TuningSubject subject;
  if (const auto defaults = choose_parameters(kernel))
    subject.defaults = space.find(*defaults);
  subject.space = std::move(space);
  KERNEVO_TRY(kernel_text, kernel_id(task, kernel));
  KERNEVO_TRY(fingerprint, device.fingerprint());
  subject.kernel_id = std::move(kernel_text);
  subject.device_id = fingerprint + (hot_cache ? ", hot cache" : "");
  subject.device = device.identity();
  for (const auto& [name, extent] : task.shapes.front().dims)
    subject.problem_size.push_back(extent);
  return subject;
}

fs::path default_log(const TuningSubject& subject) {
  const fs::path folder = cache_folder();
  if (folder.empty())
    return {};
  std::string gpu = subject.device.gpu.name;
  std::replace(gpu.begin(), gpu.end(), ' ', '_');
  return folder / "tune" /
         fmt::format("{}-{}-{}.jsonl", subject.kernel_id, gpu,
                     short_hash(subject.device_id + subject.space.id()));
}

} // namespace kernevo::tune
