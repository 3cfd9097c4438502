// What the commands share: options every command has, and how they answer.
#pragma once

#include "kernevo/base/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace kernevo::cli {

// Exit codes of DESIGN section 12.
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

void add_common(CLI::App& app, CommonOptions& options);

Command add_ask(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_bench_search(CLI::App& app);
Command add_check(CLI::App& app);
Command add_compare(CLI::App& app);
Command add_devices(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_evolve(CLI::App& app);
Command add_extract(CLI::App& app);
Command add_init(CLI::App& app);
Command add_jit(CLI::App& app);
Command add_mcp(CLI::App& app);
Command add_playbook(CLI::App& app);
Command add_profile(CLI::App& app);
Command add_replay(CLI::App& app);
Command add_report(CLI::App& app);
Command add_run(CLI::App& app);
Command add_runs(CLI::App& app);
Command add_sass(CLI::App& app);
Command add_show(CLI::App& app);
Command add_tell(CLI::App& app);
Command add_tune(CLI::App& app);

// Prints the error as one line on stderr (or as JSON on stdout) and returns its exit code.
int report_error(const Error& error, const CommonOptions& options);

// Bold, red, green where the stream is a terminal that wants colour; plain elsewhere.
enum class Tone { plain, good, bad, warning, strong };
std::string paint(std::string_view text, Tone tone);

// A table with columns as wide as their content; no trailing blanks.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 2);

} // namespace kernevo::cli
