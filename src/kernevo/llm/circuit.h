// An outage pauses the calls of an endpoint instead of burning them: after a few failures in a row
// one call at a time finds out whether it is back, with growing pauses, until patience is over.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

namespace kernevo::llm {

struct CircuitPolicy {
  std::uint32_t failures = 3; // in a row open it
  double patience_seconds = 300;
  double first_pause = 1;
  double longest_pause = 30;
  double pause_scale = 1;
};

// Thread-safe.
class Circuit {
public:
  explicit Circuit(CircuitPolicy policy) : policy_(policy) {}

  enum class Pass { go, probe, given_up, cancelled };

  // The right to send one request. Without a verdict it counts as neither.
  class Ticket {
  public:
    Ticket(Circuit& circuit, Pass pass) : circuit_(circuit), pass_(pass) {}
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    Pass pass() const { return pass_; }
    void succeeded();
    void failed(bool outage); // an outage opens the circuit at once

  private:
    Circuit& circuit_;
    Pass pass_;
  };

  // Waits while the circuit is open and it is another call's turn to probe.
  Ticket enter(const std::function<bool()>& cancelled);
  bool open() const;

private:
  using Clock = std::chrono::steady_clock;

  double pause() const;

  CircuitPolicy policy_;
  mutable std::mutex mutex_;
  std::uint32_t in_a_row_ = 0;
  bool open_ = false;
  bool probing_ = false;
  std::uint32_t probes_ = 0;
  Clock::time_point opened_;
  Clock::time_point next_probe_;
};

} // namespace kernevo::llm
