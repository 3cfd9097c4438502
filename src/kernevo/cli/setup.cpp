// kernevo setup python: the environment in which PyTorch and Triton programs run on the virtual
// GPU.
#include "kernevo/base/suggest.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/start_program.h"
#include "kernevo/programs/python_environment.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string what;
};

Result<int> run(const Options& options) {
  if (options.what != "python")
    return fail(ErrorCode::usage,
                options.what.empty() ? "nothing is named to set up"
                                     : fmt::format("nothing is called '{}'{}", options.what,
                                                   did_you_mean(options.what, {"python"})),
                std::nullopt, "kernevo setup python");
  KERNEVO_TRY(command, environment_command("make"));
  if (options.common.quiet)
    command.emplace_back("--quiet");
  if (options.common.json)
    command.emplace_back("--json");
  KERNEVO_TRY(end, run_in_our_place(command.front(), command, {}));
  return end.status();
}

} // namespace

Command add_setup(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command =
      app.add_subcommand("setup", "Set up what not everybody needs: 'setup python' for PyTorch and "
                                  "Triton programs");
  command->add_option("WHAT", options->what, "python");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
