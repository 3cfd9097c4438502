#include "kernevo/report/page.h"

#include "kernevo/base/files.h"
#include "kernevo/report/page_data.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace kernevo::report {
namespace {

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    case '\'': out += "&#39;"; break;
    default: out += c;
    }
  }
  return out;
}

// For readers without scripts.
std::string summary(const RunStory& story) {
  const evolve::RunState& state = story.state;
  const evolve::Member* best = state.best();
  if (!state.baseline || best == nullptr)
    return "No baseline yet.";
  return fmt::format("{:.4g} us -> {:.4g} us, {:.2f} x the reference's speed, {}; {}",
                     state.baseline->value / 1e3, best->objective.value / 1e3, state.speedup(),
                     provenance(state.started),
                     state.stopped ? "stopped: " + state.stopped->text : "no stop is recorded");
}

using Parts = std::array<std::pair<std::string_view, std::string>, 5>;

// In one pass, so that nothing inside a part is taken for a mark.
Result<std::string> fill(std::string_view page, const Parts& parts, const std::string& file) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos)
      return out;
    const std::size_t close = page.find("}}", open);
    const std::string_view name =
        page.substr(open + 2, close == std::string_view::npos ? 0 : close - open - 2);
    const auto* part = std::find_if(parts.begin(), parts.end(),
                                    [&](const auto& one) { return one.first == name; });
    if (part == parts.end())
      return fail(ErrorCode::infrastructure, fmt::format("has an unknown mark '{{{{{}}}}}'", name),
                  Place{file}, "install kernevo's share folder anew");
    out += part->second;
    page.remove_prefix(close + 2);
  }
}

} // namespace

Result<std::string> make_page(const RunStory& story, store::Journal& journal, std::int64_t made,
                              const PageLimits& limits) {
  KERNEVO_TRY(share, share_folder());
  const std::filesystem::path folder = share / "report";
  KERNEVO_TRY(page, read_text_file(folder / "template.html"));
  KERNEVO_TRY(style, read_text_file(folder / "report.css"));
  std::string script;
  for (const char* name : {"dom.js", "diff.js", "charts.js", "report.js"}) {
    KERNEVO_TRY(text, read_text_file(folder / name));
    script += text;
  }
  KERNEVO_TRY(data, page_data(story, journal, made, limits));
  const Parts parts = {{{"title", html_text(story.state.started.run + " - kernevo")},
                        {"summary", html_text(summary(story))},
                        {"style", std::move(style)},
                        {"data", std::move(data)},
                        {"script", std::move(script)}}};
  return fill(page, parts, (folder / "template.html").string());
}

} // namespace kernevo::report
