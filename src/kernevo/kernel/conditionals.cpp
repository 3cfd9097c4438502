#include "kernevo/kernel/conditionals.h"

#include "kernevo/base/expression.h"
#include "kernevo/kernel/source_scan.h"

#include <fmt/format.h>
#include <set>
#include <utility>
#include <vector>

namespace kernevo {
namespace {

using Kind = SourceToken::Kind;

struct Macro {
  bool function = false;
  std::string body;
};

struct Group {
  int line = 0;
  bool enclosed = true; // what stands around it is compiled
  bool taken = false;   // one of its branches was
  bool active = false;  // this branch is
  bool ended = false;   // #else was seen
};

class Resolver {
public:
  Resolver(std::string_view source, const std::map<std::string, std::int64_t>& known,
           const std::string& file, int first_line)
      : source_(source), file_(file), first_line_(first_line), scan_(scan_cuda_source(source)) {
    for (const auto& [name, value] : known)
      macros_[name] = {false, fmt::format("({})", value)};
  }

  Result<std::string> resolve() {
    for (const PreprocessorLine& line : scan_.directives) {
      copy(line.begin, active());
      const bool was_active = active();
      KERNEVO_TRY(conditional, condition(line));
      if (!conditional && was_active)
        remember(line);
      copy(line.end, !conditional && was_active);
    }
    copy(source_.size(), active());
    if (!groups_.empty())
      return fail(ErrorCode::input, "the #if of this line has no #endif",
                  Place{file_, groups_.back().line, 0}, "write it");
    return std::move(text_);
  }

private:
  // Far above what anybody writes; they bound the work on hostile sources.
  static constexpr std::size_t kDeepest = 64;
  static constexpr std::size_t kLongest = 1024;
  static constexpr int kMostExpansions = 10000;

  bool active() const { return groups_.empty() || groups_.back().active; }

  Place place(const PreprocessorLine& line) const {
    return {file_, line.line + first_line_ - 1, line.column};
  }
  tl::unexpected<Error> wrong(const PreprocessorLine& line, std::string what,
                              std::string fix = "") const {
    return fail(ErrorCode::input, std::move(what), place(line), std::move(fix));
  }

  // Everything up to there, or only its line ends.
  void copy(std::size_t end, bool kept) {
    for (; copied_ < end; ++copied_)
      if (kept || source_[copied_] == '\n')
        text_ += source_[copied_];
  }

  // Whether the line is a conditional; then it has had its effect.
  Result<bool> condition(const PreprocessorLine& line) {
    if (line.word == "if" || line.word == "ifdef" || line.word == "ifndef") {
      if (groups_.size() >= kDeepest)
        return wrong(line, fmt::format("more than {} #if in each other", kDeepest));
      Group group{line.line + first_line_ - 1, active()};
      if (group.enclosed) {
        KERNEVO_TRY(holds, line.word == "if" ? evaluate(line) : is_defined(line));
        group.active = group.taken = holds;
      }
      groups_.push_back(group);
      return true;
    }
    if (line.word != "elif" && line.word != "else" && line.word != "endif")
      return false;
    if (groups_.empty() || (groups_.back().ended && line.word != "endif"))
      return wrong(line, fmt::format("#{} without an #if before it", line.word));
    if (line.word == "endif") {
      groups_.pop_back();
      return true;
    }
    Group& group = groups_.back();
    group.ended = line.word == "else";
    const bool possible = group.enclosed && !group.taken;
    group.active = possible;
    if (possible && line.word == "elif") {
      KERNEVO_TRY(holds, evaluate(line));
      group.active = holds;
    }
    group.taken = group.taken || group.active;
    return true;
  }

  void remember(const PreprocessorLine& line) {
    if ((line.word != "define" && line.word != "undef") || line.first_token == line.last_token)
      return;
    const SourceToken& name = scan_.tokens[line.first_token];
    if (line.word == "undef") {
      macros_.erase(std::string(name.text));
      return;
    }
    Macro macro;
    // A macro has parameters when the parenthesis touches its name.
    macro.function =
        line.first_token + 1 < line.last_token && scan_.tokens[line.first_token + 1].text == "(" &&
        scan_.tokens[line.first_token + 1].text.data() == name.text.data() + name.text.size();
    macro.body = words(line.first_token + 1, line.last_token);
    macros_[std::string(name.text)] = std::move(macro);
  }

  // The tokens as text without comments; those that touch stay together.
  std::string words(std::size_t first, std::size_t last) const {
    std::string text;
    const char* end = nullptr;
    for (std::size_t i = first; i < last; ++i) {
      const std::string_view token = scan_.tokens[i].text;
      if (end != nullptr && end != token.data())
        text += ' ';
      text += token;
      end = token.data() + token.size();
    }
    return text;
  }

  Result<bool> is_defined(const PreprocessorLine& line) const {
    if (line.last_token != line.first_token + 1 ||
        scan_.tokens[line.first_token].kind != Kind::identifier)
      return wrong(line, fmt::format("#{} wants one name", line.word));
    return macros_.contains(std::string(scan_.tokens[line.first_token].text)) ==
           (line.word == "ifdef");
  }

  Result<bool> evaluate(const PreprocessorLine& line) {
    KERNEVO_TRY(text, expand(line, words(line.first_token, line.last_token), {}));
    const auto expression = Expression::parse(text);
    const auto value =
        expression ? expression->evaluate({}) : tl::unexpected<Error>(expression.error());
    if (!value)
      return wrong(line, fmt::format("#{} cannot be decided: {}", line.word, value.error().message),
                   "use numbers, @tune parameters and macros of this file");
    return *value != 0;
  }

  Result<std::string> expand(const PreprocessorLine& line, const std::string& words,
                             const std::set<std::string>& within) {
    if (words.size() > kLongest)
      return wrong(line, fmt::format("#{} is too long to decide", line.word));
    const SourceScan scan = scan_cuda_source(words);
    std::string text;
    const char* end = nullptr;
    for (std::size_t i = 0; i < scan.tokens.size(); ++i) {
      const SourceToken& token = scan.tokens[i];
      if (end != nullptr && end != token.text.data())
        text += ' ';
      end = token.text.data() + token.text.size();
      if (token.kind == Kind::number) {
        text += token.text.substr(0, token.text.find_last_not_of("uUlL") + 1);
      } else if (token.kind != Kind::identifier) {
        text += token.text;
      } else if (token.text == "defined") {
        KERNEVO_TRY(answer, defined(line, scan, i));
        text += answer;
        end = nullptr;
      } else {
        KERNEVO_TRY(value, value_of(line, std::string(token.text), within));
        text += value;
      }
    }
    return text;
  }

  // `defined NAME` or `defined(NAME)` at token i, which becomes the last one of it.
  Result<std::string> defined(const PreprocessorLine& line, const SourceScan& scan,
                              std::size_t& i) const {
    const bool bracket = i + 1 < scan.tokens.size() && scan.tokens[i + 1].text == "(";
    const std::size_t name = i + (bracket ? 2 : 1);
    if (name >= scan.tokens.size() || scan.tokens[name].kind != Kind::identifier ||
        (bracket && (name + 1 >= scan.tokens.size() || scan.tokens[name + 1].text != ")")))
      return wrong(line, "'defined' wants a name");
    i = name + (bracket ? 1 : 0);
    return macros_.contains(std::string(scan.tokens[name].text)) ? " 1 " : " 0 ";
  }

  Result<std::string> value_of(const PreprocessorLine& line, const std::string& name,
                               const std::set<std::string>& within) {
    static const std::map<std::string, std::string, std::less<>> words = {
        {"true", "1"},  {"false", "0"},  {"and", "&&"}, {"or", "||"},   {"not", "!"},
        {"bitor", "|"}, {"bitand", "&"}, {"xor", "^"},  {"compl", "~"}, {"not_eq", "!="}};
    if (const auto found = words.find(name); found != words.end())
      return " " + found->second + " ";
    const auto macro = macros_.find(name);
    if (macro == macros_.end() || within.contains(name))
      return wrong(line,
                   fmt::format("'{}' has no value here, so #{} cannot be decided", name, line.word),
                   fmt::format("define it above, or ask 'defined({})'", name));
    if (macro->second.function)
      return wrong(line, fmt::format("'{}' is a macro with parameters", name),
                   fmt::format("write out what it means in #{}", line.word));
    if (++expansions_ > kMostExpansions || within.size() > kDeepest)
      return wrong(line, fmt::format("#{} takes too many macros to decide", line.word));
    std::set<std::string> inside = within;
    inside.insert(name);
    const std::string body = macro->second.body;
    KERNEVO_TRY(value, expand(line, body, inside));
    return " " + value + " ";
  }

  std::string_view source_;
  const std::string& file_;
  int first_line_;
  SourceScan scan_;
  std::map<std::string, Macro> macros_;
  std::vector<Group> groups_;
  std::string text_;
  std::size_t copied_ = 0;
  int expansions_ = 0;
};

} // namespace

Result<std::string> resolve_conditionals(std::string_view source,
                                         const std::map<std::string, std::int64_t>& known,
                                         const std::string& file, int first_line) {
  return Resolver(source, known, file, first_line).resolve();
}

} // namespace kernevo
