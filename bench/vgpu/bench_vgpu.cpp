// Times kernels on the virtual GPU. One line of JSON per measurement:
//   bench_vgpu kernels FILE   the benchmark's kernels, results checked
//   bench_vgpu loop-nest      the same matrix product as plain C++
//   bench_vgpu first FILE     any kernel: from PTX text to its first launch's return
//   bench_vgpu compile FILE   every kernel to machine code, in a process that has compiled before
//   bench_vgpu big            a huge kernel, launched again and again
#include "big_kernel.h"
#include "kernevo/base/result.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/toolchain/toolchain.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/program/kernels.h"
#include "kernevo/vgpu/tier/plugin.h"
#include "loop_nest.h"
#include "problem.h"
#include "report.h"

#include <CLI/CLI.hpp>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

namespace {

using namespace kernevo;
using namespace kernevo::vgpu;
using Json = nlohmann::json;

struct Options {
  std::string file;
  std::vector<std::string> kernels;
  std::vector<int> size;
  Tier tier = Tier::compiled;
  int cores = 1;
  bool counting = false;
  int repetitions = 15;
  double seconds = 10;
  bool quick = false;
  int instructions = 20'000;
  int loops = 20;
};

const std::map<std::string, Tier> kTiers = {{"automatic", Tier::automatic},
                                            {"interpreter", Tier::interpreter},
                                            {"compiled", Tier::compiled}};

std::string tier_name(Tier tier) {
  for (const auto& [name, value] : kTiers)
    if (value == tier)
      return name;
  return "";
}

Result<std::string> ptx_of(const std::string& file) {
  std::ifstream stream(file);
  if (!stream)
    return fail(ErrorCode::input, "cannot be read", Place{file});
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (file.ends_with(".ptx"))
    return text;
  KERNEVO_TRY(toolchain, find_toolchain());
  CompileRequest request;
  request.source = std::move(text);
  request.file = file;
  request.resources = false;
  KERNEVO_TRY(build, compile(toolchain, request));
  if (!build.ok)
    return fail(ErrorCode::input,
                build.diagnostics.empty() ? "does not compile" : build.diagnostics.front().message,
                Place{file});
  return build.ptx;
}

Result<Machine> make_machine(const Options& options) {
  KERNEVO_TRY(gpu, find_gpu("A100"));
  MachineOptions machine;
  machine.cores = options.cores;
  machine.tier = options.tier;
  machine.count_memory = options.counting;
  machine.instruction_budget = std::uint64_t{1} << 40U;
  return Machine(gpu, machine);
}

template <class Value> void append(std::vector<std::byte>& parameters, Value value) {
  const std::size_t at = (parameters.size() + sizeof value - 1) / sizeof value * sizeof value;
  parameters.resize(at + sizeof value);
  std::memcpy(parameters.data() + at, &value, sizeof value);
}

void print(const Json& json) {
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

Result<void> report_fault(const std::string& kernel, const LaunchResult& result) {
  if (result.fault)
    return fail(ErrorCode::input, kernel + ": " + result.fault->message);
  return {};
}

Result<void> run_kernel(const Options& options, const std::string& ptx, const std::string& kernel) {
  const bench::Problem problem = bench::make_problem(kernel, options.size);
  const bench::Stopwatch load;
  KERNEVO_TRY(program, load_program(ptx, options.file));
  const double load_ms = load.milliseconds();
  KERNEVO_TRY(machine, make_machine(options));
  LaunchConfig config;
  config.kernel = kernel;
  config.grid = problem.grid;
  config.block = problem.block;
  for (const std::vector<float>& input : problem.inputs) {
    KERNEVO_TRY(pointer, machine.allocate(input.size() * sizeof(float), "input"));
    std::memcpy(machine.bytes(pointer).data(), input.data(), input.size() * sizeof(float));
    append(config.parameters, pointer);
  }
  KERNEVO_TRY(output, machine.allocate(problem.expected.size() * sizeof(float), "output"));
  append(config.parameters, output);
  append(config.parameters, problem.integer);

  const bench::Stopwatch first;
  LaunchResult result = machine.launch(*program, config);
  const double first_ms = first.milliseconds();
  const auto times = bench::repeat(options.repetitions, options.seconds, [&] {
    if (!result.fault)
      result = machine.launch(*program, config);
    return !result.fault;
  });
  KERNEVO_CHECK(report_fault(kernel, result));
  std::vector<float> values(problem.expected.size());
  std::memcpy(values.data(), machine.bytes(output).data(), values.size() * sizeof(float));
  Json json = bench::describe(problem, times, values.data());
  const auto& statistics = result.statistics;
  json.update({{"tier", tier_name(options.tier)},
               {"cores", options.cores},
               {"counting", options.counting},
               {"blocks", statistics.blocks_run},
               {"load_ms", load_ms},
               {"first_launch_ms", first_ms},
               {"warp_instructions", statistics.warp_instructions},
               {"compiled_instructions", statistics.compiled_instructions},
               {"load_sectors", statistics.memory.global_load_sectors},
               {"store_sectors", statistics.memory.global_store_sectors}});
  print(json);
  return {};
}

Result<void> run_kernels(const Options& options) {
  KERNEVO_TRY(ptx, ptx_of(options.file));
  for (const std::string& kernel :
       options.kernels.empty() ? bench::kernel_names() : options.kernels)
    KERNEVO_CHECK(run_kernel(options, ptx, kernel));
  return {};
}

// With several cores: every core its own product, to see what the machine itself loses.
Result<void> run_loop_nest(const Options& options) {
  const bench::Problem problem = bench::make_problem("matmul_naive", options.size);
  const auto cores = static_cast<std::size_t>(options.cores);
  std::vector<std::vector<float>> outputs(cores, std::vector<float>(problem.expected.size()));
  const auto product = [&](std::size_t core) {
    bench::loop_nest(problem.inputs[0].data(), problem.inputs[1].data(), outputs[core].data(),
                     problem.integer);
  };
  product(0);
  const auto times = bench::repeat(options.repetitions, options.seconds, [&] {
    std::vector<std::jthread> others;
    for (std::size_t core = 1; core < cores; ++core)
      others.emplace_back([&product, core] { product(core); });
    product(0);
    return true;
  });
  Json json = bench::describe(problem, times, outputs[0].data());
  json["kernel"] = "loop_nest";
  json["cores"] = options.cores;
  json["flags"] = bench::kLoopNestFlags;
  print(json);
  return {};
}

// Every parameter of pointer size is a buffer of its own, every other one is 64.
Result<void> run_first(const Options& options) {
  constexpr std::uint64_t kBytes = 1U << 20U;
  constexpr int kInteger = 64;
  KERNEVO_TRY(ptx, ptx_of(options.file));
  KERNEVO_TRY(listed, load_program(ptx, options.file));
  for (const KernelInfo& info : kernels_of(*listed)) {
    const bench::Stopwatch load;
    KERNEVO_TRY(program, load_program(ptx, options.file));
    const double load_ms = load.milliseconds();
    KERNEVO_TRY(machine, make_machine(options));
    LaunchConfig config;
    config.kernel = info.name;
    config.grid = {4, 1, 1};
    config.block = {128, 1, 1};
    for (const auto& parameter : info.parameters) {
      if (parameter.size == sizeof(DevicePointer)) {
        KERNEVO_TRY(pointer, machine.allocate(kBytes, "buffer"));
        append(config.parameters, pointer);
      } else {
        append(config.parameters, kInteger);
      }
    }
    const bench::Stopwatch first;
    const LaunchResult result = machine.launch(*program, config);
    const double first_ms = first.milliseconds();
    KERNEVO_CHECK(report_fault(info.demangled, result));
    print({{"kernel", info.demangled},
           {"instructions", info.instructions},
           {"tier", tier_name(options.tier)},
           {"load_ms", load_ms},
           {"first_launch_ms", first_ms},
           {"warp_instructions", result.statistics.warp_instructions}});
  }
  return {};
}

Result<void> run_compile(const Options& options) {
  KERNEVO_TRY(ptx, ptx_of(options.file));
  KERNEVO_TRY(program, load_program(ptx, options.file));
  KERNEVO_TRY(compiler, load_compiler());
  CompileJob job;
  job.program = program;
  job.facts = analysis::lane_facts({128, 1, 1});
  job.optimise = !options.quick;
  std::map<std::string, std::vector<bench::Time>> times;
  for (int i = 0; i <= options.repetitions; ++i)
    for (const KernelInfo& info : kernels_of(*program)) {
      job.function = program->function_of.find(info.name)->second;
      const bench::Stopwatch one;
      KERNEVO_CHECK(compiler->compile(job));
      if (i > 0)
        times[info.demangled].push_back({one.milliseconds(), one.processor_milliseconds()});
    }
  for (const auto& [kernel, all] : times) {
    Json json = bench::describe(all);
    json.update({{"kernel", kernel}, {"quick", options.quick}});
    print(json);
  }
  return {};
}

// The same launch again and again: nobody may wait for the compiler, and its code is taken over
// when it is there.
Result<void> run_big(const Options& options) {
  constexpr std::uint32_t kBlocks = 32;
  constexpr std::uint32_t kThreads = 128;
  const std::string ptx = bench::big_kernel(options.instructions);
  const bench::Stopwatch load;
  KERNEVO_TRY(program, load_program(ptx, "big.ptx"));
  const double load_ms = load.milliseconds();
  KERNEVO_TRY(machine, make_machine(options));
  KERNEVO_TRY(data, machine.allocate(kBlocks * kThreads * sizeof(float), "data"));
  LaunchConfig config;
  config.kernel = "big";
  config.grid = {kBlocks, 1, 1};
  config.block = {kThreads, 1, 1};
  append(config.parameters, data);
  append(config.parameters, options.loops);
  std::vector<double> times;
  std::vector<double> compiled_shares;
  for (int i = 0; i < options.repetitions; ++i) {
    const bench::Stopwatch one;
    const LaunchResult result = machine.launch(*program, config);
    times.push_back(one.milliseconds());
    KERNEVO_CHECK(report_fault("big", result));
    compiled_shares.push_back(static_cast<double>(result.statistics.compiled_instructions) /
                              static_cast<double>(result.statistics.warp_instructions));
  }
  print({{"kernel", "big"},
         {"instructions", options.instructions},
         {"tier", tier_name(options.tier)},
         {"load_ms", load_ms},
         {"launches_ms", times},
         {"compiled_shares", compiled_shares}});
  return {};
}

void add_machine_options(CLI::App& command, Options& options) {
  command.add_option("--tier", options.tier, "Who executes")
      ->transform(CLI::CheckedTransformer(kTiers));
  command.add_option("--cores", options.cores, "Cores, 0 = all")->capture_default_str();
}

void add_repetitions(CLI::App& command, Options& options) {
  command.add_option("--repetitions", options.repetitions, "Launches that are timed")
      ->capture_default_str();
  command.add_option("--seconds", options.seconds, "Stop repeating after this long")
      ->capture_default_str();
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times kernels on the virtual GPU; prints JSON lines");
  app.require_subcommand(1);
  CLI::App* kernels = app.add_subcommand("kernels", "The benchmark's kernels, results checked");
  kernels->add_option("file", options.file, "CUDA or PTX")->required();
  kernels->add_option("--kernel", options.kernels, "Only this one; repeatable");
  kernels->add_option("--size", options.size, "n, or rows,columns")->delimiter(',');
  kernels->add_flag("--counting", options.counting, "Count memory sectors");
  add_machine_options(*kernels, options);
  add_repetitions(*kernels, options);
  CLI::App* nest = app.add_subcommand("loop-nest", "The matrix product as plain C++");
  nest->add_option("--size", options.size, "n");
  nest->add_option("--cores", options.cores, "Cores, each with a product of its own");
  add_repetitions(*nest, options);
  CLI::App* first = app.add_subcommand("first", "From PTX text to the first launch's return");
  first->add_option("file", options.file, "CUDA or PTX")->required();
  add_machine_options(*first, options);
  CLI::App* compiling = app.add_subcommand("compile", "Every kernel to machine code");
  compiling->add_option("file", options.file, "CUDA or PTX")->required();
  compiling->add_flag("--quick", options.quick, "As for a short launch");
  add_repetitions(*compiling, options);
  CLI::App* big = app.add_subcommand("big", "A huge kernel, launched again and again");
  big->add_option("--instructions", options.instructions, "How huge")->capture_default_str();
  big->add_option("--loops", options.loops, "Times that each thread runs them")
      ->capture_default_str();
  add_machine_options(*big, options);
  add_repetitions(*big, options);
  CLI11_PARSE(app, argc, argv);

  const Result<void> done = *kernels     ? run_kernels(options)
                            : *nest      ? run_loop_nest(options)
                            : *first     ? run_first(options)
                            : *compiling ? run_compile(options)
                                         : run_big(options);
  if (done)
    return 0;
  fmt::print(stderr, "bench_vgpu: {}\n", format_error(done.error()));
  return exit_code(done.error().code);
}
