// What profiling costs: the same blocks of a kernel, run in turns as `kernevo check` runs them
// (with every sanitizer; without, as on large shapes) and in profile mode. Processor time, the
// least of the rounds. Exit 1 when profiling takes more than three times as long as the check.
//   bench_profile_overhead KERNELS.cu [BLOCKS]
#include "kernevo/base/files.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/toolchain/toolchain.h"
#include "kernevo/vgpu/execute/machine.h"
#include "problem.h"
#include "report.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <limits>

using namespace kernevo;

namespace {

constexpr double kMostRatio = 3;
constexpr int kRounds = 7;
constexpr std::uint64_t kL1Bytes = 16384;

enum Mode : std::size_t { checked, plain, profiled };

template <class Value> void append(std::vector<std::byte>& parameters, Value value) {
  const std::size_t at = (parameters.size() + sizeof value - 1) / sizeof value * sizeof value;
  parameters.resize(at + sizeof value);
  std::memcpy(parameters.data() + at, &value, sizeof value);
}

// Processor milliseconds of one launch of the blocks.
Result<double> run(const std::string& ptx, const bench::Problem& problem, Mode mode,
                   std::uint64_t blocks) {
  KERNEVO_TRY(program, vgpu::load_program(ptx, "kernels.cu"));
  KERNEVO_TRY(gpu, find_gpu("A100"));
  vgpu::MachineOptions options;
  options.cores = 1;
  options.sanitize = mode == checked;
  options.tier = vgpu::Tier::interpreter;
  vgpu::Machine machine(gpu, options);
  if (mode == profiled)
    machine.profile(kL1Bytes);
  vgpu::LaunchConfig config;
  config.kernel = problem.kernel;
  config.grid = problem.grid;
  config.block = problem.block;
  config.only_blocks = choose_blocks(problem.grid, blocks, 1);
  for (const std::vector<float>& input : problem.inputs) {
    KERNEVO_TRY(pointer, machine.allocate(input.size() * sizeof(float), "input"));
    std::memcpy(machine.bytes(pointer).data(), input.data(), input.size() * sizeof(float));
    append(config.parameters, pointer);
  }
  KERNEVO_TRY(output, machine.allocate(problem.expected.size() * sizeof(float), "output"));
  append(config.parameters, output);
  append(config.parameters, problem.integer);
  const bench::Stopwatch watch;
  const vgpu::LaunchResult result = machine.launch(*program, config);
  const double took = watch.processor_milliseconds();
  if (result.fault)
    return fail(ErrorCode::input, problem.kernel + ": " + result.fault->message);
  return took;
}

Result<bool> bench_all(const std::string& file, std::uint64_t blocks) {
  KERNEVO_TRY(toolchain, find_toolchain());
  CompileRequest request;
  KERNEVO_TRY(source, read_text_file(file));
  request.source = source;
  request.file = file;
  KERNEVO_TRY(build, compile(toolchain, request));
  if (!build.ok)
    return fail(ErrorCode::input, "does not compile", Place{file});
  fmt::print(
      "kernel\tblocks\tchecked_ms\tplain_ms\tprofiled_ms\tprofiled/checked\tprofiled/plain\n");
  bool held = true;
  for (const std::string& kernel : bench::kernel_names()) {
    const bench::Problem problem = bench::make_problem(kernel, {});
    std::array<double, 3> least;
    least.fill(std::numeric_limits<double>::infinity());
    for (int round = 0; round < kRounds; ++round)
      for (const Mode mode : {checked, plain, profiled}) {
        KERNEVO_TRY(took, run(build.ptx, problem, mode, blocks));
        least.at(mode) = std::min(least.at(mode), took);
      }
    held = held && least[profiled] <= kMostRatio * least[checked];
    fmt::print("{}\t{}\t{:.2f}\t{:.2f}\t{:.2f}\t{:.2f}\t{:.2f}\n", kernel,
               choose_blocks(problem.grid, blocks, 1).size(), least[checked], least[plain],
               least[profiled], least[profiled] / least[checked], least[profiled] / least[plain]);
  }
  return held;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: bench_profile_overhead KERNELS.cu [BLOCKS]\n");
    return 2;
  }
  const std::uint64_t blocks = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 16;
  const auto held = bench_all(argv[1], std::max<std::uint64_t>(1, blocks));
  if (!held) {
    fmt::print(stderr, "bench: {}\n", format_error(held.error()));
    return 3;
  }
  return *held ? 0 : 1;
}
