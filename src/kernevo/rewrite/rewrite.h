#pragma once
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/task.h"
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
namespace kernevo::rewrite {
struct Rewrite {
  std::string_view name;
  std::string_view title;
  std::vector<std::string_view> answers;
};
std::span<const Rewrite> rewrites();
struct RewriteContext {
  const Task* task = nullptr;
  bool fast_math_allowed = false;
};
struct Rewritten {
  std::string source;
  std::string note;
};
struct RewriteResult {
  std::optional<Rewritten> rewritten;
  std::string why_not;
};
Result<RewriteResult> apply(const Rewrite& rewrite, const KernelFile& kernel,
                            const RewriteContext& context);
} // namespace kernevo::rewrite
