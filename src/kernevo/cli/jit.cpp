// kernevo jit FILE: compiles a kernel for this processor and shows how: passes, times, dumps.
#include "kernevo/base/files.h"
#include "kernevo/base/printable.h"
#include "kernevo/base/suggest.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/toolchain/compile_worker.h"
#include "kernevo/toolchain/toolchain.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/program/kernels.h"
#include "kernevo/vgpu/tier/object_store.h"
#include "kernevo/vgpu/tier/plugin.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <numeric>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string file;
  std::string kernel;
  std::vector<std::uint32_t> block = {128, 1, 1};
  std::string architecture = "sm_80";
  std::vector<std::string> dump;
  bool partial = false;
  bool counting = false;
  bool quick = false;
  bool times = false;
  bool cached = false;
};

Result<std::string> ptx_of(const Options& options) {
  KERNEVO_TRY(text, read_text_file(options.file));
  if (options.file.ends_with(".ptx"))
    return text;
  CompileRequest request;
  request.source = std::move(text);
  request.file = options.file;
  request.architecture = options.architecture;
  request.resources = false;
  KERNEVO_TRY(build, build_or_fail(request));
  return build.ptx;
}

// The named kernel, or the only one.
Result<std::uint32_t> find_function(const vgpu::Program& program, const Options& options) {
  const std::vector<vgpu::KernelInfo> kernels = vgpu::kernels_of(program);
  if (kernels.empty())
    return fail(ErrorCode::input, "has no kernel", Place{options.file});
  std::string name = kernels.front().name;
  if (!options.kernel.empty()) {
    const auto found = vgpu::find_kernel(program, options.kernel);
    if (!found) {
      std::vector<std::string> names;
      for (const vgpu::KernelInfo& kernel : kernels)
        names.push_back(kernel.demangled);
      return fail(
          ErrorCode::usage,
          fmt::format("no kernel '{}'{}", options.kernel, did_you_mean(options.kernel, names)),
          Place{options.file}, fmt::format("it has: {}", fmt::join(names, ", ")));
    }
    name = found->name;
  } else if (kernels.size() > 1) {
    std::vector<std::string> names;
    for (const vgpu::KernelInfo& kernel : kernels)
      names.push_back(kernel.demangled);
    return fail(ErrorCode::usage, "has several kernels", Place{options.file},
                fmt::format("choose one with --kernel: {}", fmt::join(names, ", ")));
  }
  return program.function_of.find(name)->second;
}

struct Answer {
  std::string kernel;
  std::size_t instructions = 0;
  vgpu::CompileReport report;
  std::size_t entries = 0;
  std::size_t exits = 0;
};

Result<Answer> compile(const Options& options) {
  if (options.block.size() > 3 || std::any_of(options.block.begin(), options.block.end(),
                                              [](std::uint32_t n) { return n == 0 || n > 1024; }))
    return fail(ErrorCode::usage,
                "--block takes one to three sizes between 1 and 1024, as in 32,8");
  KERNEVO_TRY(text, ptx_of(options));
  KERNEVO_TRY(program, vgpu::load_program(text, options.file));
  KERNEVO_TRY(function, find_function(*program, options));
  KERNEVO_TRY(compiler, vgpu::load_compiler());
  vgpu::CompileJob job;
  job.program = program;
  job.function = function;
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::copy(options.block.begin(), options.block.end(), block.begin());
  job.facts = vgpu::analysis::lane_facts(block);
  job.full = !options.partial;
  job.counting = options.counting;
  job.optimise = !options.quick;
  if (options.cached)
    job.store = std::make_shared<vgpu::FolderStore>();
  Answer answer;
  answer.kernel = vgpu::plain_name(program->codes[function].function->name);
  answer.instructions = program->codes[function].function->instructions.size();
  answer.report.dump = {options.dump.begin(), options.dump.end()};
  KERNEVO_TRY(made, compiler->compile(job, &answer.report));
  answer.entries = made->entries.size();
  answer.exits = made->exits.size();
  for (const std::string& wanted : options.dump) {
    const auto is_wanted = [&](const auto& item) { return item.first == wanted; };
    if (wanted == "all" ||
        std::any_of(answer.report.dumps.begin(), answer.report.dumps.end(), is_wanted))
      continue;
    std::vector<std::string> names = {"plan", "all"};
    for (const vgpu::PassTime& pass : answer.report.passes)
      names.push_back(pass.name);
    return fail(ErrorCode::usage,
                fmt::format("no pass '{}' leaves a text{}", wanted, did_you_mean(wanted, names)),
                std::nullopt, "'--times' lists the passes");
  }
  return answer;
}

double total_of(const vgpu::CompileReport& report) {
  return std::accumulate(report.passes.begin(), report.passes.end(), 0.0,
                         [](double sum, const vgpu::PassTime& pass) { return sum + pass.seconds; });
}

void print_times(const vgpu::CompileReport& report) {
  const double total = total_of(report);
  std::vector<std::vector<std::string>> rows = {{"pass", "      ms", "share"}};
  for (const vgpu::PassTime& pass : report.passes)
    rows.push_back({pass.name, fmt::format("{:8.3f}", pass.seconds * 1e3),
                    fmt::format("{:4.1f}%", total > 0 ? pass.seconds / total * 100 : 0)});
  rows.push_back({"total", fmt::format("{:8.3f}", total * 1e3), ""});
  fmt::print("{}", table(rows));
}

void print_answer(const Options& options, const Answer& answer) {
  for (const auto& [name, text] : answer.report.dumps)
    fmt::print("; ---- {}\n{}{}", name, printable(text, Lines::kept),
               text.ends_with('\n') ? "" : "\n");
  if (!options.dump.empty() && !options.times)
    return;
  fmt::print("{}: {} instructions, {} bytes of machine code in {:.1f} ms{}; {} entries, {} exits\n",
             answer.kernel, answer.instructions, answer.report.machine_code_bytes,
             total_of(answer.report) * 1e3, answer.report.from_cache ? " from the cache" : "",
             answer.entries, answer.exits);
  if (!options.common.quiet)
    print_times(answer.report);
}

void print_json(const Answer& answer) {
  Json passes = Json::array();
  for (const vgpu::PassTime& pass : answer.report.passes)
    passes.push_back({{"name", pass.name}, {"seconds", pass.seconds}});
  Json dumps = Json::object();
  for (const auto& [name, text] : answer.report.dumps)
    dumps[name] = text;
  fmt::print("{}\n", dump_json(Json{{"kernel", answer.kernel},
                                    {"instructions", answer.instructions},
                                    {"machine_code_bytes", answer.report.machine_code_bytes},
                                    {"from_cache", answer.report.from_cache},
                                    {"entries", answer.entries},
                                    {"exits", answer.exits},
                                    {"passes", passes},
                                    {"dumps", dumps}},
                               2));
}

} // namespace

Command add_jit(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "jit", "Compile a kernel for this machine's processor and show the passes, their times and "
             "what each made");
  command->add_option("FILE", options->file, "PTX (.ptx) or CUDA device code")->required();
  command->add_option("--kernel", options->kernel, "Which kernel, when the file has several");
  command->add_option("--block", options->block, "Block size X,Y,Z: code is made for its shape")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--arch", options->architecture, "Architecture to compile CUDA code for")
      ->capture_default_str();
  command->add_option("--dump", options->dump,
                      "Print what a pass made ('all' = every one); repeatable");
  command->add_flag("--times", options->times, "Print the table of passes beside dumps, too");
  command->add_flag("--partial", options->partial, "The code for warps of which some lanes run");
  command->add_flag("--counting", options->counting, "The code that counts memory sectors");
  command->add_flag("--quick", options->quick, "As for a short launch: fewer passes");
  command->add_flag("--cached", options->cached, "Use the cache of machine code");
  add_common(*command, options->common);
  return {[options] {
    const auto answer = compile(*options);
    if (!answer)
      return report_error(answer.error(), options->common);
    if (options->common.json)
      print_json(*answer);
    else
      print_answer(*options, *answer);
    return kYes;
  }};
}

} // namespace kernevo::cli
