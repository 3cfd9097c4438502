#include "kernevo/model/program_report.h"

#include "kernevo/model/json_fields.h"

namespace kernevo {
namespace {

Json use_to_json(const KernelUse& use) {
  return {{"kernel", use.kernel},
          {"grid", use.grid},
          {"block", use.block},
          {"dynamic_shared", use.dynamic_shared},
          {"calls", use.calls},
          {"unpriced", use.unpriced},
          {"reason", use.reason},
          {"time_ns", use.time.value},
          {"price", use.price ? Json(to_json(*use.price)) : Json()}};
}

KernelUse use_of(const Json& json) {
  only_keys(json, {"kernel", "grid", "block", "dynamic_shared", "calls", "unpriced", "reason",
                   "time_ns", "price"});
  KernelUse use{
      json.at("kernel"), json.at("grid"),     json.at("block"),  json.at("dynamic_shared"),
      json.at("calls"),  json.at("unpriced"), json.at("reason"), {amount_at(json, "time_ns")},
      std::nullopt};
  if (use.unpriced > use.calls)
    refuse("more launches without a price than launches");
  if (!json.at("price").is_null())
    use.price = value_of(launch_price_from_json(json.at("price").get<std::string>()));
  return use;
}

Json transfer_to_json(const TransferUse& use) {
  return {
      {"kind", use.kind}, {"calls", use.calls}, {"bytes", use.bytes}, {"time_ns", use.time.value}};
}

TransferUse transfer_of(const Json& json) {
  only_keys(json, {"kind", "calls", "bytes", "time_ns"});
  return {json.at("kind"), json.at("calls"), json.at("bytes"), {amount_at(json, "time_ns")}};
}

Json operator_to_json(const OperatorUse& use) {
  return {{"name", use.name},
          {"calls", use.calls},
          {"bytes", use.bytes},
          {"flops", use.flops},
          {"time_ns", use.time.value}};
}

OperatorUse operator_of(const Json& json) {
  only_keys(json, {"name", "calls", "bytes", "flops", "time_ns"});
  return {json.at("name"),
          json.at("calls"),
          json.at("bytes"),
          amount_at(json, "flops"),
          {amount_at(json, "time_ns")}};
}

} // namespace

std::string to_json(const ProgramReport& report) {
  Json json{
      {"process", report.process},   {"program", report.program},   {"gpu", report.gpu},
      {"modelled", report.modelled}, {"complete", report.complete}, {"span_ns", report.span.value},
      {"kernels", Json::array()},    {"transfers", Json::array()},  {"operators", Json::array()},
      {"findings", report.findings}, {"problems", report.problems}};
  for (const KernelUse& use : report.kernels)
    json["kernels"].push_back(use_to_json(use));
  for (const TransferUse& use : report.transfers)
    json["transfers"].push_back(transfer_to_json(use));
  for (const OperatorUse& use : report.operators)
    json["operators"].push_back(operator_to_json(use));
  return dump_json(json);
}

Result<ProgramReport> program_report_from_json(std::string_view text) {
  return read_json(text, "program report", [](const Json& json) {
    only_keys(json, {"process", "program", "gpu", "modelled", "complete", "span_ns", "kernels",
                     "transfers", "operators", "findings", "problems"});
    ProgramReport report;
    json.at("process").get_to(report.process);
    json.at("program").get_to(report.program);
    json.at("gpu").get_to(report.gpu);
    json.at("modelled").get_to(report.modelled);
    json.at("complete").get_to(report.complete);
    report.span = {amount_at(json, "span_ns")};
    for (const Json& item : list_at(json, "kernels"))
      report.kernels.push_back(use_of(item));
    for (const Json& item : list_at(json, "transfers"))
      report.transfers.push_back(transfer_of(item));
    for (const Json& item : list_at(json, "operators"))
      report.operators.push_back(operator_of(item));
    list_at(json, "findings").get_to(report.findings);
    list_at(json, "problems").get_to(report.problems);
    return report;
  });
}

} // namespace kernevo
