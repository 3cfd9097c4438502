// Searches recorded spaces and prints, for every strategy, space and seed, the fraction of the
// optimum after some numbers of evaluations. bench/search/run.py puts them beside Kernel Tuner's.
//   bench_search [--strategies a,b] [--seeds N] [--budgets 25,50] [--prior SPEARMAN]
//                [--predictions FOLDER] SPACE...
// Tab-separated: strategy space seed evaluations fraction processor-ms-a-proposal
#include "kernevo/base/files.h"
#include "kernevo/search/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <numeric>
#include <sstream>

namespace {

using namespace kernevo;
using namespace kernevo::search;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    rank[order[i]] = static_cast<double>(i);
  return rank;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> left = ranks(a);
  const std::vector<double> right = ranks(b);
  const double centre = 0.5 * static_cast<double>(a.size() - 1);
  double covariance = 0;
  double variance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    covariance += (left[i] - centre) * (right[i] - centre);
    variance += (left[i] - centre) * (left[i] - centre);
  }
  return covariance / variance;
}

// A prediction that errs as a model of a GPU does: half of its error goes with the parameters (it
// misjudges what a value of one, or a pair of values of two, does), half is noise. The size of the
// error is chosen so that the rank correlation with the truth is as asked.
Prior make_prior(const RecordedSpace& recorded, double wanted, std::uint64_t seed) {
  const SearchSpace& space = recorded.space;
  RandomStream random(seed, 99, 0);
  const std::size_t count = space.parameters().size();
  std::map<std::vector<std::size_t>, double> effects;
  auto effect = [&](std::vector<std::size_t> key) {
    const auto [found, added] = effects.try_emplace(std::move(key), 0.0);
    if (added)
      found->second = random.normal();
    return found->second;
  };
  std::vector<double> truth;
  std::vector<double> error;
  double slowest = 0;
  for (const Trial& trial : recorded.trials)
    slowest = std::max(slowest, trial.time ? trial.time->value : 0.0);
  for (Configuration c = 0; c < space.size(); ++c) {
    const auto row = space.row(c);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += effect({i, row[i]});
      for (std::size_t j = i + 1; j < count; ++j)
        sum += effect({i, row[i], j, row[j]}) / std::sqrt(0.5 * static_cast<double>(count));
    }
    error.push_back(sum / std::sqrt(2.0 * static_cast<double>(count)) + random.normal());
    // It knows nothing of failures: those get times like any other.
    const Trial& trial = recorded.trials[c];
    truth.push_back(std::log(trial.time ? trial.time->value
                                        : recorded.best.value +
                                              random.uniform() * (slowest - recorded.best.value)));
  }
  double low = 0;
  double high = 20;
  std::vector<double> predicted(truth.size());
  for (int step = 0; step < 30; ++step) {
    const double size = 0.5 * (low + high);
    for (std::size_t i = 0; i < truth.size(); ++i)
      predicted[i] = truth[i] + size * error[i];
    (spearman(predicted, truth) > wanted ? low : high) = size;
  }
  Prior prior;
  for (const double value : predicted)
    prior.predicted.push_back(std::exp(value));
  return prior;
}

// What the timing model predicted for some of the configurations (bench/fidelity/run.py --save):
// a table of the parameters and the time.
Result<Prior> read_predictions(const RecordedSpace& recorded, const std::string& folder) {
  const std::string path = folder + "/" + recorded.name + ".tsv";
  KERNEVO_TRY(text, read_text_file(path));
  Prior prior;
  prior.predicted.assign(recorded.space.size(), std::nan(""));
  std::istringstream lines(text);
  std::string line;
  std::vector<std::string> names;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, '\t');)
      row.push_back(cell);
    if (number == 1) {
      names = row;
      continue;
    }
    ParameterValues values;
    for (std::size_t i = 0; i + 1 < row.size() && i < names.size(); ++i)
      values[names[i]] = std::stoll(row[i]);
    const auto found = recorded.space.find(values);
    if (!found)
      return fail(ErrorCode::input, "a configuration the space does not have", Place{path, number});
    prior.predicted[*found] = std::stod(row.back());
  }
  return prior;
}

int run(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const StrategyEntry& entry : strategies())
    names.emplace_back(entry.name);
  std::vector<std::size_t> budgets = {10, 25, 50, 100, 200};
  std::uint64_t seeds = 20;
  std::optional<double> correlation;
  std::string predictions;
  bool counters = true;
  std::vector<std::string> files;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--no-counters") {
      counters = false;
    } else if (!arguments[i].starts_with("--")) {
      files.push_back(arguments[i]);
    } else if (i + 1 == arguments.size()) {
      fmt::print(stderr, "bench_search: {} wants a value\n", arguments[i]);
      return 2;
    } else if (const std::string& value = arguments[++i]; arguments[i - 1] == "--strategies") {
      names = split(value);
    } else if (arguments[i - 1] == "--seeds") {
      seeds = std::stoull(value);
    } else if (arguments[i - 1] == "--prior") {
      correlation = std::stod(value);
    } else if (arguments[i - 1] == "--predictions") {
      predictions = value;
    } else if (arguments[i - 1] == "--budgets") {
      budgets.clear();
      for (const std::string& part : split(value))
        budgets.push_back(std::stoul(part));
    } else {
      fmt::print(stderr, "bench_search: unknown option {}\n", arguments[i - 1]);
      return 2;
    }
  }
  const std::size_t most = *std::max_element(budgets.begin(), budgets.end());
  for (const std::string& file : files) {
    auto recorded = load_recorded_space(file);
    if (!recorded) {
      fmt::print(stderr, "bench_search: {}\n", format_error(recorded.error()));
      return exit_code(recorded.error().code);
    }
    if (!counters)
      for (Trial& trial : recorded->trials)
        trial.counters.clear();
    Prior predicted;
    if (!predictions.empty()) {
      auto read = read_predictions(*recorded, predictions);
      if (!read) {
        fmt::print(stderr, "bench_search: {}\n", format_error(read.error()));
        return exit_code(read.error().code);
      }
      predicted = std::move(*read);
    }
    for (const std::string& name : names) {
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        SearchOptions options;
        options.strategy = name;
        options.seed = seed;
        options.prior = predicted;
        if (correlation)
          options.prior = make_prior(*recorded, *correlation, seed);
        const std::clock_t start = std::clock();
        const auto result = replay(*recorded, options, most);
        const double spent = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        if (!result) {
          fmt::print(stderr, "bench_search: {}\n", format_error(result.error()));
          return exit_code(result.error().code);
        }
        const double each = spent / static_cast<double>(result->order.size());
        for (const std::size_t budget : budgets)
          fmt::print("{}\t{}\t{}\t{}\t{:.6f}\t{:.4f}\n", name, recorded->name, seed, budget,
                     result->fraction[std::min(budget, result->fraction.size()) - 1], each);
      }
      std::fflush(stdout);
    }
  }
  return 0;
}

} // namespace

int main(int count, char** arguments) {
  return run({arguments + 1, arguments + count});
}
