#include "kernevo/model/launch_price.h"

#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <array>

namespace kernevo {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"gpu", "module", "launch", "kernel"};
constexpr int kMostRegisters = 1024;
constexpr double kLongest = 1e18; // nanoseconds: 30 years
constexpr std::size_t kMostBounds = 64;

Json price_to_json(const LaunchPrice& price) {
  Json bounds = Json::array();
  for (const TimingTerm& term : price.bounds)
    bounds.push_back({{"name", term.name}, {"time_ns", term.time.value}});
  Json json{{"time_ns", price.time.value},
            {"error", price.error},
            {"from_machine_code", price.from_machine_code},
            {"note", price.note},
            {"limiter", price.limiter},
            {"bottleneck", price.bottleneck},
            {"message", price.message},
            {"occupancy", price.occupancy},
            {"waves", price.waves},
            {"bounds", std::move(bounds)}};
  if (!price.metrics.empty())
    json["metrics"] = price.metrics;
  return json;
}

Nanoseconds time_at(const Json& json) {
  const double time = amount_at(json, "time_ns");
  if (time > kLongest)
    refuse("a launch of more than thirty years");
  return {time};
}

LaunchPrice price_of(const Json& json) {
  only_keys(json, {"time_ns", "error", "from_machine_code", "note", "limiter", "bottleneck",
                   "message", "occupancy", "waves", "bounds", "metrics"});
  LaunchPrice price;
  price.time = time_at(json);
  price.error = amount_at(json, "error");
  json.at("from_machine_code").get_to(price.from_machine_code);
  json.at("note").get_to(price.note);
  json.at("limiter").get_to(price.limiter);
  json.at("bottleneck").get_to(price.bottleneck);
  json.at("message").get_to(price.message);
  price.occupancy = amount_at(json, "occupancy");
  price.waves = amount_at(json, "waves");
  if (list_at(json, "bounds").size() > kMostBounds)
    refuse("more bounds than there are resources");
  for (const Json& term : list_at(json, "bounds")) {
    only_keys(term, {"name", "time_ns"});
    price.bounds.push_back({term.at("name"), time_at(term)});
  }
  if (json.contains("metrics"))
    object_at(json, "metrics").get_to(price.metrics);
  return price;
}

Json kernel_to_json(const AssembledKernel& kernel) {
  return {{"registers", kernel.registers}, {"stack_bytes", kernel.stack.value}};
}

AssembledKernel kernel_of(const Json& json) {
  only_keys(json, {"registers", "stack_bytes"});
  AssembledKernel kernel;
  json.at("registers").get_to(kernel.registers);
  json.at("stack_bytes").get_to(kernel.stack.value);
  if (kernel.registers < 0 || kernel.registers > kMostRegisters)
    refuse("more registers than a thread can have");
  return kernel;
}

} // namespace

std::string_view name_of(PriceRequest::Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

std::string to_json(const LaunchPrice& price) {
  return dump_json(price_to_json(price));
}

Result<LaunchPrice> launch_price_from_json(std::string_view text) {
  return read_json(text, "price", price_of);
}

std::string to_json(const PriceRequest& request) {
  Json json{{"kind", name_of(request.kind)}};
  switch (request.kind) {
  case PriceRequest::Kind::gpu: json["gpu"] = request.gpu; break;
  case PriceRequest::Kind::module:
    json["module"] = request.module;
    json["texts"] = request.texts;
    break;
  case PriceRequest::Kind::launch:
    json["module"] = request.module;
    json["kernel"] = request.kernel;
    json["counts"] = to_json(request.counts);
    json["metrics"] = request.metrics;
    break;
  case PriceRequest::Kind::kernel:
    json["module"] = request.module;
    json["kernel"] = request.kernel;
    break;
  }
  return dump_json(json);
}

Result<PriceRequest> price_request_from_json(std::string_view text) {
  return read_json(text, "price request", [](const Json& json) {
    PriceRequest request;
    request.kind = enum_at(json, "kind", PriceRequest::Kind::kernel);
    switch (request.kind) {
    case PriceRequest::Kind::gpu:
      only_keys(json, {"kind", "gpu"});
      json.at("gpu").get_to(request.gpu);
      break;
    case PriceRequest::Kind::module:
      only_keys(json, {"kind", "module", "texts"});
      json.at("module").get_to(request.module);
      list_at(json, "texts").get_to(request.texts);
      break;
    case PriceRequest::Kind::launch:
      only_keys(json, {"kind", "module", "kernel", "counts", "metrics"});
      json.at("module").get_to(request.module);
      json.at("kernel").get_to(request.kernel);
      json.at("metrics").get_to(request.metrics);
      request.counts = value_of(launch_counts_from_json(json.at("counts").get<std::string>()));
      break;
    case PriceRequest::Kind::kernel:
      only_keys(json, {"kind", "module", "kernel"});
      json.at("module").get_to(request.module);
      json.at("kernel").get_to(request.kernel);
      break;
    }
    return request;
  });
}

std::string to_json(const PriceAnswer& answer) {
  Json json{{"price", answer.price ? price_to_json(*answer.price) : Json()},
            {"kernel", answer.kernel ? kernel_to_json(*answer.kernel) : Json()},
            {"error", answer.error ? Json(to_json(*answer.error)) : Json()}};
  return dump_json(json);
}

Result<PriceAnswer> price_answer_from_json(std::string_view text) {
  return read_json(text, "answer of the price worker", [](const Json& json) {
    only_keys(json, {"price", "kernel", "error"});
    PriceAnswer answer;
    if (!json.at("price").is_null())
      answer.price = price_of(json.at("price"));
    if (!json.at("kernel").is_null())
      answer.kernel = kernel_of(json.at("kernel"));
    if (!json.at("error").is_null())
      answer.error = value_of(error_from_json(json.at("error").get<std::string>()));
    if ((answer.price || answer.kernel) && answer.error)
      refuse("an answer and an error");
    return answer;
  });
}

} // namespace kernevo
