// The figures rules speak of: named numbers of one launch, each with a unit and a meaning.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct MetricInfo {
  std::string_view name;
  std::string_view unit; // "fraction", "byte", "ns", "flag" (0 or 1), or what is counted
  std::string_view meaning;
};

// Every metric there is; the documentation's table is held against it.
std::span<const MetricInfo> metric_table();
// Null for a name that is not in the table.
const MetricInfo* find_metric(std::string_view name);

// Words messages may use beside metrics: where the worst lines are, what binds.
struct FactInfo {
  std::string_view name;
  std::string_view meaning;
};
std::span<const FactInfo> fact_table();

class Metrics {
public:
  // The name must be in the table. A value that is not finite counts as absent.
  void set(std::string_view name, double value);
  std::optional<double> find(std::string_view name) const;
  // 0 when absent; for shares of time, where absent means not used.
  double share(std::string_view name) const { return find(name).value_or(0); }

  void set_fact(std::string_view name, std::string text);
  std::string fact(std::string_view name) const; // empty when absent

  // Who says so, where more than one could have: "cuda:0", "virtual GPU". Empty for what is known
  // of the launch before it runs, and where nobody but the virtual GPU was asked.
  void set_sources(std::string_view name, std::set<std::string> sources);
  const std::set<std::string>& sources(std::string_view name) const;
  // Whether anybody else was asked.
  bool have_sources() const { return !sources_.empty(); }

  const std::map<std::string, double, std::less<>>& all() const { return values_; }
  const std::map<std::string, std::string, std::less<>>& facts() const { return facts_; }

private:
  std::map<std::string, double, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> facts_;
  std::map<std::string, std::set<std::string>, std::less<>> sources_;
};

// "cuda:0 and virtual GPU"; empty for none.
std::string source_text(const std::set<std::string>& sources);

// A value as a person reads it: 0.62 fraction -> "62 %", 4096 byte -> "4.1 KB".
std::string metric_text(double value, std::string_view unit);

} // namespace kernevo
