#include "kernevo/llm/circuit.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace kernevo::llm {
namespace {

std::chrono::steady_clock::duration seconds(double value) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(value));
}

} // namespace

// Never zero, so that a scale of zero does not make a busy loop.
double Circuit::pause() const {
  const double grown = policy_.first_pause * std::pow(2.0, std::min(probes_, 16U));
  return std::max(std::min(grown, policy_.longest_pause) * policy_.pause_scale, 0.001);
}

Circuit::Ticket Circuit::enter(const std::function<bool()>& cancelled) {
  while (true) {
    double wait = 0.1;
    {
      const std::lock_guard lock(mutex_);
      if (!open_)
        return {*this, Pass::go};
      const auto now = Clock::now();
      if (!probing_ && now >= next_probe_) {
        probing_ = true;
        ++probes_;
        return {*this, Pass::probe};
      }
      if (now - opened_ >= seconds(policy_.patience_seconds))
        return {*this, Pass::given_up};
      if (!probing_)
        wait = std::min(wait, std::chrono::duration<double>(next_probe_ - now).count());
    }
    if (cancelled && cancelled())
      return {*this, Pass::cancelled};
    std::this_thread::sleep_for(seconds(std::max(wait, 0.0005)));
  }
}

bool Circuit::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

Circuit::Ticket::~Ticket() {
  if (pass_ != Pass::probe)
    return;
  const std::lock_guard lock(circuit_.mutex_);
  circuit_.probing_ = false;
}

void Circuit::Ticket::succeeded() {
  const std::lock_guard lock(circuit_.mutex_);
  circuit_.in_a_row_ = 0;
  circuit_.open_ = false;
  circuit_.probes_ = 0;
}

void Circuit::Ticket::failed(bool outage) {
  const std::lock_guard lock(circuit_.mutex_);
  ++circuit_.in_a_row_;
  const auto now = Clock::now();
  if (!circuit_.open_ && (outage || circuit_.in_a_row_ >= circuit_.policy_.failures)) {
    circuit_.open_ = true;
    circuit_.probes_ = 0;
    circuit_.opened_ = now;
    circuit_.next_probe_ = now + seconds(circuit_.pause());
  } else if (circuit_.open_ && pass_ == Pass::probe) {
    circuit_.next_probe_ = now + seconds(circuit_.pause());
  }
}

} // namespace kernevo::llm
