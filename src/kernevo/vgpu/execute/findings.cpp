#include "kernevo/vgpu/execute/findings.h"

#include "kernevo/vgpu/execute/frames.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"

#include <fmt/format.h>

namespace kernevo::vgpu {
namespace {

std::string place_of(const Finding& finding) {
  if (finding.source_line > 0)
    return fmt::format(" at {}:{}", finding.source_file, finding.source_line);
  if (finding.ptx_line > 0)
    return fmt::format(" at PTX line {}", finding.ptx_line);
  return "";
}

} // namespace

Finding finding_at(const LaunchState& launch, FindingKind kind, const Code& code,
                   std::uint32_t instruction) {
  Finding finding;
  finding.kind = kind;
  finding.kernel = launch.kernel_name;
  if (instruction < code.function->instructions.size()) {
    const ptx::Instruction& at = code.function->instructions[instruction];
    finding.ptx_line = static_cast<int>(at.line);
    if (at.source.file != 0 && at.source.file < launch.program->module.files.size()) {
      finding.source_file = launch.program->module.files[at.source.file];
      finding.source_line = static_cast<int>(at.source.line);
    }
  }
  return finding;
}

std::array<std::uint32_t, 3> thread_index(const WarpState& warp, int lane) {
  const auto& size = warp.launch->config->block;
  const std::uint32_t linear =
      static_cast<std::uint32_t>(warp.index) * kWarpSize + static_cast<std::uint32_t>(lane);
  return {linear % size[0], linear / size[0] % size[1], linear / size[0] / size[1]};
}

Finding finding_at(WarpState& warp, FindingKind kind, const Op& op, int lane, std::string message) {
  Finding finding = finding_at(*warp.launch, kind, *warp.current->code, op.instruction);
  finding.block = warp.block->index;
  finding.thread = thread_index(warp, lane);
  finding.has_thread = true;
  finding.message = fmt::format("{}, by thread ({}) of block ({}) in {}{}", message,
                                fmt::join(finding.thread, ","), fmt::join(finding.block, ","),
                                finding.kernel, place_of(finding));
  return finding;
}

void Warp::raise(FindingKind kind, const Op& op, int lane, std::string message) {
  if (faulted)
    return;
  faulted = true;
  WarpState& self = state_of(*this);
  self.launch->record(finding_at(self, kind, op, lane, std::move(message)));
}

} // namespace kernevo::vgpu
