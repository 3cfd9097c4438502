#include "kernevo/base/suggest.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/device/cuda_worker.h"
#include "kernevo/device/virtual_device.h"
#include "kernevo/model/json.h"
#include "kernevo/price/price_worker.h"
#include "kernevo/toolchain/compile_worker.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <string_view>

namespace kernevo::cli {
namespace {

constexpr const char* kWelcome =
    R"(kernevo {}: from a GPU kernel to a faster one, with the evidence. No GPU needed.

  1  kernevo init softmax                          a task and a naive kernel to start from
  2  kernevo evolve softmax/task.yaml              a faster kernel: proposed, checked, tuned and timed (modelled) for the task's GPU
  3  kernevo report softmax                        how it got there, on one page; kernevo extract softmax gives the kernel

For one kernel at a time: check (is it right?), bench (how fast?), profile (why?), compare, tune.

kernevo doctor says what this machine has and lacks; kernevo --help lists every command.
)";

// CLI11 counts a misspelt command as a surplus argument; people deserve better.
int usage_error(const CommandLine& app, const std::string& problem, int argc, char** argv) {
  const std::vector<std::string> commands = app.subcommands();
  const std::string first = argc > 1 ? argv[1] : "";
  const bool known = std::find(commands.begin(), commands.end(), first) != commands.end();
  if (!known && !first.starts_with("-")) {
    fmt::print(stderr, "kernevo: unknown command '{}'{}; 'kernevo --help' lists the commands\n",
               first, did_you_mean(first, commands));
    return 2;
  }
  if (std::find(argv, argv + argc, std::string_view("--json")) != argv + argc)
    fmt::print("{}\n", to_json(Error{ErrorCode::usage, problem, std::nullopt, "see --help"}));
  fmt::print(stderr, "kernevo: {}; see 'kernevo{} --help'\n", problem, known ? " " + first : "");
  return 2;
}

int serve(std::string_view role) {
  // A worker writes to a channel whose other end may be gone.
  std::signal(SIGPIPE, SIG_IGN); // NOLINT(cert-err33-c)
  if (role == "execute")
    return serve_role(virtual_device_role());
  if (role == "cuda")
    return serve_role(cuda_device_role());
  if (role == "compile")
    return serve_role(compiler_role());
  if (role == "price")
    return serve_prices();
  return 2;
}

// kernevo run OPTIONS -- PROGRAM ARGS: what follows '--' is not ours to read.
int run_program(int argc, char** argv, char** dashes) {
  CommandLine app("kernevo: from a GPU kernel to a faster one, with the evidence", "kernevo",
                  "kernevo " KERNEVO_VERSION);
  const Command command = add_run_program(app, {dashes + 1, argv + argc});
  const int ours = static_cast<int>(dashes - argv);
  const ParsedArguments parsed = app.parse(ours, argv);
  if (parsed.answered)
    return kYes;
  if (!parsed.problem.empty())
    return usage_error(app, parsed.problem, ours, argv);
  return command.run();
}

int run(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "__worker")
    return serve(argv[2]);
  if (argc > 1 && std::string_view(argv[1]) == "run")
    if (char** const dashes = std::find(argv, argv + argc, std::string_view("--"));
        dashes != argv + argc)
      return run_program(argc, argv, dashes);
  if (argc == 1) {
    fmt::print(fmt::runtime(kWelcome), KERNEVO_VERSION);
    return kYes;
  }
  CommandLine app("kernevo: from a GPU kernel to a faster one, with the evidence", "kernevo",
                  "kernevo " KERNEVO_VERSION);
  std::map<std::string, Command> commands;
  commands["ask"] = add_ask(app);
  commands["bench"] = add_bench(app);
  commands["bench-search"] = add_bench_search(app);
  commands["calibrate"] = add_calibrate(app);
  commands["check"] = add_check(app);
  commands["compare"] = add_compare(app);
  commands["devices"] = add_devices(app);
  commands["doctor"] = add_doctor(app);
  commands["evolve"] = add_evolve(app);
  commands["extract"] = add_extract(app);
  commands["init"] = add_init(app);
  commands["jit"] = add_jit(app);
  commands["kernelbench"] = add_kernelbench(app);
  commands["mcp"] = add_mcp(app);
  commands["playbook"] = add_playbook(app);
  commands["profile"] = add_profile(app);
  commands["replay"] = add_replay(app);
  commands["report"] = add_report(app);
  commands["run"] = add_run(app);
  commands["runs"] = add_runs(app);
  commands["sass"] = add_sass(app);
  commands["setup"] = add_setup(app);
  commands["show"] = add_show(app);
  commands["tell"] = add_tell(app);
  commands["tune"] = add_tune(app);
  const ParsedArguments parsed = app.parse(argc, argv);
  if (parsed.answered)
    return kYes;
  if (!parsed.problem.empty())
    return usage_error(app, parsed.problem, argc, argv);
  return commands.at(parsed.command).run();
}

} // namespace
} // namespace kernevo::cli

int main(int argc, char** argv) {
  try {
    return kernevo::cli::run(argc, argv);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "kernevo: internal error: {}; please report it\n", problem.what());
    return 3;
  }
}
