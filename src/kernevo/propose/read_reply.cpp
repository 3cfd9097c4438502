#include "kernevo/propose/read_reply.h"

#include "kernevo/kernel/kernel_file.h"
#include "kernevo/kernel/source_scan.h"
#include "kernevo/propose/reply_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace kernevo::propose {
namespace {

constexpr std::size_t kMaxTitleSource = 4000; // a title stands at the top of a kernel
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

template <class F> void for_each_line(std::string_view text, F&& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!take(text.substr(0, end)))
      return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

enum class Whole { no, cut, yes }; // has no kernel, lacks its end, has a kernel

Whole wholeness(std::string_view text) {
  if (text.size() > kMaxKernelFileSize || text.find("__global__") == std::string_view::npos)
    return Whole::no;
  bool kernel = false;
  long depth = 0;
  for (const SourceToken& token : scan_cuda_source(text).tokens) {
    kernel = kernel || (token.kind == SourceToken::Kind::identifier && token.text == "__global__");
    if (token.kind == SourceToken::Kind::punctuation && !token.preprocessor)
      depth += token.text == "{" ? 1 : (token.text == "}" ? -1 : 0);
  }
  if (!kernel)
    return Whole::no;
  return depth == 0 ? Whole::yes : Whole::cut;
}

bool has_edits(std::string_view text) {
  bool found = false;
  for_each_line(text, [&](std::string_view line) {
    found = opens_edit(line);
    return !found;
  });
  return found;
}

std::string tidy(std::string_view source) {
  std::string text;
  text.reserve(source.size() + 1);
  for (std::size_t i = 0; i < source.size(); ++i)
    if (source[i] != '\r' || (i + 1 < source.size() && source[i + 1] != '\n'))
      text += source[i];
  // The first line keeps its indentation, if any.
  while (text.starts_with('\n'))
    text.erase(0, std::min(text.find_first_not_of('\n'), text.size()));
  text.erase(text.find_last_not_of(kBlanks) + 1);
  return text + "\n";
}

// A kernel that stands in the open: from the first line that looks like code to the last brace.
std::string_view bare_kernel(std::string_view text) {
  static constexpr std::array<std::string_view, 14> beginnings = {
      "//",     "/*",    "#include", "#define",   "#pragma", "#if",   "extern \"C\"",
      "__glob", "__dev", "template", "constexpr", "static",  "using", "struct "};
  std::size_t at = 0;
  std::optional<std::size_t> begin;
  for_each_line(text, [&](std::string_view line) {
    begin = std::any_of(beginnings.begin(), beginnings.end(),
                        [&](std::string_view word) { return trim(line).starts_with(word); })
                ? std::optional(at)
                : std::nullopt;
    at += line.size() + 1;
    return !begin;
  });
  const std::size_t end = text.rfind('}');
  if (!begin || end == std::string_view::npos || end < *begin)
    return {};
  return text.substr(*begin, end + 1 - *begin);
}

std::string_view strip_marks(std::string_view line) {
  line = trim(line);
  line.remove_prefix(std::min(line.find_first_not_of("#*-> \t_`"), line.size()));
  return line.substr(0, line.find_last_not_of("*_` \t:") + 1);
}

bool begins_with(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
         });
}

// After "// title:", "title:" or "**Title:**".
std::string marked_title(std::string_view text, bool comment) {
  std::string title;
  for_each_line(text.substr(0, kMaxTitleSource), [&](std::string_view line) {
    line = trim(line);
    if (comment && !line.starts_with("//"))
      return true;
    line.remove_prefix(std::min(line.find_first_not_of("/#*-> \t_"), line.size()));
    constexpr std::string_view word = "title:";
    if (begins_with(line, word))
      title = clean_line(strip_marks(line.substr(word.size())), kMaxTitle);
    return title.empty();
  });
  return title;
}

bool is_filler(std::string_view line) {
  static constexpr std::array<std::string_view, 9> beginnings = {
      "here", "sure", "below", "certainly", "okay", "ok,", "of course", "plan", "the plan"};
  return trim(line).ends_with(':') ||
         (line.size() < 60 &&
          std::any_of(beginnings.begin(), beginnings.end(),
                      [&](std::string_view word) { return begins_with(line, word); }));
}

KernelReply finish(KernelReply reply, std::string_view prose) {
  reply.title = marked_title(reply.source, true);
  for (const Edit& edit : reply.edits)
    if (reply.title.empty())
      reply.title = marked_title(edit.replace, true);
  if (reply.title.empty())
    reply.title = marked_title(prose, false);
  if (reply.title.empty())
    reply.title = title_of(prose);
  return reply;
}

bool may_hold_kernel(const std::string& language) {
  static constexpr std::array<std::string_view, 9> others = {
      "python", "py", "json", "diff", "bash", "sh", "text", "ptx", "yaml"};
  return std::find(others.begin(), others.end(), language) == others.end();
}

tl::unexpected<Error> no_kernel(const ReplyParts& parts, std::string_view text) {
  const auto holds = [&](std::string_view language) {
    return std::any_of(parts.blocks.begin(), parts.blocks.end(),
                       [&](const FencedBlock& block) { return block.language == language; });
  };
  std::string why = "no code block with a __global__ function";
  if (trim(text).empty())
    why = "it is empty";
  else if (holds("diff"))
    why = "a diff is not read; send the whole file or SEARCH/REPLACE blocks";
  else if (holds("python") || holds("py"))
    why = "Python is not read; send CUDA device code";
  return fail(ErrorCode::input, "the reply holds no kernel: " + why);
}

// Text, fenced or not, that is no JSON.
Result<KernelReply> read_plain(std::string_view text) {
  const ReplyParts parts = split_reply(text);
  const FencedBlock* whole = nullptr;
  const FencedBlock* cut = nullptr;
  const FencedBlock* edited = nullptr;
  for (auto block = parts.blocks.rbegin(); block != parts.blocks.rend() && whole == nullptr;
       ++block) {
    if (has_edits(block->text)) {
      if (edited == nullptr)
        edited = &*block;
      continue;
    }
    if (!may_hold_kernel(block->language))
      continue;
    const Whole state = wholeness(block->text);
    if (state == Whole::yes)
      whole = &*block;
    else if (state == Whole::cut && cut == nullptr)
      cut = &*block;
  }
  // Of a kernel and edits the later is meant: the earlier quotes or drafts.
  const bool edits_last = edited != nullptr && (whole == nullptr || edited->begin > whole->begin);
  if (edits_last || (whole == nullptr && has_edits(text))) {
    KERNEVO_TRY(edits, read_edits(text));
    return finish({"", std::move(edits), ""}, parts.prose.substr(0, parts.prose.find("<<<<<")));
  }
  if (whole != nullptr)
    return finish({tidy(whole->text), {}, ""}, parts.prose);
  const std::string_view bare = bare_kernel(parts.blocks.empty() ? text : parts.prose);
  if (wholeness(bare) == Whole::yes)
    return finish({tidy(bare), {}, ""}, "");
  if (cut == nullptr)
    return no_kernel(parts, text);
  if (!cut->closed)
    return fail(ErrorCode::input, "the reply breaks off inside the kernel");
  return finish({tidy(cut->text), {}, ""}, parts.prose); // the compiler says what is missing
}

// The object of a JSON reply, bare or in a fence; empty when it is none.
std::string json_body(std::string_view text) {
  const auto is_object = [](std::string_view body) {
    body = trim(body);
    if (!body.starts_with('{') && !body.starts_with('['))
      return false;
    body.remove_prefix(1);
    const char next = trim(body).empty() ? '\0' : trim(body).front();
    return next == '"' || next == '{' || next == ']' || next == '}';
  };
  if (is_object(text))
    return std::string(text);
  // A string may hold fences itself: the fenced object goes from its first brace to the end.
  for (const FencedBlock& block : split_reply(text).blocks)
    if ((block.language.empty() || block.language == "json") && is_object(block.text))
      return std::string(text.substr(block.begin));
  const std::size_t brace = text.find("{\"");
  const std::size_t line = text.find("{\n");
  for (const std::size_t at : {std::min(brace, line), std::max(brace, line)})
    if (at < text.size() && is_object(text.substr(at)) &&
        text.substr(0, at).find("__global__") == std::string_view::npos)
      return std::string(text.substr(at));
  return "";
}

std::string first_of(std::string_view body, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys)
    for (const std::string& value : json_strings(body, {key}))
      if (!trim(value).empty())
        return value;
  return "";
}

} // namespace

std::string title_of(std::string_view prose) {
  std::string title = marked_title(prose, false);
  if (!title.empty())
    return title;
  for_each_line(prose.substr(0, kMaxTitleSource), [&](std::string_view line) {
    if (strip_marks(line).empty() || is_filler(strip_marks(line)) || trim(line).ends_with(':'))
      return true;
    std::string_view sentence = strip_marks(line);
    const std::size_t number = std::min(sentence.find_first_not_of("0123456789"), sentence.size());
    if (number > 0 && sentence.substr(number).starts_with(". "))
      sentence = strip_marks(sentence.substr(number + 2));
    for (const std::string_view end : {". ", "; ", "! "})
      sentence = sentence.substr(0, sentence.find(end));
    if (sentence.ends_with('.'))
      sentence.remove_suffix(1);
    title = clean_line(sentence, kMaxTitle);
    return title.empty();
  });
  return title;
}

Result<KernelReply> read_kernel_reply(std::string_view text) {
  if (text.size() > kMaxReply)
    return fail(ErrorCode::input,
                fmt::format("the reply has {} bytes, too many for a kernel", text.size()));
  const std::string answer = without_reasoning(text);
  if (trim(answer).empty() && !trim(text).empty())
    return fail(ErrorCode::input, "the reply holds no kernel: there is nothing but reasoning");
  const std::string body = json_body(answer);
  if (!body.empty()) {
    auto codes = json_strings(body, {"code", "source", "kernel", "cuda"});
    for (auto code = codes.rbegin(); code != codes.rend(); ++code) {
      auto reply = read_plain(*code);
      if (!reply)
        continue;
      const std::string title = first_of(body, {"title", "justification", "explanation"});
      if (marked_title(reply->source, true).empty() && !title.empty())
        reply->title = title_of(title);
      return reply;
    }
  }
  return read_plain(answer);
}

std::vector<std::string> read_lessons(std::string_view text) {
  const std::string answer = without_reasoning(text.substr(0, kMaxReply));
  std::vector<std::string> lessons;
  const auto take = [&](std::string_view lesson) {
    std::string line = clean_line(strip_marks(lesson), kMaxLesson);
    const bool nothing = line.size() < 6 && begins_with(line, "none");
    if (!line.empty() && !nothing &&
        std::find(lessons.begin(), lessons.end(), line) == lessons.end())
      lessons.push_back(std::move(line));
    return lessons.size() < kMaxLessons;
  };
  if (const std::string body = json_body(answer); !body.empty())
    for (const std::string& value :
         json_strings(body, {"insight", "description", "lesson", "text"}))
      if (!take(value))
        break;
  if (!lessons.empty())
    return lessons;
  for_each_line(answer, [&](std::string_view line) {
    line = trim(line);
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const bool numbered =
        digits > 0 && digits < 3 &&
        (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") "));
    if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("\xE2\x80\xA2 "))
      return take(line.substr(line.find(' ') + 1));
    return numbered ? take(line.substr(digits + 2)) : true;
  });
  return lessons;
}

} // namespace kernevo::propose
