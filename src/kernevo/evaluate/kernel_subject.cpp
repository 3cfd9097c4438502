#include "kernevo/evaluate/kernel_subject.h"

#include "kernevo/ptx/facts.h"
#include "kernevo/task/catalogue.h"

#include <algorithm>
#include <utility>

namespace kernevo {
namespace {

// Address space the largest shape takes: tensors and a flag for each byte written.
Result<std::uint64_t> largest_arena(const Task& task) {
  constexpr std::uint64_t gaps = std::uint64_t{1} << 30U;
  std::uint64_t largest = gaps;
  for (const ShapeCase& shape : task.shapes) {
    KERNEVO_TRY(problem, make_problem(task, shape));
    std::uint64_t bytes = gaps;
    for (const BufferSpec& buffer : problem.buffers)
      bytes += 2 * buffer.bytes();
    largest = std::max(largest, bytes);
  }
  return largest;
}

class BoundKernel final : public BoundSubject {
public:
  BoundKernel(const KernelSubject& subject, LaunchPlan plan, bool separable)
      : subject_(subject), plan_(std::move(plan)), separable_(separable) {}

  std::uint64_t blocks() const override { return plan_.blocks(); }
  std::vector<std::uint64_t> launch_blocks() const override {
    std::vector<std::uint64_t> blocks;
    for (const Launch& launch : plan_.launches)
      blocks.push_back(launch.blocks());
    return blocks;
  }
  std::optional<std::array<std::int64_t, 3>> separable_grid() const override {
    return separable_ ? std::optional(plan_.launches.front().grid) : std::nullopt;
  }
  Result<RunOutcome> run(const SubjectRun& run, const Arena& arena) override {
    return subject_.module().run(subject_.request(plan_, run), arena);
  }
  // Blocks of a cooperative launch wait for all others.
  std::vector<std::array<std::int64_t, 3>> parts() const override {
    std::vector<std::array<std::int64_t, 3>> grids;
    for (const Launch& launch : plan_.launches)
      if (!launch.cooperative)
        grids.push_back(launch.grid);
    return grids;
  }
  std::vector<ScratchBuffer> scratch() const override { return plan_.scratch; }
  Result<RunOutcome> run_part(std::size_t part, const SubjectRun& run,
                              const Arena& arena) override {
    LaunchPlan alone; // the scratch it uses is among the tensors of the run
    for (const Launch& launch : plan_.launches)
      if (!launch.cooperative && part-- == 0)
        alone.launches = {launch};
    return subject_.module().run(subject_.request(alone, run), arena);
  }

private:
  const KernelSubject& subject_;
  LaunchPlan plan_;
  bool separable_;
};

} // namespace

KernelSubject::KernelSubject(const PreparedKernel& prepared, Build build,
                             std::unique_ptr<LoadedModule> module, bool instrumented)
    : prepared_(prepared), build_(std::move(build)), module_(std::move(module)),
      instrumented_(instrumented) {}

Result<std::unique_ptr<BoundSubject>> KernelSubject::bind(const Problem& problem) {
  KERNEVO_TRY(plan, prepared_.plan(problem));
  const bool separable = is_separable(plan);
  return std::make_unique<BoundKernel>(*this, std::move(plan), separable);
}

bool KernelSubject::is_separable(const LaunchPlan& plan) {
  if (plan.launches.size() != 1 || plan.launches.front().cooperative)
    return false;
  if (!blocks_may_meet_)
    blocks_may_meet_ = ptx::blocks_may_meet(ptx::facts_of(build_.ptx));
  return !*blocks_may_meet_;
}

RunRequest KernelSubject::request(const LaunchPlan& plan, const SubjectRun& run) const {
  RunRequest request;
  request.plan = plan;
  request.tensors = run.tensors;
  request.instruction_budget = run.instruction_budget;
  request.seconds = run.seconds;
  request.instruments = run.instruments;
  request.entry_names = build_.lowered_names;
  for (const Launch& launch : plan.launches)
    if (const KernelResources* resources = build_.resources_of(launch.kernel);
        resources != nullptr && resources->registers)
      request.registers[launch.kernel] = *resources->registers;
  return request;
}

Result<KernelSubjectOutcome> load_kernel(Device& device, const PreparedKernel& prepared,
                                         ModuleLimits limits) {
  return load_kernel(device, prepared, prepared.build, limits);
}

Result<KernelSubjectOutcome> load_kernel(Device& device, const PreparedKernel& prepared,
                                         Build build, ModuleLimits limits) {
  KERNEVO_TRY(arena, largest_arena(*prepared.task));
  limits.arena_bytes = arena;
  KERNEVO_TRY(loaded, device.load(build.ptx, prepared.kernel->path + " (as PTX)", limits));
  if (loaded.refusal && (loaded.refusal->kind == FindingKind::unsupported_instruction ||
                         loaded.refusal->kind == FindingKind::invalid_ptx))
    return fail(ErrorCode::unsupported, loaded.refusal->message);
  if (loaded.refusal)
    return KernelSubjectOutcome{nullptr, std::move(loaded.refusal)};
  return KernelSubjectOutcome{std::make_unique<KernelSubject>(prepared, std::move(build),
                                                              std::move(loaded.module),
                                                              device.capabilities().instrumented),
                              std::nullopt};
}

} // namespace kernevo
