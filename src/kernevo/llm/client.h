// Asks one model of an OpenAI-compatible endpoint, and survives what such endpoints do: parameters
// they refuse, errors inside a success, streams that stall or break off, limits, outages.
#pragma once

#include "kernevo/llm/chat.h"
#include "kernevo/llm/transport.h"
#include "kernevo/model/llm_settings.h"

#include <functional>
#include <memory>

namespace kernevo::llm {

class Tracer;    // trace.h
class Circuit;   // circuit.h
class CallSlots; // call_slots.h

// What the clients of a run share.
struct ClientParts {
  std::shared_ptr<Transport> transport;
  std::shared_ptr<Circuit> circuit; // one per endpoint
  std::shared_ptr<Tracer> tracer;   // null: calls are not recorded
  std::shared_ptr<CallSlots> slots; // null: as many as the settings say, for this client alone
  std::uint32_t max_tries = 5;      // of one call; waiting for a limit or an outage is none
  double wait_scale = 1;            // of every pause between tries: 0 for replays and tests
};

using Cancelled = std::function<bool()>; // asked often; may be empty

// Thread-safe.
class ChatClient {
public:
  // The key is read from the environment here; an error names the variable that is missing.
  static Result<std::unique_ptr<ChatClient>> create(const ModelSettings& model,
                                                    const LlmSettings& settings, ClientParts parts);
  ~ChatClient();
  ChatClient(const ChatClient&) = delete;
  ChatClient& operator=(const ChatClient&) = delete;

  // Blocks. Waits for its turn when `concurrency` calls are under way.
  CallResult complete(const ChatRequest& request, const Cancelled& cancelled);

  // Before the first round: is the URL reachable, the key right, the model there? Asks GET /models,
  // and where that is not served a completion of one token. What it spent is in the result.
  CallResult probe(const Cancelled& cancelled);

  const ModelSettings& model() const;
  // How many requests so far were not the recorded ones; 0 without a replay.
  std::uint64_t differing() const;
  // The first call that could not be recorded, and why.
  std::optional<Error> trace_problem() const;

  struct Parts; // client_parts.h

private:
  explicit ChatClient(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Clients for every model of the settings: over the network, or from recorded calls (`replay`).
// Traces go to the folder `traces` unless it is empty.
Result<std::vector<std::shared_ptr<ChatClient>>> make_clients(const LlmSettings& settings,
                                                              const std::string& traces);

// An upper estimate of how many tokens a text makes, for caps and broken-off streams.
std::uint64_t estimate_tokens(std::string_view text);

} // namespace kernevo::llm
