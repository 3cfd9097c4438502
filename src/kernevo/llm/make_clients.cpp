#include "kernevo/llm/call_slots.h"
#include "kernevo/llm/circuit.h"
#include "kernevo/llm/client.h"
#include "kernevo/llm/curl_transport.h"
#include "kernevo/llm/replay_transport.h"
#include "kernevo/llm/trace.h"

namespace kernevo::llm {

Result<std::vector<std::shared_ptr<ChatClient>>> make_clients(const LlmSettings& settings,
                                                              const std::string& traces) {
  ClientParts parts;
  if (settings.replay.empty()) {
    parts.transport = make_curl_transport();
  } else {
    KERNEVO_TRY(replay, ReplayTransport::open(settings.replay));
    parts.transport = replay;
    parts.wait_scale = 0;
  }
  if (!traces.empty()) {
    KERNEVO_TRY(tracer, Tracer::open(traces));
    parts.tracer = tracer;
  }
  parts.slots = std::make_shared<CallSlots>(settings.concurrency);
  CircuitPolicy policy;
  policy.patience_seconds = settings.patience_seconds;
  policy.pause_scale = parts.wait_scale;
  std::map<std::string, std::shared_ptr<Circuit>> circuits;
  std::vector<std::shared_ptr<ChatClient>> clients;
  for (const ModelSettings& model : settings.models) {
    auto& circuit = circuits[model.base_url];
    if (!circuit)
      circuit = std::make_shared<Circuit>(policy);
    parts.circuit = circuit;
    KERNEVO_TRY(client, ChatClient::create(model, settings, parts));
    clients.push_back(std::move(client));
  }
  return clients;
}

} // namespace kernevo::llm
