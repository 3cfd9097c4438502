// kernevo extract RUN: a kernel of a run, in the form it is wanted in.
#include "kernevo/base/files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/cli/blind.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/extract/forms.h"
#include "kernevo/extract/same_as_judged.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/store/open_journal.h"
#include "kernevo/store/run_folders.h"
#include "kernevo/toolchain/compile_worker.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  CommonOptions common;
  std::string run;
  bool best = false;
  std::optional<std::uint64_t> iteration;
  std::string form;
  std::string output;
  bool force = false;
  bool blind = false;
};

Result<extract::Form> form_of(const Options& options) {
  if (options.form.empty())
    return options.common.json ? extract::Form::json : extract::Form::kernel;
  if (const auto form = extract::parse_form(options.form))
    return *form;
  return fail(ErrorCode::usage,
              fmt::format("there is no form '{}'{}", options.form,
                          did_you_mean(options.form, {"kernel", "cu", "torch", "json"})),
              std::nullopt, "give --as kernel, cu, torch or json");
}

std::string placeholder(extract::Form form) {
  switch (form) {
  case extract::Form::torch: return "FILE.py";
  case extract::Form::json: return "FILE.json";
  default: return "FILE.cu";
  }
}

std::string next_command(extract::Form form, const extract::Extraction& extraction,
                         const std::string& file) {
  if (form == extract::Form::kernel)
    return fmt::format("kernevo check {} {}", extraction.started.task_file, file);
  if (form == extract::Form::cu)
    return "its head says how it is built and run";
  return "";
}

void tell(const Options& options, extract::Form form, const extract::Extraction& extraction,
          const std::string& text) {
  if (options.common.json && !(options.output.empty() && form == extract::Form::json)) {
    Json object = {{"run", extraction.started.run},
                   {"step", extraction.step()},
                   {"as", extract::name_of(form)}};
    if (options.output.empty())
      object["text"] = text;
    else
      object["file"] = options.output;
    fmt::print("{}\n", dump_json(object, 2));
    return;
  }
  if (options.output.empty()) {
    fmt::print("{}", text);
    return;
  }
  if (options.common.quiet)
    return;
  fmt::print("wrote {}: step {} of {}, {:.3g} x the reference's speed, {}\n", options.output,
             extraction.step(), extraction.started.run, extraction.speedup(),
             extraction.started.method);
  if (const std::string next = next_command(form, extraction, options.output); !next.empty())
    fmt::print("next: {}\n", next);
}

// The forms that others compile are compiled here too, if there is a compiler.
Result<std::string> proof_of(extract::Form form, const extract::Extraction& extraction) {
  const bool compiled = form == extract::Form::cu || form == extract::Form::torch;
  const auto toolchain = find_toolchain();
  if (!compiled || !toolchain || extraction.file.language != KernelLanguage::cuda)
    return "";
  return extract::same_as_judged(extraction, *toolchain, [](const CompileRequest& request) {
    return compile_confined(request);
  });
}

Result<int> run(const Options& options) {
  KERNEVO_TRY(form, form_of(options));
  if (options.best && options.iteration)
    return fail(ErrorCode::usage, "--best and --iteration exclude each other", std::nullopt,
                "give one of them");
  std::error_code ignored;
  if (!options.output.empty() && !options.force && fs::exists(options.output, ignored))
    return fail(ErrorCode::usage, "exists already", Place{options.output},
                "give --force to replace it, or another file");
  KERNEVO_TRY(folder, store::find_run(options.run));
  KERNEVO_TRY(journal, store::open_journal(folder, store::Journal::Access::read));
  KERNEVO_TRY(extraction,
              extract::read_extraction(*journal, options.iteration, audience_of(options.blind)));
  KERNEVO_TRY(proof, proof_of(form, extraction));
  const extract::ReceiptOptions receipt{
      KERNEVO_VERSION, options.output.empty() ? placeholder(form) : options.output, proof};
  KERNEVO_TRY(text, extract::render(extraction, form, receipt));
  if (!options.output.empty())
    KERNEVO_CHECK(write_file_atomically(options.output, text));
  tell(options, form, extraction, text);
  return kYes;
}

} // namespace

Command add_extract(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "extract", "Take a kernel out of a run: as a kernel file, a CUDA program, a PyTorch module "
                 "or JSON, with the receipt of where it comes from");
  command->add_option("RUN", options->run, "Name or folder of the run")->required();
  command->add_flag("--best", options->best, "The best of the run (the default)");
  command->add_option("--iteration", options->iteration,
                      "What this step of the run came to; 0 is the reference");
  command->add_option("--as", options->form,
                      "kernel (the default): the kernel file with its best parameters as defaults; "
                      "cu: a program that launches and times it; torch: a module with ModelNew; "
                      "json: everything about it");
  command->add_option("-o,--output", options->output, "File to write (default: standard output)");
  add_blind(*command, options->blind);
  command->add_flag("--force", options->force, "Replace the file if it exists");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
