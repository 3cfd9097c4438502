// A stage made of a script: what each kind of request is answered with.
#pragma once

#include "kernevo/model/json_fields.h"
#include "kernevo/model/program_report.h"
#include "kernevo/programs/stage.h"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kernevo::test {

using Reply = std::function<Json(const Json& request)>;

// Lives as long as its stages do.
struct StageScript {
  std::map<std::string, Reply> replies; // by what is to be done
  std::vector<Json> asked;
  bool gone = false;

  std::vector<std::string> jobs() const {
    std::vector<std::string> names;
    for (const Json& request : asked)
      names.push_back(request.at("do"));
    return names;
  }
};

class ScriptedStage : public StageChannel {
public:
  explicit ScriptedStage(StageScript& script) : script_(script) {}
  Result<std::string> ask(std::string_view request, double) override {
    if (script_.gone)
      return fail(ErrorCode::infrastructure, "gone");
    const Json asked = Json::parse(request);
    script_.asked.push_back(asked);
    Json reply = script_.replies.at(asked.at("do").get<std::string>())(asked);
    if (!reply.contains("id"))
      reply["id"] = asked.at("id");
    if (!reply.contains("ok"))
      reply["ok"] = !reply.contains("error");
    return reply.dump();
  }

private:
  StageScript& script_;
};

inline Json fault(const std::string& kind, const std::string& text, Json where = nullptr) {
  return {
      {"error",
       {{"kind", kind}, {"text", text}, {"where", std::move(where)}, {"detail", Json::array()}}}};
}

inline Json sizes(const std::string& kind, std::int64_t rows, std::int64_t columns = 16) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(rows * columns) * 4;
  const Json tensor{{"shape", {rows, columns}}, {"dtype", "float32"}};
  return {{"id", fmt::format("{}x{}", rows, columns)},
          {"kind", kind},
          {"globals", {{"rows", rows}}},
          {"inputs", Json::array({tensor})},
          {"outputs", Json::array({tensor})},
          {"input_bytes", bytes},
          {"weight_bytes", 0},
          {"output_bytes", bytes},
          {"flops", static_cast<double>(rows * columns)}};
}

inline Json report(double kernel_ns, const std::string& kernel = "add") {
  ProgramReport made;
  made.gpu = "A100";
  made.complete = true;
  made.span = Nanoseconds{kernel_ns};
  KernelUse use;
  use.kernel = kernel;
  use.calls = 1;
  use.time = Nanoseconds{kernel_ns};
  use.price = LaunchPrice{};
  use.price->time = use.time;
  use.price->error = 0.2;
  use.price->limiter = "dram";
  made.kernels.push_back(use);
  return Json::parse(to_json(made));
}

// An honest program on a task of these sizes.
inline StageScript honest(std::vector<Json> cases) {
  StageScript script;
  script.replies["describe"] = [cases](const Json&) {
    Json reply{{"cases", Json::array()},
               {"float64", true},
               {"mode", "train"},
               {"tolerance", {{"rtol", 1e-4}, {"atol", 1e-4}}},
               {"warnings", Json::array()}};
    for (const Json& one : cases)
      reply["cases"].push_back(one);
    return reply;
  };
  script.replies["prepare"] = [](const Json& request) {
    Json reply{{"init", "init.pt"}, {"decoy", "decoy.pt"}, {"trivial", false}};
    if (request.at("values").get<bool>())
      reply["variants"] = Json::array({{{"name", "nominal"},
                                        {"used", true},
                                        {"why", nullptr},
                                        {"inputs", "inputs-nominal.pt"},
                                        {"expected", "expected-nominal.pt"}}});
    return reply;
  };
  script.replies["record"] = [](const Json&) {
    return Json{{"trace", "trace"},        {"snapshot", "snapshot"},
                {"inputs", Json::array()}, {"outputs", Json::array()},
                {"structure", "tensor"},   {"reads_back", false},
                {"launches", 1},           {"operators", 0},
                {"printed", ""},           {"notes", Json::array()}};
  };
  script.replies["replay"] = [](const Json&) {
    return Json{{"outputs", "outputs.pt"}, {"findings", Json::array()}, {"report", report(1e6)}};
  };
  script.replies["compare"] = [](const Json&) {
    return Json{{"right", true}, {"worst", nullptr}, {"elements", 64}, {"nan", 0}};
  };
  return script;
}

inline Json mismatch() {
  return {{"right", false},
          {"worst",
           {{"ratio", "inf"},
            {"output", "output"},
            {"index", {1, 2}},
            {"expected", 1.0},
            {"actual", "nan"},
            {"tolerance", 0.01}}},
          {"elements", 64},
          {"nan", 1}};
}

inline StageJobs jobs_of(StageScript& script) {
  return StageJobs(std::make_unique<ScriptedStage>(script));
}

} // namespace kernevo::test
