#include "kernevo/search/tuning_log.h"

#include "kernevo/base/files.h"
#include "kernevo/model/timing_fields.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace kernevo::search {

namespace {

constexpr int kVersion = 1;
constexpr std::string_view kLeftAlone = "name another log; this one was left as it is";

std::string header_line(const LogHeader& header, const SearchSpace& space) {
  Json json;
  json["kernevo_tuning_log"] = kVersion;
  json["kernel"] = header.kernel;
  json["device"] = header.device;
  json["space"] = space.id();
  json["strategy"] = header.strategy;
  json["seed"] = header.seed;
  return json.dump() + "\n";
}

std::string trial_line(const Trial& trial, const SearchSpace& space) {
  Json json;
  // The values, not the index: a reader needs no space to understand a line.
  for (const auto& [name, value] : space.values(trial.configuration))
    json["values"][name] = value;
  json["outcome"] = name_of(trial.outcome);
  if (trial.time)
    json["ns"] = trial.time->value;
  if (trial.compile_time)
    json["compile_ns"] = trial.compile_time->value;
  if (!trial.counters.empty())
    json["counters"] = trial.counters;
  if (!trial.shapes.empty())
    json["shapes"] = shape_times_to_json(trial.shapes);
  if (trial.partial)
    json["partial"] = true;
  if (trial.checked)
    json["checked"] = true;
  if (!trial.reason.empty())
    json["reason"] = trial.reason;
  return dump_json(json) + "\n";
}

Result<Trial> read_trial(std::string_view line, const SearchSpace& space) {
  struct Fields {
    ParameterValues values;
    std::string outcome;
    Trial trial;
  };
  auto fields = read_json(line, "not a line of a tuning log", [](const Json& json) {
    only_keys(json, {"values", "outcome", "ns", "compile_ns", "counters", "shapes", "partial",
                     "checked", "reason"});
    Fields read;
    read.values = json.value("values", ParameterValues{});
    read.outcome = json.at("outcome").get<std::string>();
    if (const auto time = get_optional<double>(json, "ns"))
      read.trial.time = Nanoseconds{*time};
    if (const auto time = get_optional<double>(json, "compile_ns"))
      read.trial.compile_time = Nanoseconds{*time};
    read.trial.counters = json.value("counters", std::map<std::string, double>{});
    if (const auto shapes = json.find("shapes"); shapes != json.end())
      read.trial.shapes = shape_times_of(*shapes);
    read.trial.partial = json.value("partial", false);
    read.trial.checked = json.value("checked", false);
    read.trial.reason = json.value("reason", std::string());
    return read;
  });
  if (!fields)
    return tl::unexpected<Error>(fields.error());
  const auto outcome = outcome_named(fields->outcome);
  if (!outcome || (*outcome == Outcome::ok) != fields->trial.time.has_value())
    return fail(ErrorCode::input,
                fmt::format("outcome '{}' does not fit the line", fields->outcome));
  const auto configuration = space.find(fields->values);
  if (!configuration)
    return fail(ErrorCode::input, "a configuration that is not in the space");
  fields->trial.outcome = *outcome;
  fields->trial.configuration = *configuration;
  return fields->trial;
}

} // namespace

Result<void> TuningLog::load(std::string_view text, const LogHeader& header,
                             std::size_t& whole_bytes) {
  int line_number = 0;
  auto here = [&](Error error) {
    error.place = Place{path_, line_number};
    return tl::unexpected<Error>(std::move(error));
  };
  auto refuse = [&](std::string_view what, std::string_view theirs, std::string_view ours) {
    return here({ErrorCode::input,
                 fmt::format("this log is of another {}: '{}', not '{}'", what, theirs, ours),
                 {},
                 std::string(kLeftAlone)});
  };
  while (whole_bytes < text.size()) {
    const std::size_t end = text.find('\n', whole_bytes);
    if (end == std::string_view::npos)
      break; // cut short by a crash
    const std::string_view line = text.substr(whole_bytes, end - whole_bytes);
    ++line_number;
    if (line_number == 1) {
      auto found = read_json(line, "not a tuning log", [](const Json& json) {
        if (json.at("kernevo_tuning_log").get<int>() != kVersion)
          throw nlohmann::json::other_error::create(601, "another version", &json);
        return std::array{json.at("kernel").get<std::string>(),
                          json.at("device").get<std::string>(),
                          json.at("space").get<std::string>()};
      });
      if (!found)
        return here({ErrorCode::input, "not a tuning log", {}, std::string(kLeftAlone)});
      if ((*found)[0] != header.kernel)
        return refuse("kernel", (*found)[0], header.kernel);
      if ((*found)[1] != header.device)
        return refuse("device", (*found)[1], header.device);
      if ((*found)[2] != space_->id())
        return refuse("space", (*found)[2], space_->id());
    } else {
      auto trial = read_trial(line, *space_);
      if (!trial)
        return here(trial.error());
      remember(std::move(*trial));
    }
    whole_bytes = end + 1;
  }
  if (line_number == 0 && !text.empty())
    return here({ErrorCode::input, "not a tuning log", {}, std::string(kLeftAlone)});
  return {};
}

Result<TuningLog> TuningLog::open(const std::filesystem::path& path, const LogHeader& header,
                                  const SearchSpace& space) {
  TuningLog log;
  log.space_ = &space;
  log.path_ = path.string();
  std::size_t whole_bytes = 0;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    KERNEVO_TRY(text, read_text_file(path));
    KERNEVO_CHECK(log.load(text, header, whole_bytes));
    if (whole_bytes < text.size())
      std::filesystem::resize_file(path, whole_bytes, ignored);
  }
  log.file_.reset(std::fopen(log.path_.c_str(), "ae"));
  const std::string first = whole_bytes == 0 ? header_line(header, space) : "";
  if (!log.file_ || std::fputs(first.c_str(), log.file_.get()) < 0 ||
      std::fflush(log.file_.get()) != 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot write the tuning log: {}", std::strerror(errno)),
                Place{log.path_});
  return log;
}

const Trial* TuningLog::find(Configuration configuration) const {
  const auto at = found_.find(configuration);
  return at == found_.end() ? nullptr : &trials_[at->second];
}

void TuningLog::remember(Trial trial) {
  const auto [found, added] = found_.try_emplace(trial.configuration, trials_.size());
  if (added) {
    trials_.push_back(std::move(trial));
    return;
  }
  Trial& earlier = trials_[found->second];
  if ((earlier.partial && !trial.partial) || (trial.checked && !earlier.checked))
    earlier = std::move(trial);
}

Result<void> TuningLog::append(const Trial& trial) {
  const std::string line = trial_line(trial, *space_);
  if (std::fputs(line.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot write the tuning log: {}", std::strerror(errno)), Place{path_});
  remember(trial);
  return {};
}

} // namespace kernevo::search
