#include "kernevo/extract/same_as_judged.h"

#include "kernevo/extract/host_code.h"
#include "kernevo/extract/judged_code.h"
#include "kernevo/toolchain/prelude.h"
#include "kernevo/toolchain/same_code.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::extract {
namespace {

// The instantiations the forms launch, at any shape of the task.
Result<std::vector<std::string>> instantiations(const Extraction& x) {
  std::vector<std::string> names;
  for (const ShapeCase& shape : x.task.shapes) {
    KERNEVO_TRY(problem, make_problem(x.task, shape));
    KERNEVO_TRY(plan, make_launch_plan(x.file, x.evaluation.parameters, problem,
                                       x.task.default_launch, Place{x.task.file}));
    for (const Launch& launch : plan.launches)
      if (launch.kernel.find('<') != std::string::npos &&
          std::find(names.begin(), names.end(), launch.kernel) == names.end())
        names.push_back(launch.kernel);
  }
  return names;
}

std::string first_error(const Build& build) {
  for (const Diagnostic& diagnostic : build.diagnostics)
    if (diagnostic.severity == Diagnostic::Severity::error)
      return diagnostic.message;
  return "does not compile";
}

} // namespace

Result<std::string> same_as_judged(const Extraction& x, const Toolchain& toolchain,
                                   const Compile& compile) {
  KERNEVO_TRY(code, judged_code(x));
  KERNEVO_TRY(names, instantiations(x));
  CompileRequest judged;
  judged.source = code.source;
  judged.file = x.file.path;
  judged.architecture = code.architecture;
  judged.flags = x.file.flags;
  judged.name_expressions = names;
  judged.resources = false;
  CompileRequest extracted = judged;
  for (const auto& [name, value] : x.evaluation.parameters)
    judged.macros.emplace_back(name, fmt::format("{}", value));
  // INFINITY and its kin have the same values everywhere but are spelt differently, which changes
  // the order of instructions: both sides get one spelling.
  extracted.source = library_macros(code.source) + missing_includes(code.source) +
                     enclosed_device_code(code.device, x.evaluation.parameters);
  extracted.with_nvcc = !toolchain.nvcc.empty();

  KERNEVO_TRY(before, compile(judged));
  if (!before.ok)
    return fail(ErrorCode::input, "what was judged does not compile here: " + first_error(before),
                Place{x.file.path}, "use the toolkit of the run");
  auto after = compile(extracted);
  if (!after && extracted.with_nvcc) { // it has no compiler for the host, say
    extracted.with_nvcc = false;
    after = compile(extracted);
  }
  KERNEVO_CHECK(after);
  const std::string compiler = after->compiler.empty() ? "the compiler" : after->compiler;
  if (!after->ok)
    return fail(
        ErrorCode::input,
        fmt::format("{} does not compile what was judged: {}", compiler, first_error(*after)),
        Place{x.file.path}, "extract it --as kernel");
  if (!same_device_code(before.ptx, after->ptx))
    return fail(ErrorCode::input,
                fmt::format("{} makes other device code of it than was judged", compiler),
                Place{x.file.path},
                "the source depends on its compiler; extract it --as kernel, or another step");
  return fmt::format("{} makes the same device code of it as was judged", compiler);
}

} // namespace kernevo::extract
