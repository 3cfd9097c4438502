#include "kernevo/explain/counter_map.h"

#include "kernevo/base/files.h"
#include "kernevo/base/share_files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/explain/metrics.h"
#include "kernevo/task/yaml_fields.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace kernevo {
namespace {

constexpr std::array<std::string_view, 3> kKept = {"launch", "program", "model"};

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricInfo& metric : metric_table())
    names.emplace_back(metric.name);
  return names;
}

// The profilers' names have a doubled underscore after the unit they belong to.
std::vector<std::string> counters_in(std::string_view text) {
  std::vector<std::string> names;
  std::string word;
  const auto finish = [&] {
    if (word.find("__") != std::string::npos)
      names.push_back(word);
    word.clear();
  };
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.')
      word += c;
    else
      finish();
  finish();
  return names;
}

class SourceReader {
public:
  explicit SourceReader(const YamlNode& map) : map_(map) {}

  Result<MetricSource> read() {
    KERNEVO_CHECK(expect_map(map_, "a metric's source"));
    KERNEVO_CHECK(check_keys(map_, {"metric", "needed", "counted", "follows", "kept", "why"},
                             "a metric's source"));
    source_.place = map_.place;
    KERNEVO_CHECK(metric());
    if (const YamlNode* needed = map_.find("needed")) {
      KERNEVO_TRY(value, read_flag(*needed, "needed"));
      source_.needed = value;
    }
    KERNEVO_CHECK(counted());
    KERNEVO_CHECK(follows());
    KERNEVO_CHECK(kept());
    if ((source_.counted.empty() ? 0 : 1) + (source_.follows ? 1 : 0) + (source_.kept ? 1 : 0) != 1)
      return fail(ErrorCode::input, fmt::format("'{}' needs one origin", source_.metric),
                  map_.place, "give it one of 'counted', 'follows' and 'kept'");
    if (source_.needed && source_.counted.empty())
      return fail(ErrorCode::input, fmt::format("'{}' is needed and not counted", source_.metric),
                  map_.place, "remove 'needed'");
    return std::move(source_);
  }

private:
  Result<void> metric() {
    const YamlNode* node = map_.find("metric");
    if (node == nullptr)
      return fail(ErrorCode::input, "'metric' is missing", map_.place, "add 'metric: NAME'");
    KERNEVO_TRY(name, read_text(*node, "metric"));
    if (find_metric(name) == nullptr)
      return fail(ErrorCode::input,
                  fmt::format("unknown metric '{}'{}", name, did_you_mean(name, metric_names())),
                  node->place, "docs/profiling.md lists the metrics");
    source_.metric = name;
    return {};
  }

  Result<void> counted() {
    const YamlNode* list = map_.find("counted");
    if (list == nullptr)
      return {};
    KERNEVO_CHECK(expect_list(*list, "counted"));
    for (const auto& item : list->items) {
      KERNEVO_TRY(text, read_text(*item, "counted"));
      KERNEVO_TRY(figure, MetricExpression::parse(text, MetricExpression::Kind::number,
                                                  counters_in(text), item->place));
      source_.counted.push_back(std::move(figure));
    }
    return {};
  }

  Result<void> follows() {
    const YamlNode* node = map_.find("follows");
    if (node == nullptr)
      return {};
    KERNEVO_TRY(text, read_text(*node, "follows"));
    std::vector<std::string> known = metric_names();
    known.emplace_back(kPlanTime);
    known.emplace_back(kPlanLeast);
    KERNEVO_TRY(figure,
                MetricExpression::parse(text, MetricExpression::Kind::number, known, node->place));
    source_.follows = std::move(figure);
    return {};
  }

  Result<void> kept() {
    const YamlNode* node = map_.find("kept");
    if (node == nullptr)
      return {};
    KERNEVO_TRY(name, read_text(*node, "kept"));
    const auto* found = std::ranges::find(kKept, std::string_view(name));
    if (found == kKept.end())
      return fail(ErrorCode::input, fmt::format("unknown origin '{}'", name), node->place,
                  "use one of launch, program, model");
    source_.kept = static_cast<KeptMetric>(found - kKept.begin());
    const YamlNode* why = map_.find("why");
    if (why == nullptr)
      return fail(ErrorCode::input, fmt::format("'{}' is kept without a reason", source_.metric),
                  map_.place, "add 'why: ...'");
    KERNEVO_TRY(reason, read_text(*why, "why"));
    source_.why = std::move(reason);
    return {};
  }

  const YamlNode& map_;
  MetricSource source_;
};

} // namespace

Result<void> CounterMap::add(std::string_view text, const std::string& file) {
  KERNEVO_TRY(root, parse_yaml(text, file));
  KERNEVO_CHECK(expect_list(*root, "a file of counters"));
  std::set<std::string> counters(counters_.begin(), counters_.end());
  for (const auto& item : root->items) {
    KERNEVO_TRY(source, SourceReader(*item).read());
    if (std::ranges::find(sources_, source.metric, &MetricSource::metric) != sources_.end())
      return fail(ErrorCode::input, fmt::format("'{}' has a source already", source.metric),
                  source.place, "keep one of them");
    for (const MetricExpression& figure : source.counted)
      counters.merge(figure.names());
    sources_.push_back(std::move(source));
  }
  counters_.assign(counters.begin(), counters.end());
  return {};
}

Result<CounterMap> CounterMap::parse(std::string_view text, const std::string& file) {
  CounterMap map;
  KERNEVO_CHECK(map.add(text, file));
  return map;
}

Result<CounterMap> CounterMap::load() {
  KERNEVO_TRY(paths, share_files("counters"));
  CounterMap map;
  for (const std::filesystem::path& path : paths) {
    KERNEVO_TRY(written, read_text_file(path, std::uintmax_t{1} << 20U));
    KERNEVO_CHECK(map.add(written, path.string()));
  }
  for (const MetricInfo& metric : metric_table())
    if (std::ranges::find(map.sources_, metric.name, &MetricSource::metric) == map.sources_.end())
      return fail(ErrorCode::input, fmt::format("the metric '{}' has no source", metric.name),
                  Place{(share_folder().value() / "counters").string()},
                  "add one, or reinstall the data folder");
  return map;
}

std::optional<double> CounterMap::counted(const MetricSource& source,
                                          const CounterReadings& readings) {
  const MetricExpression::Lookup lookup = [&](const std::string& name) -> std::optional<double> {
    const auto found = readings.values.find(name);
    return found == readings.values.end() ? std::nullopt : std::optional(found->second);
  };
  for (const MetricExpression& figure : source.counted)
    if (const auto value = figure.value(lookup))
      return value;
  return std::nullopt;
}

const MetricSource* CounterMap::missing(const CounterReadings& readings) const {
  for (const MetricSource& source : sources_)
    if (source.needed && !counted(source, readings))
      return &source;
  return nullptr;
}

} // namespace kernevo
