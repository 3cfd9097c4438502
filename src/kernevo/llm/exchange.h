// One exchange with its timers: sends, reads as it comes, notices silence, keeps a trace.
#pragma once

#include "kernevo/llm/client.h"
#include "kernevo/llm/redactor.h"
#include "kernevo/llm/reply_reader.h"

namespace kernevo::llm {

struct Exchanged {
  HttpResponse response; // a stalled stream is TransportError::stalled
  ReadReply read;        // of a success
  std::string body;      // of anything else, or when it was asked for
  double seconds = 0;

  bool success() const { return response.status >= 200 && response.status < 300; }
};

struct ExchangeParts {
  Transport& transport;
  Tracer* tracer = nullptr;
  const Redactor& redactor;
  std::string base_url;
  std::string path;
  double idle_seconds = 120;
  bool plain = false; // a success is no reply of a model either: into `body`
};

Exchanged run_exchange(const ExchangeParts& parts, const HttpRequest& request,
                       const Cancelled& cancelled);

} // namespace kernevo::llm
