#include "kernevo/extract/forms.h"

#include "kernevo/kernel/set_defaults.h"
#include "kernevo/model/json_fields.h"

#include <array>

namespace kernevo::extract {
namespace {

constexpr std::array kForms = {Form::kernel, Form::cu, Form::torch, Form::json};

// Records come as JSON text; here they become part of one object.
Json parsed(const std::string& text) {
  return Json::parse(text);
}

Json ancestors(const Extraction& x) {
  Json list = Json::array();
  for (const Ancestor& ancestor : x.lineage) {
    Json entry = {{"step", ancestor.candidate.step},
                  {"parents", ancestor.candidate.parents},
                  {"proposer", ancestor.candidate.proposer},
                  {"title", ancestor.candidate.title}};
    put_optional(entry, "objective_ns",
                 ancestor.objective ? std::optional(ancestor.objective->value) : std::nullopt);
    list.push_back(std::move(entry));
  }
  return list;
}

} // namespace

std::string_view name_of(Form form) {
  switch (form) {
  case Form::kernel: return "kernel";
  case Form::cu: return "cu";
  case Form::torch: return "torch";
  case Form::json: return "json";
  }
  return "unknown";
}

std::optional<Form> parse_form(std::string_view name) {
  for (const Form form : kForms)
    if (name_of(form) == name)
      return form;
  return std::nullopt;
}

Result<std::string> render_kernel(const Extraction& x, const ReceiptOptions& options) {
  KERNEVO_TRY(source, set_defaults(x.file, x.evaluation.parameters));
  const bool python = x.file.language == KernelLanguage::triton;
  return as_comment(receipt(x, options), python ? "#" : "//") + "\n" + source;
}

Result<std::string> render_json(const Extraction& x, const ReceiptOptions& options) {
  KERNEVO_TRY(bound, set_defaults(x.file, x.evaluation.parameters));
  Json object;
  object["run"] = x.started.run;
  object["step"] = x.step();
  object["best"] = x.best;
  object["task"] = {{"file", x.started.task_file},    {"sha256", x.started.task},
                    {"name", x.started.task_name},    {"operation", x.started.operation},
                    {"dtype", name_of(x.task.dtype)}, {"text", x.task_text}};
  object["gpu"] = x.started.gpu;
  object["method"] = x.started.method;
  object["device"] = x.started.device;
  if (!x.started.hardware.empty())
    object["hardware"] = x.started.hardware;
  object["seed"] = x.started.settings.seed;
  object["speedup"] = x.speedup();
  object["baseline_ns"] = x.baseline.objective->value;
  object["parameters"] = x.evaluation.parameters;
  object["directive"] = parsed(to_json(x.directive));
  object["candidate"] = parsed(to_json(x.candidate));
  object["evaluation"] = parsed(to_json(x.evaluation));
  object["lineage"] = ancestors(x);
  object["source"] = x.file.source;
  object["kernel"] = bound; // the same with its parameters bound
  object["receipt"] = receipt(x, options);
  return dump_json(object, 2) + "\n";
}

Result<std::string> render(const Extraction& x, Form form, const ReceiptOptions& options) {
  switch (form) {
  case Form::kernel: return render_kernel(x, options);
  case Form::cu: return render_cu(x, options);
  case Form::torch: return render_torch(x, options);
  case Form::json: return render_json(x, options);
  }
  return render_json(x, options);
}

} // namespace kernevo::extract
