// A client over real sockets against a scripted endpoint.
#pragma once

#include "kernevo/llm/call_slots.h"
#include "kernevo/llm/circuit.h"
#include "kernevo/llm/client.h"
#include "kernevo/llm/curl_transport.h"
#include "kernevo/llm/trace.h"
#include "scripted_server.h"
#include "test_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace kernevo::llm {

inline constexpr const char* kKeyVariable = "KERNEVO_TEST_KEY";
inline constexpr const char* kKey = "sk-test/0123456789\"abc";

ChatRequest request_of(const std::string& id = "1.code.0", std::uint64_t max_tokens = 100);

// "data: {...}" with this text, for streams.
std::string text_chunk(const std::string& text);
std::string finish_chunk(const std::string& reason = "stop");
std::string usage_chunk(std::uint64_t prompt, std::uint64_t completion,
                        const std::string& more = "");
inline const std::string kDone = "data: [DONE]\n\n";
// A good stream with a count of tokens.
Script good_stream(const std::string& text = "hello");
std::string whole_reply(const std::string& text, const std::string& more = "");
std::string error_reply(const std::string& message, const std::string& more = "");

class TraceFolder : public TestFolder {
public:
  std::vector<std::string> files() const; // contents, by name
};

struct TestClient {
  explicit TestClient(const std::string& base_url);

  ModelSettings model;
  LlmSettings settings;
  ClientParts parts;

  std::unique_ptr<ChatClient> make() const;
  CallResult ask(const ChatRequest& request = request_of()) const;
};

} // namespace kernevo::llm
