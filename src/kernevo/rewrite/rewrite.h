// Generic rewrites of the playbook: changes to the source of any CUDA kernel file, each legal by a
// proof over its tokens. Structure is changed here; what a number should be becomes a @tune
// parameter (docs/playbook.md).
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/task.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::rewrite {

struct Rewrite {
  std::string_view name;                 // "vectorise": also its name as a gene in the lineage
  std::string_view title;                // one sentence for people
  std::vector<std::string_view> answers; // directions of share/rules it follows, best first
};

// In a fixed order.
std::span<const Rewrite> rewrites();

struct RewriteContext {
  const Task* task = nullptr; // its default launch and its names; may be absent
  bool fast_math_allowed = false;
};

struct Rewritten {
  std::string source; // the whole new kernel file
  std::string note;   // one line on what was done
};

struct RewriteResult {
  std::optional<Rewritten> rewritten;
  std::string why_not; // when it does not apply
};

// Nothing when the rewrite does not apply: it is already there, there is no such pattern, or it is
// not provably legal.
Result<RewriteResult> apply(const Rewrite& rewrite, const KernelFile& kernel,
                            const RewriteContext& context);

} // namespace kernevo::rewrite
