#include "kernevo/extract/receipt.h"

#include "kernevo/extract/conditions.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::extract {
namespace {

constexpr std::size_t kMostAncestors = 24; // shown; the JSON form has all
constexpr std::size_t kHashShown = 16;

std::string time_text(Nanoseconds time) {
  if (time.value < 1e3)
    return fmt::format("{:.4g} ns", time.value);
  if (time.value < 1e6)
    return fmt::format("{:.4g} us", time.value / 1e3);
  return fmt::format("{:.4g} ms", time.value / 1e6);
}

// Titles and file names are others' text: a line break would end the comment, a backslash at the
// end would swallow the line after it, and so would the trigraph for one.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 127)
      c = ' ';
  for (std::size_t at = text.find("??"); at != std::string::npos; at = text.find("??", at))
    text.erase(at, 1);
  while (!text.empty() && (text.back() == '\\' || text.back() == ' '))
    text.pop_back();
  return text;
}

class Receipt {
public:
  Receipt(const Extraction& extraction, const ReceiptOptions& options)
      : x_(extraction), options_(options) {}

  std::vector<std::string> lines() {
    const RunStarted& run = x_.started;
    add("kernevo", fmt::format("{} (extracted by {})", run.program, options_.program));
    add("run", run.run);
    add("step", step_text());
    add("task", fmt::format("{} (sha256 {})", run.task_file, run.task.substr(0, kHashShown)));
    add("what", fmt::format("{} {}, for the {}", run.operation, name_of(x_.task.dtype), run.gpu));
    add_times();
    if (!x_.evaluation.parameters.empty())
      add("with", parameters_text(x_.evaluation.parameters));
    add_device();
    const std::string where = is_modelled(run)       ? "the virtual GPU"
                              : run.hardware.empty() ? "the " + run.gpu
                                                     : fmt::format("{} ({}), smaller ones on the "
                                                                   "virtual GPU with every "
                                                                   "sanitizer",
                                                                   run.device, run.hardware);
    add("checked",
        confirmed()
            ? fmt::format("right on the task's shapes and on shapes its proposer was not shown, "
                          "on {}",
                          where)
            : fmt::format("right on small shapes on {}; not a new best, so not judged on all "
                          "shapes: run the line below",
                          where));
    if (!options_.proof.empty())
      add("same", options_.proof);
    add("seed", std::to_string(run.settings.seed));
    add_lineage();
    add("again", fmt::format("kernevo check {} {}{}", run.task_file, options_.file,
                             is_modelled(run) ? "" : " --device " + run.device));
    return std::move(lines_);
  }

private:
  void add(std::string_view label, const std::string& text) {
    lines_.push_back(one_line(fmt::format("{:<8} {}", label, text)));
  }

  bool confirmed() const {
    return x_.evaluation.outcome == StepOutcome::improved ||
           x_.evaluation.outcome == StepOutcome::baseline ||
           x_.evaluation.outcome == StepOutcome::guarded;
  }

  std::string step_text() const {
    std::string text = std::to_string(x_.step());
    if (x_.best)
      text += x_.step() == 0 ? " (the best is the reference)" : " (the best)";
    else
      text += fmt::format(" ({})", name_of(x_.evaluation.outcome));
    if (x_.step() != x_.candidate.step)
      text += fmt::format(", which tuned step {}", x_.candidate.step);
    return text;
  }

  // What measured it, or played at it, and how that was.
  void add_device() {
    const RunStarted& run = x_.started;
    if (is_modelled(run))
      return;
    std::string text = run.device;
    if (!run.hardware.empty())
      text += " " + run.hardware;
    if (const std::string state = x_.conditions ? clock_and_heat(*x_.conditions) : "";
        !state.empty())
      text += ", " + state;
    add("device", text);
    if (x_.conditions && x_.conditions->code)
      add("loaded", text_of(*x_.conditions->code));
  }

  void add_times() {
    const std::string& method = x_.started.method;
    for (const ShapeTime& shape : x_.evaluation.shapes)
      add("time", fmt::format("{}  {} {}, {} to {}{}", shape.shape, time_text(shape.time), method,
                              time_text(shape.low), time_text(shape.high), reference_text(shape)));
    add("in all",
        fmt::format("{} {}, {:.3g} x the reference's speed{}", time_text(*x_.evaluation.objective),
                    method, x_.speedup(),
                    x_.evaluation.roofline ? ", " + roofline_text(*x_.evaluation.roofline,
                                                                  x_.started.estimate.has_value())
                                           : ""));
  }

  std::string reference_text(const ShapeTime& shape) const {
    for (const ShapeTime& other : x_.baseline.shapes)
      if (other.shape == shape.shape)
        return fmt::format("; the reference {}", time_text(other.time));
    return "";
  }

  void add_lineage() {
    const std::size_t count = x_.lineage.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (count > kMostAncestors && i == kMostAncestors - 1) {
        add("", fmt::format("... {} more ...", count - kMostAncestors));
        i = count - 1;
      }
      const Ancestor& ancestor = x_.lineage[i];
      const Candidate& c = ancestor.candidate;
      const std::string mate =
          c.parents.size() > 1 ? fmt::format(" (and step {})", c.parents[1]) : "";
      add(i == 0 ? "way" : "",
          fmt::format("{}step {}{}{}: {}", i == 0 ? "" : "from ", c.step,
                      ancestor.objective ? ", " + time_text(*ancestor.objective) : "", mate,
                      c.title));
    }
  }

  const Extraction& x_;
  const ReceiptOptions& options_;
  std::vector<std::string> lines_;
};

} // namespace

std::vector<std::string> receipt(const Extraction& extraction, const ReceiptOptions& options) {
  return Receipt(extraction, options).lines();
}

std::string as_comment(const std::vector<std::string>& lines, std::string_view mark) {
  std::string text;
  for (const std::string& line : lines)
    text += fmt::format("{} {}\n", mark, line);
  return text;
}

std::string parameters_text(const ParameterValues& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

} // namespace kernevo::extract
