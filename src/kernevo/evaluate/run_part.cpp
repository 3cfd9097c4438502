#include "kernevo/evaluate/run_part.h"

#include <utility>

namespace kernevo {

Result<CaseReport> run_part(BoundSubject& subject, std::size_t part, const CaseInputs& inputs,
                            const CaseOptions& options) {
  const std::vector<ScratchBuffer> scratch = subject.scratch();
  std::vector<std::uint64_t> sizes;
  for (const ScratchBuffer& buffer : scratch)
    sizes.push_back(buffer.bytes());
  KERNEVO_TRY(laid, lay_out(inputs, true, std::nullopt, sizes));
  std::uint64_t seed = options.points_seed;
  const auto leave_numbers = [&](TensorBinding& binding, DType dtype) {
    if (!is_floating(dtype))
      return;
    binding.initialized = true;
    binding.recipe = left_over_recipe(dtype, seed++);
  };
  for (std::size_t i = 0; i < laid.run.tensors.size(); ++i)
    if (inputs.problem.buffers[i].direction == Direction::out)
      leave_numbers(laid.run.tensors[i], inputs.problem.buffers[i].dtype);
  std::size_t region = laid.arena.regions().size() - scratch.size();
  for (const ScratchBuffer& buffer : scratch) {
    TensorBinding binding;
    binding.name = buffer.name;
    binding.region = region++;
    binding.initialized = false;
    leave_numbers(binding, buffer.dtype);
    laid.run.tensors.push_back(std::move(binding));
  }
  laid.run.instruction_budget = options.instruction_budget;
  laid.run.seconds = options.seconds;
  laid.run.instruments.sanitize = options.sanitize;
  laid.run.instruments.only_blocks = options.only_blocks;
  laid.run.instruments.order = options.order;
  KERNEVO_TRY(outcome, subject.run_part(part, laid.run, laid.arena));
  CaseReport report;
  report.record.case_id = inputs.problem.case_id;
  report.record.distribution = name_of(inputs.set);
  report.record.seed = inputs.seed;
  report.record.blocks = subject.blocks();
  report.record.blocks_run = outcome.blocks_run;
  report.warp_instructions = outcome.warp_instructions;
  if (outcome.fault)
    take_finding(*outcome.fault, report);
  return report;
}

bool is_race(FindingKind kind) {
  return kind == FindingKind::shared_race || kind == FindingKind::global_race ||
         kind == FindingKind::warp_sync_divergence || kind == FindingKind::barrier_divergence;
}

} // namespace kernevo
