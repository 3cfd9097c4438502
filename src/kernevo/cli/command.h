// What the commands share: options every command has, and how they answer.
#pragma once

#include "kernevo/base/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::cli {

class CommandLine;

// Exit codes, as docs/architecture.md lists them.
inline constexpr int kYes = 0;
inline constexpr int kNo = 1;

struct CommonOptions {
  bool json = false;
  bool quiet = false;
};

// A command adds its options to the app and leaves the function to call when it is chosen.
struct Command {
  std::function<int()> run;
};

void add_common(CommandLine& app, CommonOptions& options);

Command add_ask(CommandLine& app);
Command add_bench(CommandLine& app);
Command add_bench_search(CommandLine& app);
Command add_calibrate(CommandLine& app);
Command add_check(CommandLine& app);
Command add_compare(CommandLine& app);
Command add_devices(CommandLine& app);
Command add_doctor(CommandLine& app);
Command add_evolve(CommandLine& app);
Command add_extract(CommandLine& app);
Command add_init(CommandLine& app);
Command add_jit(CommandLine& app);
Command add_kernelbench(CommandLine& app);
Command add_mcp(CommandLine& app);
Command add_playbook(CommandLine& app);
Command add_profile(CommandLine& app);
Command add_replay(CommandLine& app);
Command add_report(CommandLine& app);
Command add_run(CommandLine& app);
// 'run' in its other form, with a program after '--'.
Command add_run_program(CommandLine& app, std::vector<std::string> command_of_program);
Command add_runs(CommandLine& app);
Command add_sass(CommandLine& app);
Command add_setup(CommandLine& app);
Command add_show(CommandLine& app);
Command add_tell(CommandLine& app);
Command add_tune(CommandLine& app);

// Prints the error as one line on stderr (or as JSON on stdout) and returns its exit code.
int report_error(const Error& error, const CommonOptions& options);

// Bold, red, green where the stream is a terminal that wants colour; plain elsewhere.
enum class Tone { plain, good, bad, warning, strong };
std::string paint(std::string_view text, Tone tone);

// A table with columns as wide as their content; no trailing blanks.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 2);

} // namespace kernevo::cli
