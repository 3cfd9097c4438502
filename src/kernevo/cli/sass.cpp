// kernevo sass FILE: the machine instructions of a kernel, with what the compiler tells the
// hardware about scheduling, their pipes, and the PTX lines they come from.
#include "kernevo/base/files.h"
#include "kernevo/base/printable.h"
#include "kernevo/base/suggest.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/sass/control_code.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/sass/flow.h"
#include "kernevo/sass/opcode_table.h"
#include "kernevo/toolchain/compile_worker.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string file;
  std::string kernel;
  std::string gpu = "A100";
  std::string architecture;
  std::vector<std::string> defines;
  std::vector<std::string> instances;
  bool ptx = false;
};

struct Answer {
  std::string ptx;
  sass::SassModule module;
  std::vector<const sass::SassFunction*> shown;
};

Result<CompileRequest> compile_request(const Options& options, const std::string& architecture) {
  KERNEVO_TRY(file, load_kernel_file(options.file));
  KERNEVO_TRY(parameters, choose_parameters(file));
  CompileRequest request;
  request.source = file.source;
  request.file = file.path;
  request.first_line = file.first_line;
  request.architecture = architecture;
  if (options.architecture.empty() && file.architecture)
    request.architecture = *file.architecture;
  request.macros = parse_defines(options.defines);
  for (const auto& [name, value] : request.macros)
    parameters.erase(name);
  for (const auto& [name, value] : parameters)
    request.macros.emplace_back(name, fmt::format("{}", value));
  request.flags = file.flags;
  request.max_registers = file.max_registers;
  request.name_expressions = options.instances;
  request.resources = false;
  return request;
}

Result<Answer> disassemble_file(const Options& options) {
  KERNEVO_TRY(toolchain, find_toolchain());
  std::string architecture = options.architecture;
  if (architecture.empty()) {
    KERNEVO_TRY(gpu, find_gpu(options.gpu));
    architecture = nearest_architecture(toolchain, gpu.compute_capability);
  }
  Answer answer;
  sass::DisassembleOptions how;
  how.architecture = architecture;
  if (options.file.ends_with(".ptx")) {
    KERNEVO_TRY(text, read_text_file(options.file));
    answer.ptx = std::move(text);
  } else {
    KERNEVO_TRY(request, compile_request(options, architecture));
    KERNEVO_TRY(build, build_or_fail(request));
    answer.ptx = build.ptx;
    how.architecture = request.architecture;
    how.flags = request.flags;
    how.max_registers = request.max_registers;
  }
  auto module = sass::disassemble(toolchain, answer.ptx, how);
  if (!module) {
    Error error = module.error();
    if (error.place && options.file.ends_with(".ptx"))
      error.place->file = options.file;
    return tl::unexpected<Error>(std::move(error));
  }
  answer.module = std::move(*module);
  return answer;
}

Result<void> choose(const Options& options, Answer& answer) {
  std::vector<std::string> names;
  for (const sass::SassFunction& function : answer.module.functions) {
    const std::string plain = plain_kernel_name(function.name);
    if (options.kernel.empty() || options.kernel == function.name || options.kernel == plain)
      answer.shown.push_back(&function);
    names.push_back(plain);
  }
  if (!answer.shown.empty())
    return {};
  if (options.kernel.empty())
    return fail(ErrorCode::input, "has no kernel", Place{options.file});
  return fail(ErrorCode::usage,
              fmt::format("no kernel '{}'{}", options.kernel, did_you_mean(options.kernel, names)),
              Place{options.file}, fmt::format("it has: {}", fmt::join(names, ", ")));
}

std::string guarded_text(const sass::SassInstruction& i) {
  if (!i.guard)
    return i.text();
  const bool uniform = i.guard->file == sass::RegisterFile::uniform_predicate;
  return fmt::format("@{}{}P{} {}", i.guard->negated ? "!" : "", uniform ? "U" : "",
                     i.guard->index == 7 ? "T" : fmt::format("{}", i.guard->index), i.text());
}

// Branch labels of the listing as block numbers, which is how the blocks are headed.
std::string target_remark(const sass::Flow& flow, const sass::SassFunction& function,
                          std::size_t k) {
  const sass::SassInstruction& i = function.instructions[k];
  std::vector<std::string> names;
  const auto add = [&](std::uint32_t offset) {
    for (std::size_t b = 0; b < flow.blocks.size(); ++b)
      if (function.instructions[flow.blocks[b].first].offset == offset)
        names.push_back(fmt::format("block {}", b));
  };
  if (i.target)
    add(*i.target);
  for (const std::uint32_t offset : i.indirect_targets)
    add(offset);
  return names.empty() ? "" : fmt::format("   -> {}", fmt::join(names, ", "));
}

void print_block_head(const sass::Flow& flow, const sass::SassFunction& function, std::size_t b) {
  const sass::BasicBlock& block = flow.blocks[b];
  std::vector<std::string> from;
  for (const std::size_t e : block.in)
    from.push_back(
        fmt::format("{}{}", flow.edges[e].from, flow.edges[e].from >= b ? " (loop)" : ""));
  std::string name;
  for (const sass::SassSymbol& symbol : function.symbols)
    if (symbol.offset == function.instructions[block.first].offset)
      name = "  " + symbol.name;
  fmt::print("\n{}{}\n", paint(fmt::format("block {}", b), Tone::strong),
             name + (from.empty() ? "" : fmt::format("  from {}", fmt::join(from, ", "))));
}

std::string_view ptx_text(const std::vector<std::string_view>& lines,
                          const std::optional<int>& line) {
  if (!line || *line < 1 || static_cast<std::size_t>(*line) > lines.size())
    return "";
  std::string_view text = lines[static_cast<std::size_t>(*line) - 1];
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

void print_pipes(const sass::SassFunction& function, const sass::Flow& flow) {
  std::map<sass::Pipe, int> counts;
  std::map<std::string, int> unknown;
  int total = 0;
  for (std::size_t k = 0; k < function.instructions.size(); ++k) {
    if (!flow.blocks[flow.block_of[k]].reachable)
      continue;
    ++total;
    ++counts[sass::pipe_of(function.instructions[k])];
    if (sass::find_opcode(function.instructions[k].opcode) == nullptr)
      ++unknown[function.instructions[k].opcode];
  }
  std::vector<std::string> parts;
  for (const auto& [pipe, count] : counts)
    parts.push_back(fmt::format("{} {}", sass::name_of(pipe), count));
  fmt::print("\n{} instructions in {} blocks: {}\n", total, flow.blocks.size(),
             fmt::join(parts, ", "));
  for (const auto& [opcode, count] : unknown)
    fmt::print("opcode {} ({} times) is not in the table of pipes\n", opcode, count);
}

void print_function(const Options& options, const Answer& answer,
                    const sass::SassFunction& function) {
  const sass::Flow flow = sass::find_flow(function);
  const std::vector<std::string_view> lines = lines_of(answer.ptx);
  fmt::print("{} ({}, {})\n", paint(plain_kernel_name(function.name), Tone::strong),
             answer.module.architecture, answer.module.assembler);
  if (!options.common.quiet)
    fmt::print(
        "waits on barriers 0-5, sets read / write barrier, yields, stalls | pipe | PTX line | "
        "instruction\n");
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    if (!flow.blocks[b].reachable)
      continue;
    print_block_head(flow, function, b);
    std::optional<int> previous;
    for (std::size_t k = flow.blocks[b].first; k < flow.blocks[b].last; ++k) {
      const sass::SassInstruction& i = function.instructions[k];
      if (options.ptx && i.ptx_line != previous)
        fmt::print("{:36}{:>6}  {}\n", "", i.ptx_line ? fmt::format("{}", *i.ptx_line) : "",
                   printable(ptx_text(lines, i.ptx_line)));
      previous = i.ptx_line;
      fmt::print("  {:04x}  {}  {:7}{:>6}  {}{}\n", i.offset, sass::format_control(i.control),
                 sass::name_of(sass::pipe_of(i)), i.ptx_line ? fmt::format("{}", *i.ptx_line) : "-",
                 guarded_text(i), target_remark(flow, function, k));
    }
  }
  print_pipes(function, flow);
}

Json to_json(const sass::SassFunction& function) {
  const sass::Flow flow = sass::find_flow(function);
  Json instructions = Json::array();
  for (std::size_t k = 0; k < function.instructions.size(); ++k) {
    const sass::SassInstruction& i = function.instructions[k];
    if (!flow.blocks[flow.block_of[k]].reachable)
      continue;
    Json one{{"offset", i.offset},
             {"block", flow.block_of[k]},
             {"text", guarded_text(i)},
             {"pipe", sass::name_of(sass::pipe_of(i))},
             {"class", sass::name_of(sass::class_of(i))},
             {"stall", i.control.stall},
             {"yield", i.control.yield},
             {"wait_mask", i.control.wait_mask},
             {"reuse_mask", i.control.reuse_mask}};
    if (i.ptx_line)
      one["ptx_line"] = *i.ptx_line;
    if (i.control.write_barrier)
      one["write_barrier"] = *i.control.write_barrier;
    if (i.control.read_barrier)
      one["read_barrier"] = *i.control.read_barrier;
    if (i.memory)
      one["bytes"] = i.memory->bytes;
    instructions.push_back(std::move(one));
  }
  Json edges = Json::array();
  for (const sass::Edge& edge : flow.edges)
    if (flow.blocks[edge.from].reachable)
      edges.push_back({edge.from, edge.to});
  return {{"name", function.name}, {"instructions", instructions}, {"edges", edges}};
}

void print_json(const Answer& answer) {
  Json functions = Json::array();
  for (const sass::SassFunction* function : answer.shown)
    functions.push_back(to_json(*function));
  fmt::print(
      "{}\n",
      dump_json(Json{{"architecture", answer.module.architecture}, {"functions", functions}}, 2));
}

} // namespace

Command add_sass(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "sass", "Show the machine instructions of a kernel: stalls, barriers, pipes, PTX lines");
  command->add_option("FILE", options->file, "PTX (.ptx) or a kernel file")->required();
  command->add_option("--gpu", options->gpu, "GPU to assemble for")->capture_default_str();
  command->add_option("--arch", options->architecture, "Architecture instead of a GPU: sm_90a");
  command->add_option("--kernel", options->kernel, "Only this kernel");
  command->add_option("-D,--define", options->defines, "Macro NAME=VALUE; repeatable");
  command->add_option("--instance", options->instances, "Template instantiation: 'reduce<256>'");
  command->add_flag("--ptx", options->ptx, "Print the PTX line above what it became");
  add_common(*command, options->common);
  return {[options] {
    auto answer = disassemble_file(*options);
    if (!answer)
      return report_error(answer.error(), options->common);
    if (const auto chosen = choose(*options, *answer); !chosen)
      return report_error(chosen.error(), options->common);
    if (options->common.json)
      print_json(*answer);
    else
      for (const sass::SassFunction* function : answer->shown)
        print_function(*options, *answer, *function);
    return kYes;
  }};
}

} // namespace kernevo::cli
