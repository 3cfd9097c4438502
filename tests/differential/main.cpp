// Compares the tiers on random programs for as long as asked.
#include "compare.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <string>

namespace {

using kernevo::test::Comparison;
using kernevo::test::RandomProgram;

struct Options {
  double seconds = 60;
  std::uint64_t seed = 1;
  std::uint64_t programs = ~std::uint64_t{0};
  std::string folder = ".";
  bool print = false; // the program of the seed, instead of running it
};

int usage() {
  fmt::print(stderr, "usage: kernevo_differential [--seconds N] [--seed S] [--programs N] "
                     "[--folder F] [--print]\n");
  return 2;
}

} // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--print") {
      options.print = true;
      continue;
    }
    if (i + 1 == count)
      return usage();
    const char* value = arguments[++i];
    if (name == "--seconds")
      options.seconds = std::strtod(value, nullptr);
    else if (name == "--seed")
      options.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--programs")
      options.programs = std::strtoull(value, nullptr, 10);
    else if (name == "--folder")
      options.folder = value;
    else
      return usage();
  }
  if (options.print) {
    fmt::print("{}", kernevo::test::random_program(options.seed).text());
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t done = 0;
  std::uint64_t differences = 0;
  std::uint64_t faults = 0;
  std::uint64_t instructions = 0;
  std::uint64_t compiled = 0;
  double reported = 0;
  while (elapsed() < options.seconds && done < options.programs) {
    const std::uint64_t seed = options.seed + done++;
    const RandomProgram program = kernevo::test::random_program(seed);
    const Comparison result = kernevo::test::compare_tiers(program, program.text());
    if (result.refused) {
      fmt::print("seed {}: not a valid program: {}\n", seed, *result.refused);
      ++differences;
    }
    if (result.difference) {
      ++differences;
      fmt::print("seed {}: {}\n", seed, *result.difference);
      std::fflush(stdout);
      fmt::print("  {}\n", kernevo::test::report_difference(program, options.folder));
    }
    faults += result.faulted ? 1 : 0;
    instructions += result.warp_instructions;
    compiled += result.compiled_instructions;
    if (elapsed() - reported > 30) {
      reported = elapsed();
      fmt::print("{:.0f} s: seeds {} to {}, {} differences\n", reported, options.seed, seed,
                 differences);
    }
    std::fflush(stdout);
  }
  fmt::print("seeds {} to {}: {} programs in {:.0f} s, {} of them faulted, {} warp instructions "
             "({} compiled), {} differences\n",
             options.seed, options.seed + done - 1, done, elapsed(), faults, instructions, compiled,
             differences);
  return differences == 0 ? 0 : 1;
}
