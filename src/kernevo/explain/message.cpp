#include "kernevo/explain/message.h"

#include "kernevo/base/suggest.h"

#include <fmt/format.h>
#include <vector>

namespace kernevo {
namespace {

struct Piece {
  std::string text;
  bool name = false;
};

// "{" without "}" gives a piece that is a name with the rest of the text, which no table has.
std::vector<Piece> pieces_of(const std::string& text) {
  std::vector<Piece> pieces;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at);
    if (open > at)
      pieces.push_back({text.substr(at, open - at), false});
    if (open == std::string::npos)
      break;
    const std::size_t close = text.find('}', open);
    pieces.push_back(
        {text.substr(open + 1, close == std::string::npos ? close : close - open - 1), true});
    at = close == std::string::npos ? text.size() : close + 1;
  }
  return pieces;
}

bool is_fact(const std::string& name) {
  for (const FactInfo& fact : fact_table())
    if (fact.name == name)
      return true;
  return false;
}

} // namespace

Result<void> check_message(const std::string& text, const Place& place) {
  std::vector<std::string> known;
  for (const MetricInfo& metric : metric_table())
    known.emplace_back(metric.name);
  for (const FactInfo& fact : fact_table())
    known.emplace_back(fact.name);
  for (const Piece& piece : pieces_of(text))
    if (piece.name && find_metric(piece.text) == nullptr && !is_fact(piece.text))
      return fail(ErrorCode::input,
                  fmt::format("unknown metric '{{{}}}' in a message{}", piece.text,
                              did_you_mean(piece.text, known)),
                  place, "docs/profiling.md lists the metrics");
  return {};
}

std::string fill_message(const std::string& text, const Metrics& metrics) {
  std::string filled;
  for (const Piece& piece : pieces_of(text)) {
    if (!piece.name)
      filled += piece.text;
    else if (const auto value = metrics.find(piece.text))
      filled += metric_text(*value, find_metric(piece.text)->unit);
    else if (const std::string fact = metrics.fact(piece.text); !fact.empty())
      filled += fact;
    else
      filled += "an unknown " + piece.text;
  }
  return filled;
}

} // namespace kernevo
