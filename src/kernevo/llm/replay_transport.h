// Answers from recorded calls: no network, no key, no waiting.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/llm/recording.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

namespace kernevo::llm {

class ReplayTransport : public Transport {
public:
  static Result<std::shared_ptr<ReplayTransport>> open(const std::filesystem::path& place);
  explicit ReplayTransport(std::vector<RecordedCall> calls);

  void exchange(const HttpRequest& request, HttpResponse& response, const OnBody& on_body,
                const GoOn& go_on) override;
  std::uint64_t differing() const override { return differing_; }

private:
  std::optional<RecordedCall> take(const HttpRequest& request);

  std::mutex mutex_;
  std::map<std::string, std::deque<RecordedCall>> calls_; // by id, in their order
  std::atomic<std::uint64_t> differing_ = 0;
};

} // namespace kernevo::llm
