#include "kernevo/llm/trace.h"

#include "kernevo/base/files.h"
#include "kernevo/llm/json_text.h"

#include <charconv>
#include <chrono>
#include <ctime>

namespace kernevo::llm {
namespace {

struct Moment {
  std::string for_name; // 20260131T235959Z
  std::string for_json; // 2026-01-31T23:59:59.123Z
};

Moment now_utc() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm t{};
  gmtime_r(&seconds, &t);
  return {fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
                      t.tm_hour, t.tm_min, t.tm_sec),
          fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", t.tm_year + 1900, t.tm_mon + 1,
                      t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, milliseconds)};
}

bool is_secret_header(std::string name) {
  for (char& c : name)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name == "authorization" || name == "api-key" || name == "x-api-key" || name == "cookie" ||
         name == "set-cookie" || name == "proxy-authorization";
}

// Strings are cleaned after parsing: whatever escapes they were written with are gone.
void clean(Json& json, const Redactor& redactor, bool strictly) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    json = strictly ? redactor.redact(text) : redactor.without_key(text);
  } else if (json.is_object()) {
    Json copy = Json::object();
    for (auto& [key, value] : json.items()) {
      clean(value, redactor, strictly);
      copy[redactor.without_key(key)] = std::move(value);
    }
    json = std::move(copy);
  } else if (json.is_array()) {
    for (Json& one : json)
      clean(one, redactor, strictly);
  }
}

Json body_json(std::string_view body, const Redactor& redactor, bool strictly) {
  auto json = parse_foreign(body);
  if (!json)
    return nullptr;
  clean(*json, redactor, strictly);
  return std::move(*json);
}

template <class Headers> Json headers_json(const Headers& headers, const Redactor& redactor) {
  Json json = Json::object();
  for (const auto& [name, value] : headers)
    json[name] = is_secret_header(name) ? "[redacted]" : redactor.redact(value);
  return json;
}

Json request_json(const TraceRecord& record, const Redactor& redactor) {
  const HttpRequest& request = record.request;
  return {{"id", request.id},
          {"method", request.method},
          {"path", record.path},
          {"upstream", redactor.redact(record.base_url)},
          {"headers", headers_json(request.headers, redactor)},
          {"json", body_json(request.body, redactor, false)},
          {"raw_bytes_len", request.body.size()}};
}

Json response_json(const Exchanged& exchanged, const Redactor& redactor) {
  const HttpResponse& response = exchanged.response;
  const ReadReply& read = exchanged.read;
  const bool whole = !exchanged.body.empty() || !read.unread.empty();
  const std::string& raw = exchanged.body.empty() ? read.unread : exchanged.body;
  Json json{{"status", response.status}, {"headers", headers_json(response.headers, redactor)}};
  if (whole)
    json["json"] = body_json(raw, redactor, true);
  else
    json["json"] = read.bytes == 0 ? Json() : body_json(assembled_json(read), redactor, false);
  if (whole && json["json"].is_null())
    json["text"] = redactor.redact(raw);
  json["raw_bytes_len"] = exchanged.body.empty() ? read.bytes : exchanged.body.size();
  if (read.streamed)
    json["streamed"] = true;
  if (response.error != TransportError::none) {
    json["cut"] = true;
    json["error"] = name_of(response.error);
    json["message"] = redactor.one_line(response.message);
  } else if (!read.malformed.empty()) {
    json["malformed"] = read.malformed;
  }
  return json;
}

std::uint64_t highest_number(const std::filesystem::path& folder) {
  std::uint64_t highest = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && *end == '_')
      highest = std::max(highest, number);
  }
  return highest;
}

} // namespace

Result<std::shared_ptr<Tracer>> Tracer::open(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, fmt::format("cannot make the folder {} for traces: {}",
                                                       folder.string(), problem.message()));
  return std::shared_ptr<Tracer>(new Tracer(folder, highest_number(folder) + 1));
}

void Tracer::write(const TraceRecord& record, const Redactor& redactor) {
  const Moment moment = now_utc();
  Json json{{"ts_utc", moment.for_json},
            {"request", request_json(record, redactor)},
            {"response", response_json(record.exchanged, redactor)},
            {"timing", {{"elapsed_s", record.exchanged.seconds}}}};
  const std::string text = dump_text(json, 2) + "\n";
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = next_++;
  }
  const auto name = fmt::format("{:06}_{}_{}.json", number, moment.for_name, record.request.method);
  const auto written = write_file_atomically(folder_ / name, text);
  const std::lock_guard lock(mutex_);
  if (!written && !problem_)
    problem_ = written.error();
}

std::optional<Error> Tracer::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

} // namespace kernevo::llm
