#include "kernevo/search/recorded_space.h"

#include "kernevo/search/gzip_file.h"
#include "kernevo/search/kernel_tuner_cache.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace kernevo::search {

namespace {

constexpr double kNanosecondsPerMillisecond = 1e6;

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t tab = line.find('\t');
    cells.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos)
      return cells;
    line.remove_prefix(tab + 1);
  }
}

template <class T> std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

class TableReader {
public:
  TableReader(std::string_view text, const std::filesystem::path& path)
      : text_(text), path_(path.string()) {}

  Result<RecordedSpace> read(std::string name) {
    KERNEVO_CHECK(read_header());
    while (!text_.empty()) {
      const std::string_view line = next_line();
      if (!line.empty())
        KERNEVO_CHECK(read_row(line));
    }
    std::vector<Parameter> parameters;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::vector<std::int64_t> values;
      for (const auto& row : values_)
        values.push_back(row[i]);
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      parameters.push_back({names_[i], std::move(values)});
    }
    std::vector<std::vector<std::uint16_t>> rows;
    for (const auto& values : values_) {
      std::vector<std::uint16_t> row;
      for (std::size_t i = 0; i < names_.size(); ++i) {
        const auto& list = parameters[i].values;
        row.push_back(static_cast<std::uint16_t>(
            std::lower_bound(list.begin(), list.end(), values[i]) - list.begin()));
      }
      rows.push_back(std::move(row));
    }
    auto space = make_recorded_space(std::move(name), std::move(parameters), std::move(rows),
                                     std::move(trials_));
    if (!space)
      space.error().place = Place{path_};
    return space;
  }

private:
  tl::unexpected<Error> error(std::string message, std::string fix = "") const {
    return fail(ErrorCode::input, std::move(message), Place{path_, line_}, std::move(fix));
  }

  std::string_view next_line() {
    const std::size_t end = text_.find('\n');
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    ++line_;
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    return line;
  }

  Result<void> read_header() {
    const std::vector<std::string_view> cells = split(next_line());
    const auto status = std::find(cells.begin(), cells.end(), "status");
    if (cells.end() - status < 2 || *(status + 1) != "ms" || status == cells.begin())
      return error(
          "is not a recorded space",
          "its first line names the parameters, then 'status' and 'ms', separated by tabs");
    names_.assign(cells.begin(), status);
    auto rest = status + 2;
    has_compile_ = rest != cells.end() && *rest == "compile_ms";
    counters_.assign(rest + (has_compile_ ? 1 : 0), cells.end());
    columns_ = cells.size();
    return {};
  }

  Result<void> read_row(std::string_view line) {
    const std::vector<std::string_view> cells = split(line);
    if (cells.size() != columns_)
      return error(fmt::format("has {} columns, the header {}", cells.size(), columns_));
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto value = number<std::int64_t>(cells[i]);
      if (!value)
        return error(fmt::format("'{}' is not an integer value of {}", cells[i], names_[i]));
      values.push_back(*value);
    }
    Trial trial;
    const auto outcome = outcome_named(cells[names_.size()]);
    if (!outcome)
      return error(fmt::format("unknown status '{}'", cells[names_.size()]),
                   "it is ok, resources, compile, run, timeout, wrong or failed");
    trial.outcome = *outcome;
    std::size_t at = names_.size() + 1;
    if (trial.outcome == Outcome::ok) {
      const auto time = number<double>(cells[at]);
      if (!time || !(*time > 0) || !std::isfinite(*time))
        return error(fmt::format("'{}' is not a time in ms", cells[at]));
      trial.time = Nanoseconds{*time * kNanosecondsPerMillisecond};
    }
    ++at;
    if (has_compile_)
      if (const auto time = number<double>(cells[at++]))
        trial.compile_time = Nanoseconds{*time * kNanosecondsPerMillisecond};
    for (const std::string& counter : counters_)
      if (const auto value = number<double>(cells[at++]))
        trial.counters[counter] = *value;
    values_.push_back(std::move(values));
    trials_.push_back(std::move(trial));
    return {};
  }

  std::string_view text_;
  std::string path_;
  int line_ = 0;
  std::vector<std::string> names_;
  std::vector<std::string> counters_;
  bool has_compile_ = false;
  std::size_t columns_ = 0;
  std::vector<std::vector<std::int64_t>> values_;
  std::vector<Trial> trials_;
};

} // namespace

Result<RecordedSpace> make_recorded_space(std::string name, std::vector<Parameter> parameters,
                                          std::vector<std::vector<std::uint16_t>> rows,
                                          std::vector<Trial> trials) {
  std::vector<Parameter> free;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool varies = std::any_of(rows.begin(), rows.end(),
                                    [&](const auto& row) { return row[i] != rows.front()[i]; });
    if (!varies)
      continue;
    kept.push_back(i);
    free.push_back(std::move(parameters[i]));
  }
  std::vector<std::vector<std::uint16_t>> short_rows;
  for (const auto& row : rows) {
    std::vector<std::uint16_t> short_row;
    for (const std::size_t i : kept)
      short_row.push_back(row[i]);
    short_rows.push_back(std::move(short_row));
  }
  KERNEVO_TRY(space, SearchSpace::from_rows(std::move(free), short_rows));
  RecordedSpace recorded{std::move(name), "", std::move(space), {}, {}};
  recorded.trials.resize(trials.size());
  bool any = false;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Configuration at = *recorded.space.find(short_rows[i]);
    trials[i].configuration = at;
    if (trials[i].time && (!any || *trials[i].time < recorded.best)) {
      recorded.best = *trials[i].time;
      any = true;
    }
    recorded.trials[at] = std::move(trials[i]);
  }
  if (!any)
    return fail(ErrorCode::input, "no configuration of the recorded space succeeded");
  return recorded;
}

Result<RecordedSpace> load_recorded_space(const std::filesystem::path& path) {
  KERNEVO_TRY(text, read_maybe_gzip(path));
  std::string name = path.filename().string();
  name = name.substr(0, name.find('.'));
  if (text.starts_with('{'))
    return recorded_space_of(text, path, std::move(name));
  return TableReader(text, path).read(std::move(name));
}

} // namespace kernevo::search
