// Results of a run in KernelBench's own layout, so that its analysis reads ours and we read theirs:
// programs level_L_problem_P_sample_S_kernel.py in a folder, eval_results.json beside them, times
// of the reference in a baseline file.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct SampleFile {
  int level = 0;
  int problem = 0;
  int sample = 0;
  std::filesystem::path file;
};
// In the order of problems and samples. Files of other names are none.
Result<std::vector<SampleFile>> find_samples(const std::filesystem::path& run);

struct SampleResult {
  int sample = 0;
  bool compiled = false;
  bool correct = false;
  double runtime_ms = -1;                      // none
  std::map<std::string, std::string> metadata; // what is text of it
};
using RunResults = std::map<int, std::vector<SampleResult>>; // by problem

// Empty where there is no such file yet.
Result<RunResults> read_results(const std::filesystem::path& file);
Result<void> write_results(const std::filesystem::path& file, const RunResults& results);

// The reference's times in milliseconds, by level and name of the problem's file.
using Baselines = std::map<std::string, std::map<std::string, double>>;
Result<Baselines> read_baselines(const std::filesystem::path& file);
// `hardware`: what they are of, and that they are modelled.
Result<void> write_baselines(const std::filesystem::path& file, const Baselines& baselines,
                             const std::string& hardware);

struct SpeedUp {
  bool correct = false;
  std::optional<double> ratio; // time of the reference / time of the program
};
// Share of all that are right and more than so many times as fast.
double fast_p(const std::vector<SpeedUp>& all, double p);
// Of those that are right and have a time; 0 where none has.
double geometric_mean(const std::vector<SpeedUp>& all);

} // namespace kernevo
