// Every exchange as a JSON file of its own, without secrets, complete enough to be replayed.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/llm/exchange.h"

#include <filesystem>
#include <memory>
#include <mutex>

namespace kernevo::llm {

struct TraceRecord {
  const HttpRequest& request;
  const Exchanged& exchanged;
  const std::string& base_url;
  const std::string& path;
};

// Thread-safe.
class Tracer {
public:
  // Makes the folder, and goes on counting after the highest number that is there.
  static Result<std::shared_ptr<Tracer>> open(const std::filesystem::path& folder);

  // A disk that is full must not lose an answer that was paid for: see problem().
  void write(const TraceRecord& record, const Redactor& redactor);
  std::optional<Error> problem() const; // the first one

private:
  Tracer(std::filesystem::path folder, std::uint64_t next)
      : folder_(std::move(folder)), next_(next) {}

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::uint64_t next_;
  std::optional<Error> problem_;
};

} // namespace kernevo::llm
