// One attempt at a rewrite: what is known of the file and the edits so far.
#pragma once

#include "kernevo/rewrite/code.h"
#include "kernevo/rewrite/names.h"
#include "kernevo/rewrite/rewrite.h"
#include "kernevo/rewrite/source_edits.h"
#include "kernevo/rewrite/syntax.h"

#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace kernevo::rewrite {

struct Refusal {
  std::string why;
};
// The note of a rewrite that applies, or why it does not.
using Outcome = tl::expected<std::string, Refusal>;
template <class T> using OrRefusal = tl::expected<T, Refusal>;

template <class... Args>
tl::unexpected<Refusal> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Refusal>(Refusal{fmt::format(format, std::forward<Args>(args)...)});
}

// The structure of one kernel's body.
struct Body {
  const Function* function = nullptr;
  std::unique_ptr<Stmt> block;
  std::unique_ptr<Names> names;
};

class Draft {
public:
  Draft(const KernelFile& kernel, const RewriteContext& context);

  const KernelFile& kernel() const { return kernel_; }
  const RewriteContext& context() const { return context_; }
  const Code& code() const { return code_; }
  std::string_view source() const { return code_.source(); }
  std::string text(std::size_t begin, std::size_t end) const {
    return std::string(source().substr(begin, end - begin));
  }
  std::string text(const Expr& expr) const { return text(expr.begin, expr.end); }
  std::string text(const Stmt& stmt) const { return text(stmt.begin, stmt.end); }
  SourceEdits& edits() { return edits_; }

  // The body of a kernel, parsed.
  OrRefusal<Body> body(const Function& function) const;

  // Every launch of the kernel: the file's, or the task's default when the file has none.
  std::vector<const LaunchDirective*> launches(const Function& function) const;
  // Writes another size into a launch; false when its text cannot be found in the file.
  bool set(const Expression& size, const std::string& text);

  // A name that nothing in the file or the task has; "ITEMS", or "ITEMS_2" when that is taken.
  std::string fresh(std::string_view wanted);
  // Adds a directive before the launches.
  void add_directive(std::string line) { directives_.push_back(std::move(line)); }

  // The whole new file.
  std::string finish();

private:
  std::size_t offset(const Place& place) const;
  std::size_t directives_place() const;
  std::string default_launch_text() const;

  const KernelFile& kernel_;
  const RewriteContext& context_;
  Code code_;
  SourceEdits edits_;
  std::vector<LaunchDirective> default_launch_; // one, or none
  std::map<const Expression*, std::string> default_sizes_;
  bool launch_changed_ = false;
  std::vector<std::string> directives_;
  std::set<std::string> taken_;
};

} // namespace kernevo::rewrite
