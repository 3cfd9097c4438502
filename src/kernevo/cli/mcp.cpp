// kernevo mcp: the tools of this program for a coding agent, over standard input and output.
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/stop_signals.h"
#include "kernevo/mcp/serve.h"
#include "kernevo/task/load_task.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string task;
};

// Standard output carries messages and nothing else: whatever prints finds itself on standard
// error.
Result<int> keep_output() {
  const int output = ::dup(STDOUT_FILENO);
  if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return fail(ErrorCode::infrastructure, "standard output cannot be used");
  return output;
}

Result<int> run(const Options& options) {
  if (!options.task.empty())
    KERNEVO_CHECK(load_task(options.task));
  std::error_code problem;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot find this program: " + problem.message(),
                Place{"/proc/self/exe"});
  KERNEVO_TRY(output, keep_output());
  std::signal(SIGPIPE, SIG_IGN); // NOLINT(cert-err33-c): an agent may go at any time
  const StopSignals signals;
  mcp::ServerOptions server;
  server.version = KERNEVO_VERSION;
  server.program = {program.string(), mcp::tool_environment(environ)};
  server.task = options.task;
  if (!options.common.quiet)
    fmt::print(stderr, "kernevo: an MCP server on standard input and output; end it with ^D\n");
  mcp::serve(server, STDIN_FILENO, output, [&] { return signals.requested(); });
  return kYes;
}

} // namespace

Command add_mcp(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "mcp", "Serve check, bench, profile, compare, tune, ask, tell and best to a coding agent: a "
             "Model Context Protocol server on standard input and output");
  command->add_option("--task", options->task, "Task that is meant when a call names none");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
