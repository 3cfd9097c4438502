#include "kernevo/device/cuda_messages.h"

#include "kernevo/base/printable.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <utility>

namespace kernevo {
namespace {

// The line of JSON, and what follows it.
std::string_view head_of(std::string_view text) {
  return text.substr(0, text.find('\n'));
}
std::string_view tail_of(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_at(const Json& json, const char* key) {
  return printable(json.at(key).get<std::string>());
}

ErrorCode code_of(const std::string& name) {
  for (const ErrorCode code : {ErrorCode::unsupported, ErrorCode::unavailable, ErrorCode::input})
    if (name == std::to_string(static_cast<int>(code)))
      return code;
  return ErrorCode::infrastructure;
}

template <class T, class F> std::string answer(const Result<T>& result, F write) {
  if (result)
    return write(*result);
  Json json;
  json["trouble"]["code"] = std::to_string(static_cast<int>(result.error().code));
  json["trouble"]["message"] = result.error().message;
  json["trouble"]["fix"] = result.error().fix;
  return text_of(json) + '\n';
}

template <class F>
auto read_answer(std::string_view text, const char* what, F reader)
    -> Result<decltype(reader(std::declval<const Json&>()))> {
  using T = decltype(reader(std::declval<const Json&>()));
  auto read = read_json(head_of(text), what, [&](const Json& json) -> Result<T> {
    if (const auto trouble = json.find("trouble"); trouble != json.end()) {
      only_keys(json, {"trouble"});
      only_keys(*trouble, {"code", "message", "fix"});
      return fail(code_of(trouble->at("code").get<std::string>()), text_at(*trouble, "message"),
                  std::nullopt, text_at(*trouble, "fix"));
    }
    return reader(json);
  });
  if (!read) // an answer that is none is the worker's trouble, not the user's
    return fail(ErrorCode::infrastructure, read.error().message);
  return std::move(*read);
}

Json facts_to_json(const CudaFacts& f) {
  return {{"ordinal", f.ordinal},
          {"name", f.name},
          {"uuid", f.uuid},
          {"bus", f.bus},
          {"stand_in", f.stand_in},
          {"driver_version", f.driver_version},
          {"compute_capability", f.compute_capability},
          {"memory", f.memory.value},
          {"multiprocessors", f.multiprocessors},
          {"threads_per_block", f.threads_per_block},
          {"threads_per_multiprocessor", f.threads_per_multiprocessor},
          {"blocks_per_multiprocessor", f.blocks_per_multiprocessor},
          {"registers_per_block", f.registers_per_block},
          {"registers_per_multiprocessor", f.registers_per_multiprocessor},
          {"shared_per_block", f.shared_per_block},
          {"shared_per_block_optin", f.shared_per_block_optin},
          {"shared_per_multiprocessor", f.shared_per_multiprocessor},
          {"shared_reserved_per_block", f.shared_reserved_per_block},
          {"l2_bytes", f.l2_bytes},
          {"clock_khz", f.clock_khz},
          {"memory_clock_khz", f.memory_clock_khz},
          {"memory_bus_bits", f.memory_bus_bits}};
}

CudaFacts facts_from_json(const Json& json) {
  CudaFacts f;
  const Json known = facts_to_json(f);
  for (const auto& [key, value] : json.items())
    if (!known.contains(key))
      refuse("unknown key '" + key + "'");
  f.ordinal = count_at(json, "ordinal");
  f.name = text_at(json, "name");
  f.uuid = text_at(json, "uuid");
  f.bus = text_at(json, "bus");
  f.stand_in = text_at(json, "stand_in");
  f.driver_version = count_at(json, "driver_version");
  f.compute_capability = count_at(json, "compute_capability");
  f.memory = Bytes{json.at("memory").get<std::uint64_t>()};
  f.multiprocessors = count_at(json, "multiprocessors");
  f.threads_per_block = count_at(json, "threads_per_block");
  f.threads_per_multiprocessor = count_at(json, "threads_per_multiprocessor");
  f.blocks_per_multiprocessor = count_at(json, "blocks_per_multiprocessor");
  f.registers_per_block = count_at(json, "registers_per_block");
  f.registers_per_multiprocessor = count_at(json, "registers_per_multiprocessor");
  f.shared_per_block = count_at(json, "shared_per_block");
  f.shared_per_block_optin = count_at(json, "shared_per_block_optin");
  f.shared_per_multiprocessor = count_at(json, "shared_per_multiprocessor");
  f.shared_reserved_per_block = count_at(json, "shared_reserved_per_block");
  f.l2_bytes = count_at(json, "l2_bytes");
  f.clock_khz = count_at(json, "clock_khz");
  f.memory_clock_khz = count_at(json, "memory_clock_khz");
  f.memory_bus_bits = count_at(json, "memory_bus_bits");
  return f;
}

std::optional<Finding> finding_at(const Json& json, const char* key) {
  if (json.at(key).is_null())
    return std::nullopt;
  Finding finding = value_of(finding_from_json(json.at(key).get<std::string>()));
  for (std::string* text :
       {&finding.message, &finding.kernel, &finding.source_file, &finding.space, &finding.buffer})
    *text = printable(*text);
  return finding;
}

Json finding_to_json(const std::optional<Finding>& finding) {
  return finding ? Json(to_json(*finding)) : Json(nullptr);
}

std::string encode_part(const char* kind, const CudaPartMessage& message) {
  return text_of({{"kind", kind},
                  {"tensor", message.tensor},
                  {"offset", message.offset},
                  {"bytes", message.bytes}}) +
         '\n';
}

} // namespace

std::string encode(const CudaSettings& settings) {
  return text_of({{"libcuda", settings.libcuda},
                  {"libnvml", settings.libnvml},
                  {"environment", settings.environment},
                  {"readable", settings.readable},
                  {"libcupti", settings.libcupti}});
}

std::string encode(const CudaOpenMessage& message) {
  return text_of({{"kind", "open"}, {"ordinal", message.ordinal}, {"uuid", message.uuid}});
}

std::string encode(const CudaLoadMessage& message) {
  return text_of({{"kind", "load"},
                  {"ptx", message.ptx},
                  {"file", message.file},
                  {"memory_bytes", message.memory_bytes}}) +
         '\n' + message.cubin;
}

std::string encode(const CudaShotsMessage& message) {
  return text_of({{"kind", "shots"}, {"cold", message.cold}}) + '\n' + encode(message.run);
}

std::string encode_write(const CudaPartMessage& message, std::string_view bytes) {
  return encode_part("write", message) + std::string(bytes);
}

std::string encode_read(const CudaPartMessage& message) {
  return encode_part("read", message);
}

std::string encode_word(const std::string& kind) {
  Json json;
  json["kind"] = kind;
  return text_of(json);
}

Result<CudaSettings> decode_settings(std::string_view text) {
  return read_json(text, "settings", [](const Json& json) {
    only_keys(json, {"libcuda", "libnvml", "environment", "readable", "libcupti"});
    CudaSettings settings{json.at("libcuda"), json.at("libnvml"), {}, {}, {}};
    json.at("libcupti").get_to(settings.libcupti);
    json.at("environment").get_to(settings.environment);
    json.at("readable").get_to(settings.readable);
    return settings;
  });
}

Result<CudaOpenMessage> decode_cuda_open(std::string_view text) {
  return read_json(head_of(text), "open message", [](const Json& json) {
    only_keys(json, {"kind", "ordinal", "uuid"});
    return CudaOpenMessage{count_at(json, "ordinal"), json.at("uuid")};
  });
}

Result<CudaLoadMessage> decode_cuda_load(std::string_view text) {
  return read_json(head_of(text), "load message", [&](const Json& json) {
    only_keys(json, {"kind", "ptx", "file", "memory_bytes"});
    return CudaLoadMessage{json.at("ptx"), json.at("file"), std::string(tail_of(text)),
                           json.at("memory_bytes")};
  });
}

Result<CudaShotsMessage> decode_shots(std::string_view text) {
  CudaShotsMessage message;
  KERNEVO_CHECK(read_json(head_of(text), "shots message", [&](const Json& json) {
    only_keys(json, {"kind", "cold"});
    json.at("cold").get_to(message.cold);
    return true;
  }));
  KERNEVO_TRY(run, decode_run(tail_of(text)));
  message.run = std::move(run);
  return message;
}

Result<std::pair<CudaPartMessage, std::string_view>> decode_part(std::string_view text) {
  return read_json(head_of(text), "message on a part", [&](const Json& json) {
    only_keys(json, {"kind", "tensor", "offset", "bytes"});
    CudaPartMessage part{json.at("tensor"), json.at("offset"), json.at("bytes")};
    return std::pair(part, tail_of(text));
  });
}

std::string encode(const Result<CudaListing>& result) {
  return answer(result, [](const CudaListing& listing) {
    Json gpus = Json::array();
    for (const CudaFacts& facts : listing.gpus)
      gpus.push_back(facts_to_json(facts));
    return text_of({{"driver_version", listing.driver_version},
                    {"stand_in", listing.stand_in},
                    {"gpus", std::move(gpus)}});
  });
}

std::string encode(const Result<CudaFacts>& result) {
  return answer(result, [](const CudaFacts& facts) { return text_of(facts_to_json(facts)); });
}

std::string encode(const Result<CudaLoadAnswer>& result) {
  return answer(result, [](const CudaLoadAnswer& load) {
    return text_of({{"refusal", finding_to_json(load.refusal)},
                    {"loaded", name_of(load.loaded)},
                    {"process", load.process}});
  });
}

std::string encode(const Result<CudaShotsAnswer>& result) {
  return answer(result, [](const CudaShotsAnswer& shots) {
    return text_of({{"start", shots.start}, {"sets", shots.sets}});
  });
}

std::string encode(const Result<CudaShotAnswer>& result) {
  return answer(result, [](const CudaShotAnswer& shot) {
    return text_of({{"fault", finding_to_json(shot.fault)}, {"nanoseconds", shot.nanoseconds}});
  });
}

std::string encode(const Result<GpuTelemetry>& result) {
  return answer(result, [](const GpuTelemetry& t) {
    Json json{{"driver", t.driver}, {"missing", t.missing}, {"lost", t.lost}};
    put_optional(json, "multiprocessor_mhz", t.multiprocessor_mhz);
    put_optional(json, "memory_mhz", t.memory_mhz);
    put_optional(json, "wanted_mhz", t.wanted_mhz);
    put_optional(json, "reasons", t.reasons);
    put_optional(json, "celsius", t.celsius);
    put_optional(json, "watts", t.watts);
    json["processes"] = nullptr;
    if (t.processes) {
      json["processes"] = Json::array();
      for (const GpuTelemetry::Process& process : *t.processes) {
        Json item{{"id", process.id}, {"name", process.name}};
        put_optional(item, "percent", process.percent);
        json["processes"].push_back(std::move(item));
      }
    }
    return text_of(json);
  });
}

std::string encode_outcome(const Result<RunOutcome>& result) {
  return answer(result, [&](const RunOutcome&) { return encode(result); });
}

std::string encode_bytes(const Result<std::string>& result) {
  return answer(result, [](const std::string& bytes) {
    Json json;
    json["bytes"] = bytes.size();
    return text_of(json) + '\n' + bytes;
  });
}

Result<CudaListing> decode_listing(std::string_view text) {
  return read_answer(text, "the worker's list of GPUs", [](const Json& json) {
    only_keys(json, {"driver_version", "stand_in", "gpus"});
    CudaListing listing{count_at(json, "driver_version"), text_at(json, "stand_in"), {}};
    for (const Json& item : list_at(json, "gpus"))
      listing.gpus.push_back(facts_from_json(item));
    return listing;
  });
}

Result<CudaFacts> decode_facts(std::string_view text) {
  return read_answer(text, "the worker's word on its GPU", facts_from_json);
}

Result<CudaLoadAnswer> decode_load_answer(std::string_view text) {
  return read_answer(text, "the worker's answer", [](const Json& json) {
    only_keys(json, {"refusal", "loaded", "process"});
    return CudaLoadAnswer{finding_at(json, "refusal"), enum_at(json, "loaded", CodeForm::ptx),
                          count_at(json, "process")};
  });
}

Result<CudaShotsAnswer> decode_shots_answer(std::string_view text) {
  return read_answer(text, "the worker's answer", [](const Json& json) {
    only_keys(json, {"start", "sets"});
    return CudaShotsAnswer{text_at(json, "start"), count_at(json, "sets")};
  });
}

Result<CudaShotAnswer> decode_shot_answer(std::string_view text) {
  return read_answer(text, "the worker's shot", [](const Json& json) {
    only_keys(json, {"fault", "nanoseconds"});
    CudaShotAnswer shot{finding_at(json, "fault"), amount_at(json, "nanoseconds")};
    return shot;
  });
}

Result<GpuTelemetry> decode_telemetry(std::string_view text) {
  return read_answer(text, "the worker's telemetry", [](const Json& json) {
    only_keys(json, {"driver", "missing", "lost", "multiprocessor_mhz", "memory_mhz", "wanted_mhz",
                     "reasons", "celsius", "watts", "processes"});
    GpuTelemetry t;
    t.driver = text_at(json, "driver");
    t.missing = text_at(json, "missing");
    json.at("lost").get_to(t.lost);
    t.multiprocessor_mhz = get_optional<double>(json, "multiprocessor_mhz");
    t.memory_mhz = get_optional<double>(json, "memory_mhz");
    t.wanted_mhz = get_optional<double>(json, "wanted_mhz");
    t.reasons = get_optional<std::uint64_t>(json, "reasons");
    t.celsius = get_optional<double>(json, "celsius");
    t.watts = get_optional<double>(json, "watts");
    if (json.at("processes").is_null())
      return t;
    t.processes.emplace();
    for (const Json& item : list_at(json, "processes")) {
      only_keys(item, {"id", "name", "percent"});
      t.processes->push_back(
          {item.at("id"), get_optional<int>(item, "percent"), text_at(item, "name")});
    }
    return t;
  });
}

Result<RunOutcome> decode_cuda_outcome(std::string_view text) {
  auto read = read_answer(text, "the worker's answer", [](const Json&) { return true; });
  if (!read)
    return tl::unexpected<Error>(std::move(read).error());
  return decode_outcome(text);
}

Result<std::string> decode_bytes(std::string_view text) {
  auto size = read_answer(text, "the worker's answer", [](const Json& json) {
    only_keys(json, {"bytes"});
    return json.at("bytes").get<std::uint64_t>();
  });
  if (!size)
    return tl::unexpected<Error>(std::move(size).error());
  if (*size != tail_of(text).size())
    return fail(ErrorCode::infrastructure, "the worker's answer is cut short");
  return std::string(tail_of(text));
}

} // namespace kernevo
