#include "kernevo/explain/ncu_file.h"

#include "kernevo/base/files.h"
#include "kernevo/base/one_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace kernevo {
namespace {

constexpr std::size_t kShown = 40; // of a text that is quoted in a message
constexpr const char* kHowToWrite =
    "write it with: ncu --csv --page raw --log-file FILE.csv PROGRAM";

// The fields of one line; nothing where a quote is never closed or text stands beside it.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool closed = false; // the field was quoted, and ended
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ',') {
      fields.emplace_back();
      closed = false;
    } else if (closed) {
      return std::nullopt;
    } else if (c == '"' && fields.back().empty()) {
      for (++i;; ++i) {
        if (i >= line.size())
          return std::nullopt;
        if (line[i] == '"' && (i + 1 >= line.size() || line[i + 1] != '"'))
          break;
        i += line[i] == '"' ? 1 : 0;
        fields.back() += line[i];
      }
      closed = true;
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// 1234.5, 1,234.5 and 1.2e-3; commas only between groups of three digits.
std::optional<double> number_of(std::string_view text) {
  const std::size_t dot = std::min(text.find_first_of(".eE"), text.size());
  std::string plain;
  std::size_t group = 0; // digits since the last comma
  bool grouped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      group += i < dot && text[i] >= '0' && text[i] <= '9' ? 1 : 0;
      plain += text[i];
      continue;
    }
    if (i > dot || group == 0 || group > 3 || (grouped && group != 3))
      return std::nullopt;
    grouped = true;
    group = 0;
  }
  if (grouped && group != 3)
    return std::nullopt;
  double value = 0;
  const auto [end, problem] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (plain.empty() || problem != std::errc() || end != plain.data() + plain.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

bool says_nothing(std::string_view value) {
  return value.empty() || value == "n/a" || value == "N/A" || value == "nan" || value == "no data";
}

// What a unit is worth in the base unit of the counter; nothing for one of another kind.
std::optional<double> factor_of(std::string_view counter, std::string_view unit) {
  if (unit.empty())
    return 1;
  if (counter.find("__time_duration") != std::string_view::npos) {
    constexpr std::array<std::pair<std::string_view, double>, 10> times = {{{"ns", 1},
                                                                            {"nsecond", 1},
                                                                            {"us", 1e3},
                                                                            {"usecond", 1e3},
                                                                            {"ms", 1e6},
                                                                            {"msecond", 1e6},
                                                                            {"s", 1e9},
                                                                            {"second", 1e9},
                                                                            {"sec", 1e9},
                                                                            {"seconds", 1e9}}};
    const auto* found = std::ranges::find(times, unit, &std::pair<std::string_view, double>::first);
    return found == times.end() ? std::nullopt : std::optional(found->second);
  }
  const bool percent = counter.find("pct") != std::string_view::npos;
  if (percent || unit == "%")
    return percent && unit == "%" ? std::optional(1.0) : std::nullopt;
  double factor = 1;
  if (unit.size() > 1 && unit[1] >= 'a' && unit[1] <= 'z')
    if (const std::size_t step = std::string_view("KMGT").find(unit.front());
        step != std::string_view::npos) {
      factor = std::pow(1e3, static_cast<double>(step + 1));
      unit.remove_prefix(1);
    }
  const bool bytes = counter.find("__bytes") != std::string_view::npos;
  const bool in_bytes = unit == "byte" || unit == "B";
  if (bytes != in_bytes || unit.find("second") != std::string_view::npos)
    return std::nullopt;
  return factor;
}

// "(16, 16, 1)".
std::optional<std::array<std::uint32_t, 3>> extent_of(std::string_view text) {
  std::array<std::uint32_t, 3> extent{};
  if (text.empty() || text.front() != '(')
    return std::nullopt;
  text.remove_prefix(1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    while (!text.empty() && text.front() == ' ')
      text.remove_prefix(1);
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), extent.at(axis));
    if (problem != std::errc())
      return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text.front() != (axis < 2 ? ',' : ')'))
      return std::nullopt;
    text.remove_prefix(1);
  }
  return extent;
}

// 80 of "8.0".
std::optional<int> capability_of(std::string_view text) {
  const auto value = number_of(text);
  if (!value || *value < 1 || *value > 99)
    return std::nullopt;
  return static_cast<int>(std::lround(*value * 10));
}

class Reader {
public:
  Reader(std::string_view text, const std::string& file, const std::set<std::string>& wanted)
      : text_(text), file_(file), wanted_(wanted) {}

  Result<std::vector<NcuLaunch>> read() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      if (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
      ++line_;
      KERNEVO_CHECK(take(line));
    }
    if (columns_.empty())
      return fail(ErrorCode::input,
                  "is no CSV of Nsight Compute: no line names the column 'Kernel Name'",
                  Place{file_}, kHowToWrite);
    if (launches_.empty())
      return fail(ErrorCode::input, "holds no launch", Place{file_, header_line_},
                  "see what ncu said: the program may have launched no kernel, or not have been "
                  "allowed to read counters");
    return std::move(launches_);
  }

private:
  tl::unexpected<Error> wrong(std::string what, std::string fix = kHowToWrite) const {
    return fail(ErrorCode::input, std::move(what), Place{file_, line_}, std::move(fix));
  }

  Result<void> take(std::string_view line) {
    // What ncu says of itself may stand anywhere.
    if (line.empty() || line.starts_with("=="))
      return {};
    auto fields = fields_of(line);
    if (fields && std::ranges::find(*fields, "Kernel Name") != fields->end())
      return head(std::move(*fields));
    if (columns_.empty())
      return {}; // what the program printed
    if (!fields)
      return wrong("has a quote that does not end its field");
    if (fields->size() != columns_.size())
      return wrong(fmt::format("has {} fields where the table has {} columns", fields->size(),
                               columns_.size()),
                   "keep what the program prints out of it: ncu --log-file FILE.csv");
    if (is_long_)
      return metric_row(*fields);
    if (units_.empty()) {
      units_ = *fields;
      if (at(*fields, "ID").empty() && at(*fields, "Kernel Name").empty())
        return {};
      units_.assign(columns_.size(), ""); // there is no row of units
    }
    return launch_row(*fields);
  }

  Result<void> head(std::vector<std::string> fields) {
    columns_ = std::move(fields);
    header_line_ = line_;
    units_.clear();
    place_of_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i)
      place_of_.emplace(columns_[i], i);
    is_long_ = place_of_.contains("Metric Name");
    if (is_long_ && !place_of_.contains("Metric Value"))
      return wrong("has a column 'Metric Name' and none for the values");
    return {};
  }

  std::string at(const std::vector<std::string>& fields, const std::string& column) const {
    const auto found = place_of_.find(column);
    return found == place_of_.end() ? "" : fields[found->second];
  }

  Result<void> launch_row(const std::vector<std::string>& fields) {
    KERNEVO_CHECK(begin(fields));
    for (std::size_t i = 0; i < columns_.size(); ++i)
      KERNEVO_CHECK(read_value(columns_[i], units_[i], fields[i]));
    return {};
  }

  Result<void> metric_row(const std::vector<std::string>& fields) {
    const std::string id = at(fields, "Process ID") + ' ' + at(fields, "ID");
    if (launches_.empty() || id != id_ || launches_.back().readings.kernel.empty() ||
        shown_ != at(fields, "Kernel Name"))
      KERNEVO_CHECK(begin(fields));
    id_ = id;
    return read_value(at(fields, "Metric Name"), at(fields, "Metric Unit"),
                      at(fields, "Metric Value"));
  }

  Result<void> begin(const std::vector<std::string>& fields) {
    shown_ = at(fields, "Kernel Name");
    NcuLaunch launch;
    launch.readings.kernel = bare_kernel_name(shown_);
    if (launch.readings.kernel.empty())
      return wrong("names no kernel");
    launch.line = line_;
    launch.grid = extent_of(at(fields, "Grid Size"));
    launch.block = extent_of(at(fields, "Block Size"));
    launch.compute_capability = capability_of(at(fields, "CC"));
    launches_.push_back(std::move(launch));
    return {};
  }

  Result<void> read_value(const std::string& counter, const std::string& unit,
                          const std::string& value) {
    if (!wanted_.contains(counter) || says_nothing(value))
      return {};
    const auto number = number_of(value);
    if (!number)
      return wrong(fmt::format("{} is '{}', which is no number as English writes it", counter,
                               one_line(value, kShown)),
                   "run ncu with LC_ALL=C");
    const auto factor = factor_of(counter, unit);
    if (!factor)
      return wrong(
          fmt::format("{} is in '{}', which is no unit of it", counter, one_line(unit, kShown)),
          "run ncu with --print-units base");
    if (*number < 0)
      return wrong(fmt::format("{} is {}, less than nothing", counter, one_line(value, kShown)),
                   "run ncu again: no counter counts down");
    launches_.back().readings.values.emplace(counter, *number * *factor);
    return {};
  }

  std::string_view text_;
  const std::string& file_;
  const std::set<std::string>& wanted_;
  int line_ = 0;
  int header_line_ = 0;
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t> place_of_;
  std::vector<std::string> units_; // of a wide table
  bool is_long_ = false;
  std::string id_;    // of the launch of the last row, in a long table
  std::string shown_; // its kernel as the file names it
  std::vector<NcuLaunch> launches_;
};

} // namespace

std::string bare_kernel_name(std::string_view name) {
  std::string text;
  int depth = 0; // of template arguments
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  while (!name.empty()) {
    if (name.starts_with(anonymous)) {
      name.remove_prefix(anonymous.size());
      continue;
    }
    const char c = name.front();
    name.remove_prefix(1);
    if (c == '<')
      ++depth;
    else if (c == '>')
      --depth;
    else if (depth > 0)
      continue;
    else if (c == '(')
      break;
    else if (c == ' ' || c == '\t' || c == ':')
      text.clear(); // what stood before is a type or a namespace
    else
      text += c;
  }
  return text;
}

Result<std::vector<NcuLaunch>> parse_ncu(std::string_view text, const std::string& file,
                                         const std::set<std::string>& wanted) {
  return Reader(text, file, wanted).read();
}

Result<std::vector<NcuLaunch>> read_ncu_file(const std::filesystem::path& path,
                                             const std::set<std::string>& wanted) {
  KERNEVO_TRY(text, read_text_file(path));
  return parse_ncu(text, path.string(), wanted);
}

} // namespace kernevo
