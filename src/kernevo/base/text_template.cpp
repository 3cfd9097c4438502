#include "kernevo/base/text_template.h"

#include "kernevo/base/files.h"
#include "kernevo/base/suggest.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include <vector>

namespace kernevo {
namespace {

// One text at a time, line by line, with the conditions it stands in.
class Expansion {
public:
  Expansion(const TemplateContext& context, const std::string& file)
      : context_(context), file_(file) {}

  Result<std::string> run(std::string_view text) {
    KERNEVO_CHECK(lines(text));
    if (!conditions_.empty()) {
      line_ = conditions_.back().line;
      return error("{{if}} without {{end}}");
    }
    return std::move(result_);
  }

private:
  struct Condition {
    bool holds = false;
    bool outer = true; // whether the lines around it are kept
    int line = 0;
    bool other = false; // after its {{else}}
  };

  tl::unexpected<Error> error(std::string message, std::string fix = "") const {
    return fail(ErrorCode::input, std::move(message), Place{file_, line_}, std::move(fix));
  }
  bool kept() const {
    return conditions_.empty() || (conditions_.back().outer && conditions_.back().holds);
  }

  Result<void> lines(std::string_view text) {
    std::size_t start = 0;
    while (start < text.size()) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      ++line_;
      KERNEVO_CHECK(take(std::string(text.substr(start, end - start))));
      start = end + 1;
    }
    return {};
  }

  // A part that several templates have in common, beside the template.
  Result<void> include(const std::string& name) {
    const std::string path = (std::filesystem::path(file_).parent_path() / name).string();
    auto text = read_text_file(path);
    if (!text || included_)
      return error(included_ ? "a part includes no further part"
                             : "there is no part '" + name + "'",
                   "name a file beside the template");
    const std::string outer_file = std::exchange(file_, path);
    const int outer_line = std::exchange(line_, 0);
    included_ = true;
    KERNEVO_CHECK(lines(*text));
    included_ = false;
    file_ = outer_file;
    line_ = outer_line;
    return {};
  }

  Result<void> take(std::string line) {
    if (line.starts_with("{{include ") && line.ends_with("}}"))
      return kept() ? include(line.substr(10, line.size() - 12)) : Result<void>();
    if (line.starts_with("{{if ") && line.ends_with("}}"))
      return open(line.substr(5, line.size() - 7));
    if (line == "{{else}}" || line == "{{end}}") {
      if (conditions_.empty())
        return error(line + " without {{if}}");
      Condition& innermost = conditions_.back();
      if (line == "{{end}}") {
        conditions_.pop_back();
        return {};
      }
      if (innermost.other)
        return error("a second {{else}} for the same {{if}}");
      innermost.holds = !innermost.holds;
      innermost.other = true;
      return {};
    }
    if (kept()) {
      KERNEVO_CHECK(fill(line));
      result_ += line + "\n";
    }
    return {};
  }

  Result<void> open(std::string flag) {
    const bool negated = flag.starts_with("!");
    if (negated)
      flag.erase(0, 1);
    const auto found = context_.flags.find(flag);
    if (found == context_.flags.end())
      return unknown("flag", flag, context_.flags);
    conditions_.push_back({found->second != negated, kept(), line_});
    return {};
  }

  Result<void> fill(std::string& line) const {
    std::size_t at = 0;
    while ((at = line.find("{{", at)) != std::string::npos) {
      const std::size_t close = line.find("}}", at);
      if (close == std::string::npos) // braces of the source
        return {};
      const std::string key = line.substr(at + 2, close - at - 2);
      const auto found = context_.values.find(key);
      if (found == context_.values.end() && key.find_first_of(" ,;(") == std::string::npos &&
          !key.empty())
        return unknown("key", key, context_.values);
      if (found == context_.values.end()) {
        at += 2;
        continue;
      }
      line.replace(at, close + 2 - at, found->second);
      at += found->second.size();
    }
    return {};
  }

  template <class Map>
  tl::unexpected<Error> unknown(const char* what, const std::string& name, const Map& known) const {
    std::vector<std::string> names;
    for (const auto& [key, value] : known)
      names.push_back(key);
    return error(fmt::format("a template {} '{}' that is not known here{}", what, name,
                             did_you_mean(name, names)),
                 fmt::format("use one of {}", fmt::join(names, ", ")));
  }

  const TemplateContext& context_;
  std::string file_;
  int line_ = 0;
  bool included_ = false; // inside a part
  std::vector<Condition> conditions_;
  std::string result_;
};

} // namespace

Result<std::string> expand_template(std::string_view text, const TemplateContext& context,
                                    const std::string& file) {
  return Expansion(context, file).run(text);
}

} // namespace kernevo
