// What a model wrote back, read as leniently as models write: the last whole kernel, or edits, or
// lessons. Bounded, and safe for any bytes.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/propose/edits.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo::propose {

inline constexpr std::size_t kMaxReply = 4U << 20U; // a kernel file has at most 1 MiB
inline constexpr std::size_t kMaxTitle = 100;
inline constexpr std::size_t kMaxLesson = 200;
inline constexpr std::size_t kMaxLessons = 3;

struct KernelReply {
  std::string source;      // a kernel file; empty when there are edits
  std::vector<Edit> edits; // of the parent
  std::string title;       // may be empty

  bool operator==(const KernelReply&) const = default;
};

// An input error, one line, says why there is nothing to use. What the kernel itself does wrong
// (host code, bad directives) is left to who parses kernel files.
Result<KernelReply> read_kernel_reply(std::string_view text);

// The first sentence of a text, as a title; may be empty.
std::string title_of(std::string_view prose);

// Lines of a list, or the insights of a JSON reply: at most kMaxLessons.
std::vector<std::string> read_lessons(std::string_view text);

} // namespace kernevo::propose
