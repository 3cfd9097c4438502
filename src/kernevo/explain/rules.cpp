#include "kernevo/explain/rules.h"

#include "kernevo/base/files.h"
#include "kernevo/base/share_files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/explain/message.h"
#include "kernevo/explain/metrics.h"
#include "kernevo/task/yaml_fields.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {
namespace {

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricInfo& metric : metric_table())
    names.emplace_back(metric.name);
  return names;
}

class RuleReader {
public:
  explicit RuleReader(const YamlNode& map) : map_(map), names_(metric_names()) {}

  Result<Rule> read() {
    KERNEVO_CHECK(expect_map(map_, "a rule"));
    KERNEVO_CHECK(check_keys(
        map_,
        {"tag", "thresholds", "when", "severity", "reason", "message", "evidence", "directions"},
        "a rule"));
    rule_.place = map_.place;
    KERNEVO_CHECK(tag());
    KERNEVO_CHECK(thresholds());
    KERNEVO_TRY(when, expression(map_, "when", MetricExpression::Kind::condition));
    rule_.when = std::move(when);
    KERNEVO_TRY(severity, expression(map_, "severity", MetricExpression::Kind::number));
    rule_.severity = std::move(severity);
    KERNEVO_CHECK(every_threshold_is_used());
    KERNEVO_TRY(reason, text(map_, "reason"));
    rule_.reason = std::move(reason);
    KERNEVO_TRY(message, text(map_, "message"));
    KERNEVO_CHECK(check_message(message, map_.find("message")->place));
    rule_.message = std::move(message);
    KERNEVO_CHECK(evidence());
    KERNEVO_CHECK(directions());
    return std::move(rule_);
  }

private:
  Result<const YamlNode*> need(const YamlNode& map, const char* key) const {
    if (const YamlNode* found = map.find(key))
      return found;
    return fail(ErrorCode::input, fmt::format("'{}' is missing", key), map.place,
                fmt::format("add '{}: ...'", key));
  }
  Result<std::string> text(const YamlNode& map, const char* key) const {
    KERNEVO_TRY(node, need(map, key));
    return read_text(*node, key);
  }
  Result<MetricExpression> expression(const YamlNode& map, const char* key,
                                      MetricExpression::Kind kind) const {
    KERNEVO_TRY(written, text(map, key));
    return MetricExpression::parse(written, kind, names_, map.find(key)->place);
  }

  Result<void> tag() {
    KERNEVO_TRY(name, text(map_, "tag"));
    const auto found = bottleneck_tag(name);
    if (!found) {
      std::vector<std::string> known;
      for (int i = 0; i < kBottleneckTags; ++i)
        known.emplace_back(name_of(static_cast<BottleneckTag>(i)));
      return fail(ErrorCode::input,
                  fmt::format("unknown tag '{}'{}", name, did_you_mean(name, known)),
                  map_.find("tag")->place, fmt::format("use one of {}", fmt::join(known, ", ")));
    }
    rule_.tag = *found;
    return {};
  }

  Result<void> thresholds() {
    const YamlNode* node = map_.find("thresholds");
    if (node == nullptr)
      return {};
    KERNEVO_CHECK(expect_map(*node, "thresholds"));
    for (const auto& [key, value] : node->entries) {
      if (find_metric(key->text) != nullptr)
        return fail(ErrorCode::input, fmt::format("'{}' is already a metric", key->text),
                    key->place, "give the threshold another name");
      NumberRule range;
      range.field = key->text;
      KERNEVO_TRY(number, read_number(*value, range));
      rule_.thresholds[key->text] = number;
      names_.push_back(key->text);
    }
    return {};
  }

  // A threshold nobody compares with is a leftover that misleads its reader.
  Result<void> every_threshold_is_used() const {
    std::set<std::string> used = rule_.when.names();
    used.merge(rule_.severity.names());
    for (const auto& [name, value] : rule_.thresholds)
      if (!used.contains(name))
        return fail(ErrorCode::input, fmt::format("threshold '{}' is not used", name),
                    map_.find("thresholds")->place, "use it in 'when' or remove it");
    return {};
  }

  Result<void> evidence() {
    KERNEVO_TRY(node, need(map_, "evidence"));
    KERNEVO_CHECK(expect_list(*node, "evidence"));
    for (const auto& item : node->items) {
      KERNEVO_TRY(name, read_text(*item, "evidence"));
      if (find_metric(name) == nullptr)
        return fail(ErrorCode::input,
                    fmt::format("unknown metric '{}'{}", name, did_you_mean(name, metric_names())),
                    item->place, "docs/profiling.md lists the metrics");
      rule_.evidence.push_back(name);
    }
    return {};
  }

  Result<void> directions() {
    KERNEVO_TRY(node, need(map_, "directions"));
    KERNEVO_CHECK(expect_list(*node, "directions"));
    for (const auto& item : node->items) {
      KERNEVO_CHECK(expect_map(*item, "a direction"));
      KERNEVO_CHECK(check_keys(*item, {"name", "text", "when"}, "a direction"));
      RuleDirection direction;
      KERNEVO_TRY(name, text(*item, "name"));
      KERNEVO_TRY(sentence, text(*item, "text"));
      direction.direction = {name, sentence};
      if (item->find("when") != nullptr) {
        KERNEVO_TRY(when, expression(*item, "when", MetricExpression::Kind::condition));
        direction.when = std::move(when);
      }
      rule_.directions.push_back(std::move(direction));
    }
    if (rule_.directions.empty())
      return fail(ErrorCode::input, "a rule without directions helps nobody", node->place,
                  "add one with 'name' and 'text'");
    return {};
  }

  const YamlNode& map_;
  std::vector<std::string> names_;
  Rule rule_;
};

Result<void> one_for_each_tag(const std::vector<Rule>& rules, const std::string& where) {
  std::map<BottleneckTag, const Rule*> seen;
  for (const Rule& rule : rules)
    if (const auto [other, fresh] = seen.emplace(rule.tag, &rule); !fresh)
      return fail(ErrorCode::input,
                  fmt::format("there is a rule for '{}' already, at {}:{}", name_of(rule.tag),
                              other->second->place.file, other->second->place.line),
                  rule.place, "keep one of them");
  for (int i = 0; i < kBottleneckTags; ++i)
    if (!seen.contains(static_cast<BottleneckTag>(i)))
      return fail(ErrorCode::input,
                  fmt::format("no rule for '{}'", name_of(static_cast<BottleneckTag>(i))),
                  Place{where}, "add one, or reinstall the data folder");
  return {};
}

} // namespace

Result<std::vector<Rule>> parse_rules(std::string_view text, const std::string& file) {
  KERNEVO_TRY(root, parse_yaml(text, file));
  KERNEVO_CHECK(expect_list(*root, "a rule file"));
  std::vector<Rule> rules;
  for (const auto& item : root->items) {
    KERNEVO_TRY(rule, RuleReader(*item).read());
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<Rule>> load_rules() {
  KERNEVO_TRY(paths, share_files("rules"));
  std::vector<Rule> rules;
  for (const std::filesystem::path& path : paths) {
    KERNEVO_TRY(written, read_text_file(path, std::uintmax_t{1} << 20U));
    KERNEVO_TRY(some, parse_rules(written, path.string()));
    std::move(some.begin(), some.end(), std::back_inserter(rules));
  }
  KERNEVO_CHECK(one_for_each_tag(rules, (share_folder().value() / "rules").string()));
  return rules;
}

} // namespace kernevo
