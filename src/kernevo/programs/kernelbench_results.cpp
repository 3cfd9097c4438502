#include "kernevo/programs/kernelbench_results.h"

#include "kernevo/base/files.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <tuple>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

constexpr const char* kForm = "level_%d_problem_%d_sample_%d_kernel.py%n";

std::optional<SampleFile> sample_of(const fs::path& file) {
  const std::string name = file.filename().string();
  SampleFile sample;
  int end = 0;
  const int read =
      std::sscanf(name.c_str(), kForm, &sample.level, &sample.problem, &sample.sample, &end);
  if (read != 3 || end != static_cast<int>(name.size()))
    return std::nullopt;
  sample.file = file;
  return sample;
}

SampleResult result_of(const Json& json) {
  SampleResult result;
  result.sample = count_at(json, "sample_id");
  result.compiled = json.at("compiled");
  result.correct = json.at("correctness");
  if (const auto runtime = json.find("runtime"); runtime != json.end() && runtime->is_number())
    result.runtime_ms = runtime->get<double>();
  if (const auto metadata = json.find("metadata"); metadata != json.end())
    for (const auto& [key, value] : metadata->items())
      result.metadata[key] = value.is_string() ? value.get<std::string>() : dump_json(value);
  return result;
}

// Theirs holds a list of samples; older files one sample as it is.
std::vector<SampleResult> results_of(const Json& json) {
  if (json.is_object())
    return {result_of(json)};
  std::vector<SampleResult> results;
  for (const Json& one : json)
    results.push_back(result_of(one));
  return results;
}

Json json_of(const SampleResult& result) {
  Json stats = Json::object();
  if (result.runtime_ms > 0)
    stats = {{"mean", result.runtime_ms},
             {"std", 0.0},
             {"min", result.runtime_ms},
             {"max", result.runtime_ms},
             {"num_trials", 1}};
  return {{"sample_id", result.sample},    {"compiled", result.compiled},
          {"correctness", result.correct}, {"metadata", result.metadata},
          {"runtime", result.runtime_ms},  {"runtime_stats", std::move(stats)}};
}

template <class T, class Reader>
Result<T> read_file(const fs::path& file, const char* what, Reader&& reader) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return T{};
  KERNEVO_TRY(text, read_text_file(file));
  auto read = read_json(text, what, std::forward<Reader>(reader));
  if (!read) {
    read.error().place = Place{file.string()};
    read.error().fix = "mend it, or move it away to begin anew";
  }
  return read;
}

} // namespace

Result<std::vector<SampleFile>> find_samples(const fs::path& run) {
  std::error_code problem;
  std::vector<SampleFile> samples;
  for (const auto& entry : fs::directory_iterator(run, problem))
    if (const auto sample = sample_of(entry.path()))
      samples.push_back(*sample);
  if (problem)
    return fail(ErrorCode::input, problem.message(), Place{run.string()},
                "name the folder of a run's programs");
  std::ranges::sort(samples, {},
                    [](const SampleFile& s) { return std::tuple(s.level, s.problem, s.sample); });
  return samples;
}

Result<RunResults> read_results(const fs::path& file) {
  return read_file<RunResults>(file, "results of KernelBench", [](const Json& json) {
    RunResults results;
    for (const auto& [problem, samples] : json.items()) {
      if (problem.empty() || problem.size() > 6 ||
          problem.find_first_not_of("0123456789") != std::string::npos)
        refuse("'" + one_line(problem, 40) + "' is no number of a problem");
      results[std::stoi(problem)] = results_of(samples);
    }
    return results;
  });
}

Result<void> write_results(const fs::path& file, const RunResults& results) {
  Json json = Json::object();
  for (const auto& [problem, samples] : results) {
    Json& list = json[std::to_string(problem)] = Json::array();
    for (const SampleResult& sample : samples)
      list.push_back(json_of(sample));
  }
  return write_file_atomically(file, dump_json(json, 4) + "\n");
}

Result<Baselines> read_baselines(const fs::path& file) {
  return read_file<Baselines>(file, "baselines of KernelBench", [](const Json& json) {
    Baselines baselines;
    for (const auto& [level, problems] : json.items())
      for (const auto& [name, time] : problems.items())
        baselines[level][name] = amount_at(time, "mean");
    return baselines;
  });
}

Result<void> write_baselines(const fs::path& file, const Baselines& baselines,
                             const std::string& hardware) {
  Json json = Json::object();
  for (const auto& [level, problems] : baselines) {
    Json& of_level = json[level] = Json::object();
    for (const auto& [name, mean] : problems)
      of_level[name] = {{"mean", mean},        {"std", 0.0},      {"min", mean},
                        {"max", mean},         {"num_trials", 1}, {"hardware", hardware},
                        {"device", "modelled"}};
  }
  return write_file_atomically(file, dump_json(json, 4) + "\n");
}

double fast_p(const std::vector<SpeedUp>& all, double p) {
  const auto fast = std::ranges::count_if(
      all, [&](const SpeedUp& one) { return one.correct && one.ratio && *one.ratio > p; });
  return all.empty() ? 0 : static_cast<double>(fast) / static_cast<double>(all.size());
}

double geometric_mean(const std::vector<SpeedUp>& all) {
  double logs = 0;
  std::size_t timed = 0;
  for (const SpeedUp& one : all)
    if (one.correct && one.ratio && *one.ratio > 0) {
      logs += std::log(*one.ratio);
      ++timed;
    }
  return timed == 0 ? 0 : std::exp(logs / static_cast<double>(timed));
}

} // namespace kernevo
