#include "kernevo/rewrite/rewrite.h"
namespace kernevo::rewrite {
std::span<const Rewrite> rewrites() {
  return {};
}
Result<RewriteResult> apply(const Rewrite&, const KernelFile&, const RewriteContext&) {
  return RewriteResult{};
}
} // namespace kernevo::rewrite
