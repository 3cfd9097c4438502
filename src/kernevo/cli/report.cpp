// kernevo report RUN: the story of a run as one HTML page, or for TensorBoard.
#include "kernevo/cli/command_line.h"
#include "kernevo/report/page.h"

#include "kernevo/base/files.h"
#include "kernevo/cli/command.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/report/tensorboard.h"
#include "kernevo/store/open_journal.h"
#include "kernevo/store/run_folders.h"

#include <chrono>
#include <memory>

namespace kernevo::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  CommonOptions common;
  std::string run;
  std::string out;
  std::string tensorboard;
};

std::int64_t now_milliseconds() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

Result<fs::path> write_page(const Options& options, store::Journal& journal) {
  KERNEVO_TRY(story, report::read_story(journal));
  KERNEVO_TRY(page, report::make_page(story, journal, now_milliseconds()));
  const fs::path file =
      options.out.empty() ? journal.folder() / "report.html" : fs::path(options.out);
  if (std::error_code ignored; fs::is_directory(file, ignored))
    return fail(ErrorCode::usage, "is a folder", Place{file.string()},
                "name a file, such as " + (file / "report.html").string());
  KERNEVO_CHECK(write_file_atomically(file, page));
  return file;
}

Result<fs::path> write_events(const Options& options, store::Journal& journal) {
  std::string run;
  KERNEVO_CHECK(journal.read(1, [&](const store::StoredEvent& first) {
    if (const auto* started = std::get_if<RunStarted>(&first.event))
      run = started->run;
    return false;
  }));
  KERNEVO_TRY(log, report::TensorboardLog::create(options.tensorboard, journal, run));
  return log->path();
}

Result<int> run(const Options& options) {
  KERNEVO_TRY(folder, store::find_run(options.run));
  KERNEVO_TRY(journal, store::open_journal(folder, store::Journal::Access::read));
  const bool page_wanted = options.tensorboard.empty() || !options.out.empty();
  Json written;
  if (page_wanted) {
    KERNEVO_TRY(file, write_page(options, *journal));
    written["page"] = file.string();
  }
  if (!options.tensorboard.empty()) {
    KERNEVO_TRY(file, write_events(options, *journal));
    written["tensorboard"] = file.string();
  }
  if (options.common.json) {
    fmt::print("{}\n", dump_json(written));
    return kYes;
  }
  for (const auto& [what, file] : written.items())
    fmt::print("{}\n", file.get<std::string>());
  if (!options.common.quiet && !options.tensorboard.empty())
    fmt::print("next     tensorboard --logdir {}\n", options.tensorboard);
  return kYes;
}

} // namespace

Command add_report(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "report", "Tell the story of a run: one HTML page that needs nothing else, or event files "
                "for TensorBoard");
  command->add_option("RUN", options->run, "Name or folder of a run")->required();
  command->add_option("-o,--out", options->out,
                      "The page's file (default: report.html of the run)");
  command->add_option("--tensorboard", options->tensorboard,
                      "Write event files to this folder; the page only with -o then");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
