#include "kernevo/propose/read_reply.h"

#include "kernevo/propose/reply_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace kernevo::propose {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kKernel = "// @tune BLOCK 128 256\n"
                            "extern \"C\" __global__ void f(const float* x, float* y) {\n"
                            "  y[threadIdx.x] = x[threadIdx.x]; // \"}\"\n"
                            "}\n";

std::string source_of(const std::string& reply) {
  const auto read = read_kernel_reply(reply);
  return read ? read->source : "error: " + format_error(read.error());
}

std::string indented(const std::string& text, const std::string& by) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    result += by + text.substr(at, end - at + 1);
    at = end + 1;
  }
  return result;
}

std::string escaped(const std::string& text, bool newlines = true) {
  std::string result;
  for (const char c : text) {
    if (c == '\n' && newlines)
      result += "\\n";
    else if (c == '"' || c == '\\')
      (result += '\\') += c;
    else
      result += c;
  }
  return result;
}

TEST(ReadReply, TakesFencedKernels) {
  for (const char* language : {"cuda", "cpp", "c++", "", "CUDA", "c", "cu title=\"f.cu\""})
    EXPECT_EQ(source_of(fmt::format("Here:\n\n```{}\n{}```\nDone.", language, kKernel)), kKernel);
  EXPECT_EQ(source_of("~~~cuda\n" + kKernel + "~~~\n"), kKernel);
  EXPECT_EQ(source_of("````cuda\n" + kKernel + "````\n"), kKernel);
  EXPECT_EQ(source_of("```cuda\n" + kKernel), kKernel); // never closed
  EXPECT_EQ(source_of("1. so:\n" + indented("```cuda\n" + kKernel + "```\n", "   ")), kKernel);
  std::string windows = "```cuda\n" + kKernel + "```\n";
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2)
    windows.insert(at, "\r");
  EXPECT_EQ(source_of(windows), kKernel);
}

TEST(ReadReply, TakesTheLastWholeKernel) {
  const std::string draft = "__global__ void draft() {}\n";
  const std::string fenced = "```cuda\n" + kKernel + "```\n";
  EXPECT_EQ(source_of("```cuda\n" + draft + "```\nBetter:\n" + fenced), kKernel);
  EXPECT_EQ(source_of("```cuda\n" + draft + fenced), kKernel); // the draft's fence stays open
  EXPECT_EQ(source_of("```cpp\n#include <cuda_fp16.h>\n```\n" + fenced + "```\n// usage\n```\n"),
            kKernel);
  EXPECT_EQ(source_of("```markdown\n" + fenced + "```\n"), kKernel);
  // One that breaks off does not take the place of a whole one.
  EXPECT_EQ(source_of(fenced + "```cuda\n__global__ void g() {\n  int i"), kKernel);
  EXPECT_THAT(source_of("```cuda\n__global__ void g() {\n  int i"), HasSubstr("breaks off"));
}

TEST(ReadReply, TakesKernelsWithoutFence) {
  EXPECT_EQ(source_of(kKernel), kKernel);
  EXPECT_EQ(source_of("Here is the kernel:\n\n" + kKernel + "\nIt copies.\n"), kKernel);
}

TEST(ReadReply, PassesReasoningOver) {
  const std::string fenced = "```cuda\n" + kKernel + "```\n";
  const std::string thought = "```cuda\n__global__ void thought() {}\n```\n";
  EXPECT_EQ(source_of("<think>" + thought + "</think>" + fenced), kKernel);
  EXPECT_EQ(source_of(thought + "</think>\n" + fenced), kKernel);
  EXPECT_EQ(source_of(fenced + "<thinking>" + thought), kKernel);
  EXPECT_THAT(source_of("<think>" + thought), HasSubstr("nothing but reasoning"));
}

TEST(ReadReply, TakesKernelsOutOfJson) {
  const std::string head = "{\"archetype\": \"tiling\", \"justification\": \"Tiles in shared "
                           "memory. Then more.\", \"changes\": [{\"description\": \"d\", "
                           "\"explanation\": \"e\"}], \"code\": \"";
  const auto read = read_kernel_reply(head + escaped(kKernel) + "\"}");
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_EQ(read->source, kKernel);
  EXPECT_EQ(read->title, "Tiles in shared memory");
  EXPECT_EQ(source_of("Sure:\n```json\n" + head + escaped(kKernel) + "\"}\n```\n"), kKernel);
  EXPECT_EQ(source_of("Sure: " + head + escaped(kKernel) + "\"}\nDone."), kKernel);
  EXPECT_EQ(source_of(head + escaped(kKernel) + "\",\n}"), kKernel);       // a comma too many
  EXPECT_EQ(source_of(head + escaped(kKernel, false) + "\"\n}"), kKernel); // raw line breaks
  EXPECT_EQ(source_of(head + escaped(kKernel) + "\""), kKernel);           // no brace
  const std::string bare = "extern \"C\" __global__ void f() {\n  printf(\"a\", 1);\n}\n";
  EXPECT_EQ(source_of(head + bare + "\", \"insights_used\": []}"), bare); // quotes not escaped
  EXPECT_EQ(source_of(head + bare + "\"}"), bare);
  EXPECT_EQ(source_of("{\"code\": \"```cuda\\n" + escaped(kKernel) + "```\"}"), kKernel);
  EXPECT_EQ(source_of("{\"code\": \"" + escaped(kKernel) + "\", \"title\": \"t\"}"), kKernel);
  EXPECT_EQ(json_strings(R"({"a": "\u00e4\ud83d\ude00\t\q", "b": 3, "a": "2"})", {"a"}),
            (std::vector<std::string>{"\xC3\xA4\xF0\x9F\x98\x80\t\\q", "2"}));
}

TEST(ReadReply, TakesEdits) {
  const std::string block = "<<<<<<< SEARCH\n__global__ void f() {}\n=======\n__global__ void g() "
                            "{}\n>>>>>>> REPLACE\n";
  for (const std::string& reply :
       {"title: one load less\n" + block, "title: one load less\n```diff\n" + block + "```\n",
        "```cuda\n" + kKernel + "```\ntitle: one load less\n```\n" + block + "```\n"}) {
    const auto read = read_kernel_reply(reply);
    ASSERT_TRUE(read) << format_error(read.error());
    EXPECT_EQ(read->source, "");
    EXPECT_EQ(read->edits,
              (std::vector<Edit>{{"__global__ void f() {}\n", "__global__ void g() {}\n"}}));
    EXPECT_EQ(read->title, "one load less");
  }
  // A whole kernel after the edits is what they come to.
  EXPECT_EQ(source_of("```\n" + block + "```\nIn full:\n```cuda\n" + kKernel + "```\n"), kKernel);
  EXPECT_THAT(source_of("<<<<<<< SEARCH\na\n=======\nb\n"), HasSubstr("has no '>>>>>>> REPLACE'"));
}

TEST(ReadReply, SaysWhyThereIsNothing) {
  EXPECT_THAT(source_of(""), HasSubstr("it is empty"));
  EXPECT_THAT(source_of("I cannot do that."), HasSubstr("no code block with a __global__"));
  EXPECT_THAT(source_of("```cuda\n// a __global__ function\nint i;\n```\n"),
              HasSubstr("no code block with a __global__"));
  EXPECT_THAT(source_of("```python\nimport torch\nk = '__global__ void f() {}'\n```\n"),
              HasSubstr("Python"));
  EXPECT_THAT(source_of("```diff\n-a\n+b\n```\n"), HasSubstr("diff is not read"));
}

TEST(ReadReply, FindsATitle) {
  const auto title = [](const std::string& reply) { return read_kernel_reply(reply)->title; };
  const std::string fenced = "```cuda\n" + kKernel + "```\n";
  EXPECT_EQ(title("Title: no\n```cuda\n// title: two rows\ta warp\n" + kKernel + "```\n"),
            "two rows a warp");
  EXPECT_EQ(title("Here is the kernel:\n\n**Vector loads** of 16 bytes. It is faster.\n" + fenced),
            "Vector loads** of 16 bytes");
  EXPECT_EQ(title("Here is the kernel:\n" + fenced), "");
  EXPECT_EQ(title_of("## Plan:\n\n1. tile.\n"), "tile");
  const std::string long_title = title(std::string(99, 'a') + "\xC3\xA4\n" + fenced);
  EXPECT_EQ(long_title, std::string(99, 'a')); // not half a letter
}

TEST(ReadLessons, TakesListsAndJson) {
  EXPECT_THAT(read_lessons("Lessons:\n- **one**\n* two\n3) three\n- four\n"),
              ElementsAre("one", "two", "three"));
  EXPECT_THAT(read_lessons("<think>- no</think>1. a lesson\nprose\n"), ElementsAre("a lesson"));
  EXPECT_THAT(read_lessons("```json\n{\"insights\": [{\"type\": \"t\", \"insight\": \"a\\nb\", "
                           "\"tag\": \"harmful\"}, {\"insight\": \"c\"},]}\n```"),
              ElementsAre("a b", "c"));
  EXPECT_THAT(read_lessons("[{\"strategy\": \"imitation\", \"description\": \"d\"}"),
              ElementsAre("d"));
  EXPECT_THAT(read_lessons("- none\n"), IsEmpty());
  EXPECT_THAT(read_lessons("nothing to say"), IsEmpty());
  EXPECT_EQ(read_lessons("- " + std::string(500, 'x')).front().size(), kMaxLesson);
}

TEST(ReadReply, IsBounded) {
  EXPECT_THAT(source_of("```cuda\n" + std::string(10U << 20U, '\n') + kKernel),
              HasSubstr("too many"));
  const std::size_t size = 1U << 20U; // a square of it would take days
  const auto repeated = [&](std::string_view unit) {
    std::string text;
    text.reserve(size + unit.size());
    while (text.size() < size)
      text += unit;
    return text;
  };
  for (const std::string_view unit :
       {"{", "\"", "\"a\": \"", "```\n", "```cuda\n__global__ {\n", "<think>", "<", "[{\"", "\n",
        "<<<<<<< SEARCH\n", "\"}", "\\", " ", "- x\n", "__global__ void f() {}\n", "\" ,\n"}) {
    const std::string text = repeated(unit);
    read_kernel_reply(text);
    read_kernel_reply("{\"code\": \"" + text);
    EXPECT_LE(read_lessons(text).size(), kMaxLessons);
  }
}

// Good replies with pieces exchanged, doubled and lost; whatever comes of it must be well-formed.
TEST(ReadReply, SurvivesAnyBytes) {
  EXPECT_TRUE(rc::check([] {
    static const std::vector<std::string> good = {
        "Here:\n```cuda\n" + kKernel + "```\n",
        "{\"justification\": \"j\", \"code\": \"" + escaped(kKernel) + "\"}",
        "<think>hm</think>\n~~~\n" + kKernel + "~~~",
        "title: t\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
        "- one\n- two\n{\"insights\": [{\"insight\": \"\\u00e4\"}]}",
    };
    std::string text = *rc::gen::oneOf(rc::gen::elementOf(good), rc::gen::arbitrary<std::string>());
    const int changes = *rc::gen::inRange(0, 8);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
      const auto length = *rc::gen::inRange<std::size_t>(0, 12);
      switch (*rc::gen::inRange(0, 3)) {
      case 0: text.erase(at, length); break;
      case 1:
        text.insert(at, *rc::gen::container<std::string>(length, rc::gen::arbitrary<char>()));
        break;
      default: text.insert(at, (*rc::gen::elementOf(good)).substr(0, length * 8)); break;
      }
    }
    if (const auto read = read_kernel_reply(text)) {
      RC_ASSERT(read->source.empty() != read->edits.empty());
      RC_ASSERT(read->title.size() <= kMaxTitle);
      RC_ASSERT(read->title.find('\n') == std::string::npos);
      RC_ASSERT(read->title == clean_line(read->title, kMaxTitle));
      if (!read->edits.empty())
        (void)apply_edits(kKernel, read->edits);
    } else {
      RC_ASSERT(!read.error().message.empty());
      RC_ASSERT(read.error().message.find('\n') == std::string::npos);
    }
    for (const std::string& lesson : read_lessons(text))
      RC_ASSERT(!lesson.empty() && lesson.size() <= kMaxLesson &&
                lesson == clean_line(lesson, kMaxLesson));
  }));
}

} // namespace
} // namespace kernevo::propose
