// What a proposer that takes its time needs of the run: a memory that survives a crash, so that
// nothing is paid twice, the books, the caps, and a word when to stop.
#pragma once

#include "kernevo/model/llm_settings.h"
#include "kernevo/model/model_call.h"
#include "kernevo/store/memo.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernevo::propose {

// Thread-safe.
class Desk {
public:
  virtual ~Desk() = default;
  virtual bool cancelled() const = 0;

  virtual store::Memo& memo() = 0;

  // Room for a call of a step: how many tokens its reply may have, at most `wanted`, when the
  // prompt has `prompt`. Held until the call is accounted for. Nothing when the caps leave too
  // little and nothing that is held may make more; waits while something may.
  virtual std::optional<std::uint64_t> reserve(std::uint64_t step, const std::string& call,
                                               std::uint64_t prompt, std::uint64_t wanted,
                                               const std::optional<ModelPrice>& price) = 0;
  // Ends a reservation whose call came to nothing.
  virtual void release(std::uint64_t step, const std::string& call) = 0;
  // Once for every call, also for one that was recalled; ends its reservation.
  virtual void account(const ModelCall& call) = 0;
};

} // namespace kernevo::propose
