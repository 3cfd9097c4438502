// The inside of a client, for the files that make it up.
#pragma once

#include "kernevo/llm/call_slots.h"
#include "kernevo/llm/circuit.h"
#include "kernevo/llm/client.h"
#include "kernevo/llm/exchange.h"
#include "kernevo/llm/judgement.h"

namespace kernevo::llm {

struct ChatClient::Parts {
  ModelSettings model;
  LlmSettings settings;
  ClientParts shared;
  std::string base_url;
  std::string key;
  Redactor redactor;

  HttpRequest request(const std::string& path, const std::string& method,
                      const std::string& id) const;
  ExchangeParts exchange_parts(const std::string& path) const;
  Asked asked() const { return {model, base_url, redactor}; }

  struct Manner {
    std::uint32_t max_tries = 5;
    bool patient = true; // waits for an endpoint that is down
  };
  CallResult complete(const ChatRequest& chat, const Manner& manner, const Cancelled& cancelled);
  CallResult probe(const Cancelled& cancelled);
  // Nothing when the endpoint does not say.
  std::optional<std::vector<std::string>> list_models(const Cancelled& cancelled);
};

} // namespace kernevo::llm
