// Makes one reply of what an endpoint sends: a stream of chunks, or the whole as one JSON.
#pragma once

#include "kernevo/llm/error_body.h"
#include "kernevo/llm/sse.h"
#include "kernevo/model/model_call.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernevo::llm {

// No answer worth reading is larger; a hostile endpoint must not eat the memory.
inline constexpr std::size_t kReplyLimit = 16U << 20U;

struct ReadReply {
  std::string content;   // as it came, thinking aloud included
  std::string reasoning; // what came apart from it
  std::string finish;
  std::string model;
  std::string endpoint_id;
  std::string usage_json; // as the endpoint wrote it
  std::optional<TokenUsage> usage;
  std::optional<double> cost;
  std::optional<ErrorBody> error; // inside a success
  std::string error_json;
  std::string malformed; // what is wrong with it; empty: nothing
  std::string unread;    // a whole body that could not be read
  std::uint64_t bytes = 0;
  bool streamed = false;
  bool complete = false; // it says that it is at its end
};

class ReplyReader {
public:
  explicit ReplyReader(std::size_t limit = kReplyLimit);
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // False when no more is wanted: it is at its end, an error, or too large.
  bool feed(std::string_view piece);
  // After the last piece, however the exchange ended.
  void finish();

  // Grows with everything that is part of an answer; comments and empty chunks are none.
  std::uint64_t payloads() const { return payloads_; }
  const ReadReply& read() const { return read_; }

private:
  enum class Form { unknown, stream, whole };

  void find_form();
  void on_event(const SseEvent& event);
  void read_whole();

  std::size_t limit_;
  Form form_ = Form::unknown;
  std::string start_; // until the form is known; then the whole
  SseParser parser_;
  ReadReply read_;
  std::uint64_t payloads_ = 0;
  bool ended_ = false;
  bool finishing_ = false;
};

// As one chat.completion, for traces.
std::string assembled_json(const ReadReply& read);

} // namespace kernevo::llm
