#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>
#include <set>

namespace kernevo::rewrite {
namespace {

// Whether some name in it is a float, or a read from a buffer of floats.
bool is_float(const Draft& draft, const Body& body, const Expr& expr) {
  const std::set<std::string> names = names_in(expr);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (const Parameter* parameter = body.function->find_parameter(name))
      return draft.code().is_floating_type(parameter->is_pointer() ? parameter->element
                                                                   : parameter->type);
    const Names::Local* local = body.names->local(name);
    return local != nullptr && draft.code().is_floating_type(local->declaration->text);
  });
}

} // namespace

Outcome fast_math(Draft& draft) {
  if (!draft.context().fast_math_allowed)
    return refuse("the task does not allow less exact functions");
  const auto& flags = draft.kernel().flags;
  if (std::find(flags.begin(), flags.end(), "--use_fast_math") != flags.end())
    return refuse("it is compiled with --use_fast_math already");
  // Only what the flag changes: divisions, roots and functions.
  static const std::set<std::string_view> functions = {
      "exp",   "expf",   "exp2f", "exp10f", "log",   "logf",   "log2f",   "log10f", "sin",  "sinf",
      "cos",   "cosf",   "tan",   "tanf",   "tanhf", "tanh",   "pow",     "powf",   "sqrt", "sqrtf",
      "rsqrt", "rsqrtf", "erf",   "erff",   "log1p", "log1pf", "sincosf", "sinhf",  "coshf"};
  const auto& tokens = draft.code().tokens();
  bool changes = std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return token.is_name() && functions.contains(token.text);
  });
  for (const Function& kernel : draft.code().kernels())
    if (const auto body = draft.body(kernel))
      visit(*body->block, [&](const Expr& expr) {
        // A quotient whose parts have no integer value is one of floats, as far as can be seen.
        const bool quotient = expr.is(Expr::Kind::binary, "/") || expr.is(Expr::Kind::assign, "/=");
        changes = changes || (quotient && !body->names->value(*expr.kids[0]) &&
                              is_float(draft, *body, *expr.kids[0]));
      });
  if (!changes)
    return refuse("it has no division or function that would become faster");
  draft.add_directive("@flags --use_fast_math");
  return std::string("functions and divisions are computed fast and less exactly");
}

} // namespace kernevo::rewrite
