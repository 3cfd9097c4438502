#include "kernevo/model/json.h"
#include "kernevo/model/loaded_code_fields.h"
#include "kernevo/model/timing_fields.h"

namespace kernevo {
namespace {

Json interval_to_json(const TimeInterval& interval) {
  return {{"low_ns", interval.low.value},
          {"high_ns", interval.high.value},
          {"confidence", interval.confidence}};
}

TimeInterval interval_from_json(const Json& json) {
  only_keys(json, {"low_ns", "high_ns", "confidence"});
  return {{json.at("low_ns").get<double>()},
          {json.at("high_ns").get<double>()},
          json.at("confidence").get<double>()};
}

Json quality_to_json(const TimingQuality& quality) {
  return {{"grade", name_of(quality.grade)},
          {"reason", quality.reason},
          {"relative_noise", quality.relative_noise},
          {"autocorrelation_time", quality.autocorrelation_time},
          {"warm_up_shots", quality.warm_up_shots},
          {"far_out", quality.far_out},
          {"discarded", quality.discarded}};
}

TimingQuality quality_from_json(const Json& json) {
  only_keys(json, {"grade", "reason", "relative_noise", "autocorrelation_time", "warm_up_shots",
                   "far_out", "discarded"});
  TimingQuality quality;
  quality.grade = enum_at(json, "grade", TimingGrade::disturbed);
  json.at("reason").get_to(quality.reason);
  json.at("relative_noise").get_to(quality.relative_noise);
  json.at("autocorrelation_time").get_to(quality.autocorrelation_time);
  quality.warm_up_shots = json.at("warm_up_shots");
  quality.far_out = json.at("far_out");
  quality.discarded = json.at("discarded");
  return quality;
}

Json receipt_to_json(const Receipt& receipt) {
  Json json{{"device", receipt.device}};
  json["clocks"] = nullptr;
  if (receipt.clocks) {
    Json clocks = Json::object();
    put_optional(clocks, "multiprocessor_mhz", receipt.clocks->multiprocessor_mhz);
    put_optional(clocks, "memory_mhz", receipt.clocks->memory_mhz);
    clocks["locked"] = receipt.clocks->locked;
    json["clocks"] = std::move(clocks);
  }
  put_optional(json, "celsius", receipt.celsius);
  put_optional(json, "watts", receipt.watts);
  json["driver"] = receipt.driver;
  if (!receipt.stand_in.empty())
    json["stand_in"] = receipt.stand_in;
  put_loaded_code(json, receipt.code);
  json["seed"] = receipt.seed;
  json["shapes"] = receipt.shapes;
  json["cache"] = receipt.cache ? Json(name_of(*receipt.cache)) : Json(nullptr);
  json["tools"] = Json::object();
  for (const auto& [name, version] : receipt.tools)
    json["tools"][name] = version;
  json["episode"] = receipt.episode;
  return json;
}

Receipt receipt_from_json(const Json& json) {
  only_keys(json, {"device", "clocks", "celsius", "watts", "driver", "stand_in", "code", "seed",
                   "shapes", "cache", "tools", "episode"});
  Receipt receipt;
  json.at("device").get_to(receipt.device);
  if (const Json& clocks = json.at("clocks"); !clocks.is_null()) {
    only_keys(clocks, {"multiprocessor_mhz", "memory_mhz", "locked"});
    receipt.clocks = Clocks{get_optional<double>(clocks, "multiprocessor_mhz"),
                            get_optional<double>(clocks, "memory_mhz"), clocks.at("locked")};
  }
  receipt.celsius = get_optional<double>(json, "celsius");
  receipt.watts = get_optional<double>(json, "watts");
  json.at("driver").get_to(receipt.driver);
  receipt.stand_in = json.value("stand_in", std::string());
  receipt.code = get_loaded_code(json);
  receipt.seed = json.at("seed");
  json.at("shapes").get_to(receipt.shapes);
  receipt.cache = nullable_enum_at(json, "cache", CacheState::hot);
  for (const auto& item : object_at(json, "tools").items())
    receipt.tools[item.key()] = item.value().get<std::string>();
  json.at("episode").get_to(receipt.episode);
  return receipt;
}

Timing timing_of(const Json& json) {
  only_keys(json, {"method", "samples_ns", "terms", "median_ns", "interval", "quality", "receipt"});
  Timing timing;
  timing.method = enum_at(json, "method", TimingMethod::stand_in);
  for (const Json& sample : list_at(json, "samples_ns"))
    timing.samples.push_back({sample.get<double>()});
  for (const Json& term : list_at(json, "terms")) {
    only_keys(term, {"name", "time_ns"});
    timing.terms.push_back({term.at("name"), {term.at("time_ns").get<double>()}});
  }
  timing.median = {json.at("median_ns").get<double>()};
  timing.interval = interval_from_json(json.at("interval"));
  timing.quality = quality_from_json(json.at("quality"));
  timing.receipt = receipt_from_json(json.at("receipt"));
  return timing;
}

Comparison comparison_of(const Json& json) {
  only_keys(json, {"standing", "method", "ratio", "blocks", "reason"});
  Comparison comparison;
  comparison.standing = enum_at(json, "standing", Standing::not_comparable);
  comparison.method = nullable_enum_at(json, "method", TimingMethod::stand_in);
  if (const Json& ratio = json.at("ratio"); !ratio.is_null()) {
    only_keys(ratio, {"estimate", "low", "high", "confidence"});
    comparison.ratio =
        SpeedRatio{ratio.at("estimate"), ratio.at("low"), ratio.at("high"), ratio.at("confidence")};
  }
  comparison.blocks = json.at("blocks");
  json.at("reason").get_to(comparison.reason);
  return comparison;
}

} // namespace

Json shape_times_to_json(const std::vector<ShapeTime>& shapes) {
  Json list = Json::array();
  for (const ShapeTime& s : shapes)
    list.push_back({s.shape, s.time.value, s.low.value, s.high.value});
  return list;
}

std::vector<ShapeTime> shape_times_of(const Json& json) {
  std::vector<ShapeTime> shapes;
  if (!json.is_array())
    refuse("times of shapes are a list");
  for (const Json& s : json) {
    if (!s.is_array() || s.size() != 4)
      refuse("the time of a shape has four parts");
    shapes.push_back({s.at(0), Nanoseconds{s.at(1)}, Nanoseconds{s.at(2)}, Nanoseconds{s.at(3)}});
  }
  return shapes;
}

std::string to_json(const Timing& timing) {
  Json samples = Json::array();
  for (const Nanoseconds sample : timing.samples)
    samples.push_back(sample.value);
  Json terms = Json::array();
  for (const TimingTerm& term : timing.terms)
    terms.push_back({{"name", term.name}, {"time_ns", term.time.value}});
  return dump_json(Json{{"method", name_of(timing.method)},
                        {"samples_ns", std::move(samples)},
                        {"terms", std::move(terms)},
                        {"median_ns", timing.median.value},
                        {"interval", interval_to_json(timing.interval)},
                        {"quality", quality_to_json(timing.quality)},
                        {"receipt", receipt_to_json(timing.receipt)}});
}

Result<Timing> timing_from_json(std::string_view text) {
  return read_json(text, "timing record", timing_of).and_then(make_timing);
}

std::string to_json(const Comparison& comparison) {
  Json json{{"standing", name_of(comparison.standing)}};
  json["method"] = comparison.method ? Json(name_of(*comparison.method)) : Json(nullptr);
  json["ratio"] = nullptr;
  if (comparison.ratio)
    json["ratio"] = {{"estimate", comparison.ratio->estimate},
                     {"low", comparison.ratio->low},
                     {"high", comparison.ratio->high},
                     {"confidence", comparison.ratio->confidence}};
  json["blocks"] = comparison.blocks;
  json["reason"] = comparison.reason;
  return dump_json(json);
}

Result<Comparison> comparison_from_json(std::string_view text) {
  return read_json(text, "comparison record", comparison_of).and_then(make_comparison);
}

} // namespace kernevo
