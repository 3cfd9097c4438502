#include "kernevo/search/kernel_tuner_cache.h"

#include "kernevo/base/files.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/search/gzip_file.h"

#include <algorithm>

namespace kernevo::search {

namespace {

// Files of others: one entry per configuration, which may stand there again after a crash.
constexpr JsonLimits kLimits{std::size_t{1} << 30U, 128, 0, true};
constexpr double kNanosecondsPerMillisecond = 1e6;
// Older files write a failure as this time.
constexpr double kFailureTime = 1e15;

struct FailureName {
  Outcome outcome;
  std::string_view name;
};

// Kernel Tuner knows three kinds; ours map to the nearest. Reading takes the first of a name.
constexpr std::array kFailures = {
    FailureName{Outcome::compile, "CompilationFailedConfig"},
    FailureName{Outcome::run, "RuntimeFailedConfig"},
    FailureName{Outcome::failed, "InvalidConfig"},
    FailureName{Outcome::resources, "RuntimeFailedConfig"},
    FailureName{Outcome::timeout, "RuntimeFailedConfig"},
    FailureName{Outcome::wrong, "RuntimeFailedConfig"},
};

struct CacheFile {
  CacheHeader header;
  std::vector<Parameter> parameters;
  std::vector<std::vector<std::uint16_t>> rows;
  std::vector<Trial> trials;
};

// Kernel Tuner appends entries and closes the braces only at the end of a run.
std::string closed(std::string_view text) {
  std::string whole(text);
  while (!whole.empty() && (std::isspace(static_cast<unsigned char>(whole.back())) != 0))
    whole.pop_back();
  if (whole.ends_with(','))
    whole.back() = '}', whole += '}';
  else if (!whole.ends_with("}\n}") && !whole.ends_with("}}"))
    whole += "}}";
  return whole;
}

Trial read_trial(const Json& entry) {
  Trial trial;
  const auto time = entry.find("time");
  if (time != entry.end() && time->is_number() && time->get<double>() > 0 &&
      time->get<double>() < kFailureTime) {
    trial.time = Nanoseconds{time->get<double>() * kNanosecondsPerMillisecond};
  } else {
    trial.outcome = Outcome::failed;
    // Newer files name the failure apart from the time.
    for (const char* key : {"time", "__error__"})
      if (const auto kind = entry.find(key); kind != entry.end() && kind->is_string())
        for (auto failure = kFailures.rbegin(); failure != kFailures.rend(); ++failure)
          if (kind->get<std::string>() == failure->name)
            trial.outcome = failure->outcome;
  }
  if (const auto compile = entry.find("compile_time");
      compile != entry.end() && compile->is_number())
    trial.compile_time = Nanoseconds{compile->get<double>() * kNanosecondsPerMillisecond};
  if (const auto counters = entry.find("counters");
      counters != entry.end() && counters->is_object())
    for (const auto& item : counters->items())
      if (item.value().is_number())
        trial.counters[item.key()] = item.value().get<double>();
  return trial;
}

// The values an entry has, in the order of the header's lists, then of their first appearance: the
// lists of some public files leave out values that their entries have.
Parameter make_parameter(const std::string& name, const Json& listed, const Json& entries) {
  std::vector<Json> values;
  std::set<std::string> known;
  auto add = [&](const Json& value) {
    if (known.insert(value.dump()).second)
      values.push_back(value);
  };
  for (const Json& value : listed)
    add(value);
  for (const auto& entry : entries.items())
    add(entry.value().at(name));
  Parameter parameter{name, {}, {}};
  const bool integers = std::all_of(values.begin(), values.end(),
                                    [](const Json& value) { return value.is_number_integer(); });
  for (const Json& value : values) {
    parameter.values.push_back(integers ? value.get<std::int64_t>()
                                        : static_cast<std::int64_t>(parameter.values.size()));
    if (!integers)
      parameter.labels.push_back(value.dump());
  }
  return parameter;
}

CacheFile read_cache(const Json& root) {
  CacheFile file;
  file.header.device = root.at("device_name").get<std::string>();
  file.header.kernel = root.at("kernel_name").get<std::string>();
  if (const auto size = root.find("problem_size"); size != root.end()) {
    if (size->is_number_integer())
      file.header.problem_size = {size->get<std::int64_t>()};
    else if (size->is_array())
      for (const Json& extent : *size)
        if (extent.is_number_integer())
          file.header.problem_size.push_back(extent.get<std::int64_t>());
  }
  const Json& entries = root.at("cache");
  std::vector<std::map<std::string, std::uint16_t>> positions;
  for (const Json& key : root.at("tune_params_keys")) {
    const auto name = key.get<std::string>();
    const auto lists = root.find("tune_params");
    file.parameters.push_back(make_parameter(
        name, lists != root.end() && lists->contains(name) ? lists->at(name) : Json::array(),
        entries));
    const Parameter& parameter = file.parameters.back();
    auto& position = positions.emplace_back();
    for (std::size_t v = 0; v < parameter.values.size(); ++v)
      position[parameter.labels.empty() ? std::to_string(parameter.values[v])
                                        : parameter.labels[v]] = static_cast<std::uint16_t>(v);
  }
  for (const auto& item : entries.items()) {
    std::vector<std::uint16_t> row;
    for (std::size_t i = 0; i < file.parameters.size(); ++i)
      row.push_back(positions[i].at(item.value().at(file.parameters[i].name).dump()));
    file.rows.push_back(std::move(row));
    file.trials.push_back(read_trial(item.value()));
  }
  return file;
}

Result<CacheFile> parse_cache(std::string_view text, const std::filesystem::path& path) {
  auto file = read_json(closed(text), "not a Kernel Tuner cache file", read_cache, kLimits);
  if (!file)
    file.error().place = Place{path.string()};
  return file;
}

Json json_value(const Parameter& parameter, std::size_t value) {
  return parameter.labels.empty() ? Json(parameter.values[value])
                                  : Json::parse(parameter.labels[value]);
}

// As Kernel Tuner makes the key of an entry: str() of each value.
std::string key_text(const Json& value) {
  if (value.is_string())
    return value.get<std::string>();
  if (value.is_boolean())
    return value.get<bool>() ? "True" : "False";
  return value.dump();
}

std::string names_text(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters)
    names.push_back(parameter.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<void> check_header(const CacheFile& file, const CacheHeader& header,
                          const SearchSpace& space, const std::filesystem::path& path) {
  auto refuse = [&](std::string_view what, const auto& theirs, const auto& ours) {
    return fail(ErrorCode::input,
                fmt::format("this cache is of another {}: '{}', not '{}'", what, theirs, ours),
                Place{path.string()}, "name another cache file; this one was left as it is");
  };
  if (file.header.kernel != header.kernel)
    return refuse("kernel", file.header.kernel, header.kernel);
  if (file.header.device != header.device)
    return refuse("device", file.header.device, header.device);
  if (!header.problem_size.empty() && file.header.problem_size != header.problem_size)
    return refuse("problem size", fmt::format("{}", fmt::join(file.header.problem_size, " x ")),
                  fmt::format("{}", fmt::join(header.problem_size, " x ")));
  std::set<std::string> theirs;
  std::set<std::string> ours;
  for (const Parameter& parameter : file.parameters)
    theirs.insert(parameter.name);
  for (const Parameter& parameter : space.parameters())
    ours.insert(parameter.name);
  if (theirs != ours)
    return refuse("space, with parameters", names_text(file.parameters),
                  names_text(space.parameters()));
  return {};
}

} // namespace

Result<std::vector<Trial>> read_kernel_tuner_cache(const std::filesystem::path& path,
                                                   const CacheHeader& header,
                                                   const SearchSpace& space) {
  KERNEVO_TRY(text, read_maybe_gzip(path));
  KERNEVO_TRY(file, parse_cache(text, path));
  KERNEVO_CHECK(check_header(file, header, space, path));
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < file.trials.size(); ++i) {
    ParameterValues values;
    for (std::size_t p = 0; p < file.parameters.size(); ++p)
      values[file.parameters[p].name] = file.parameters[p].values[file.rows[i][p]];
    // Values or constraints may have changed since: what is no longer valid is no longer of use.
    if (const auto configuration = space.find(values)) {
      file.trials[i].configuration = *configuration;
      trials.push_back(std::move(file.trials[i]));
    }
  }
  return trials;
}

Result<void> write_kernel_tuner_cache(const std::filesystem::path& path, const CacheHeader& header,
                                      const SearchSpace& space, const std::vector<Trial>& trials) {
  Json root;
  root["schema_version"] = "1.0.0";
  root["device_name"] = header.device;
  root["kernel_name"] = header.kernel;
  root["problem_size"] = header.problem_size;
  root["tune_params_keys"] = Json::array();
  root["tune_params"] = Json::object();
  for (const Parameter& parameter : space.parameters()) {
    root["tune_params_keys"].push_back(parameter.name);
    Json values = Json::array();
    for (std::size_t v = 0; v < parameter.values.size(); ++v)
      values.push_back(json_value(parameter, v));
    root["tune_params"][parameter.name] = std::move(values);
  }
  root["objective"] = "time";
  std::string text = root.dump(1);
  text.resize(text.rfind('\n')); // reopen the object
  text += ",\n \"cache\": {";
  bool first = true;
  for (const Trial& trial : trials) {
    Json entry;
    std::string key;
    const auto row = space.row(trial.configuration);
    for (std::size_t p = 0; p < row.size(); ++p) {
      const Json value = json_value(space.parameters()[p], row[p]);
      entry[space.parameters()[p].name] = value;
      if (p > 0)
        key += ',';
      key += key_text(value);
    }
    if (trial.time) {
      entry["time"] = trial.time->value / kNanosecondsPerMillisecond;
      entry["times"] = Json::array({entry["time"]});
    } else {
      entry["time"] = std::find_if(kFailures.begin(), kFailures.end(), [&](const FailureName& f) {
                        return f.outcome == trial.outcome;
                      })->name;
      entry["times"] = Json::array();
    }
    entry["compile_time"] =
        trial.compile_time ? trial.compile_time->value / kNanosecondsPerMillisecond : 0.0;
    for (const char* part :
         {"verification_time", "benchmark_time", "strategy_time", "framework_time"})
      entry[part] = 0;
    // Kernel Tuner parses it and nothing more; a clock here would make equal runs differ.
    entry["timestamp"] = "1970-01-01 00:00:00+00:00";
    if (!trial.counters.empty())
      entry["counters"] = trial.counters;
    // One line an entry, as Kernel Tuner itself writes.
    text += fmt::format("{}\n{}: {}", first ? "" : ",", Json(key).dump(), entry.dump());
    first = false;
  }
  text += "\n}\n}\n";
  return write_file_atomically(path, text);
}

Result<RecordedSpace> recorded_space_of(std::string_view text, const std::filesystem::path& path,
                                        std::string name) {
  KERNEVO_TRY(file, parse_cache(text, path));
  auto recorded = make_recorded_space(std::move(name), std::move(file.parameters),
                                      std::move(file.rows), std::move(file.trials));
  if (!recorded)
    recorded.error().place = Place{path.string()};
  else
    recorded->device = file.header.device;
  return recorded;
}

} // namespace kernevo::search
