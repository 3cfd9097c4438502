// Models write anything; reading it never crashes, hangs or grows without bound.
#include "kernevo/propose/headless_output.h"
#include "kernevo/propose/read_reply.h"
#include "kernevo/propose/reply_text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void demand(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernevo::propose;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto reply = read_kernel_reply(text)) {
    demand(!reply->source.empty() || !reply->edits.empty());
    demand(reply->title.size() <= kMaxTitle);
  } else {
    demand(!reply.error().message.empty());
    demand(reply.error().message.find('\n') == std::string::npos);
  }
  const auto lessons = read_lessons(text);
  demand(lessons.size() <= kMaxLessons);
  for (const std::string& lesson : lessons)
    demand(lesson.size() <= kMaxLesson);
  // The text both as edits and as what they change.
  if (const auto edits = read_edits(text))
    if (const auto changed = apply_edits(text, *edits)) {
      std::size_t most = size;
      for (const Edit& edit : *edits)
        most += edit.replace.size() + 1;
      demand(changed->size() <= most + size);
    }
  demand(without_reasoning(text).size() <= size);
  demand(clean_line(text, 80).size() <= 80);
  json_strings(text, {"insight", "kernel", ""});
  demand(read_headless_output(text).text.size() <= 3 * size + 3);
  return 0;
}
