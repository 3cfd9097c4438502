#include "kernevo/cuda/core/stream_clock.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace kernevo::cuda {
namespace {

// Pieces of work that may still be running when another begins. GPUs run 128 kernels at once.
constexpr std::size_t kRemembered = 128;
// Entries that wait for prices before these are asked for.
constexpr std::size_t kMostWaiting = 10'000;
constexpr double kWhole = 1.0001; // shares are sums of fractions

thread_local TimedWork* current_work = nullptr;

Moment later(const Moment& a, const Moment& b) {
  return {std::max(a.ns, b.ns), std::max(a.unknown, b.unknown)};
}

} // namespace

TimedWork::Scope::Scope(std::shared_ptr<TimedWork> work)
    : work_(std::move(work)), outer_(std::exchange(current_work, work_.get())) {}

TimedWork::Scope::~Scope() {
  current_work = outer_;
}

TimedWork* TimedWork::current() {
  return current_work;
}

TimedWork::Step& TimedWork::last() {
  if (steps_.empty())
    steps_.emplace_back();
  return steps_.back();
}

void TimedWork::add(std::shared_ptr<const Quote> quote) {
  last().quotes.push_back(std::move(quote));
}

void TimedWork::add_bytes(Transfer transfer, std::uint64_t bytes) {
  auto& transfers = last().transfers;
  if (!transfers.empty() && transfers.back().first == transfer)
    transfers.back().second += bytes;
  else
    transfers.emplace_back(transfer, bytes);
}

void TimedWork::add_event(std::shared_ptr<EventTime> event) {
  last().events.push_back(std::move(event));
}

std::size_t TimedWork::begin_step(std::vector<std::size_t> needs) {
  steps_.push_back({std::move(needs), {}, {}, {}});
  return steps_.size() - 1;
}

std::vector<std::size_t> TimedWork::steps_since(std::size_t first) const {
  std::vector<std::size_t> steps(steps_.size() - first);
  std::iota(steps.begin(), steps.end(), first);
  return steps;
}

bool TimedWork::priced() const {
  return std::all_of(steps_.begin(), steps_.end(), [](const Step& step) {
    return std::all_of(step.quotes.begin(), step.quotes.end(),
                       [](const auto& quote) { return quote->look().has_value(); });
  });
}

void TimedWork::wait() const {
  for (const Step& step : steps_)
    for (const auto& quote : step.quotes)
      static_cast<void>(quote->wait());
}

bool StreamClock::EngineTime::fits(double begin, double end, double share) const {
  // The sum changes only where something begins.
  const auto sum_at = [&](double time) {
    double sum = share;
    for (const Busy& busy : busy_)
      if (busy.begin <= time && time < busy.end)
        sum += busy.share;
    return sum;
  };
  if (sum_at(begin) > kWhole)
    return false;
  return std::all_of(busy_.begin(), busy_.end(), [&](const Busy& busy) {
    return busy.begin <= begin || busy.begin >= end || sum_at(busy.begin) <= kWhole;
  });
}

double StreamClock::EngineTime::place(double ready, double ns, double share) {
  double begin = ready;
  if (ready < latest_ && ns > 0) {
    std::set<double> ends;
    for (const Busy& busy : busy_)
      if (busy.end > ready)
        ends.insert(busy.end);
    for (auto next = ends.begin(); next != ends.end() && !fits(begin, begin + ns, share); ++next)
      begin = *next;
  }
  busy_.push_back({begin, begin + ns, share});
  if (busy_.size() > kRemembered)
    busy_.erase(std::min_element(busy_.begin(), busy_.end(),
                                 [](const Busy& a, const Busy& b) { return a.end < b.end; }));
  latest_ = std::max(latest_, begin + ns);
  return begin;
}

StreamClock::StreamClock(TransferCost transfer_cost) : transfer_cost_(std::move(transfer_cost)) {}

std::shared_ptr<StreamClock::Host> StreamClock::host() {
  // A thread that appears has seen nothing end yet, but it did not exist before now either.
  static thread_local std::pair<const StreamClock*, std::shared_ptr<Host>> own;
  if (own.first != this)
    own = {this, std::make_shared<Host>(Host{all_})};
  return own.second;
}

std::shared_ptr<TimedWork> StreamClock::submit(const std::shared_ptr<StreamTime>& stream) {
  const std::lock_guard lock(mutex_);
  auto work = std::make_shared<TimedWork>();
  enter({What::work, host(), known(stream), work});
  return work;
}

std::shared_ptr<EventTime> StreamClock::record(const std::shared_ptr<StreamTime>& stream) {
  const std::lock_guard lock(mutex_);
  auto event = std::make_shared<EventTime>();
  enter({What::record, host(), known(stream), nullptr, event});
  return event;
}

void StreamClock::wait(const std::shared_ptr<StreamTime>& stream,
                       const std::shared_ptr<EventTime>& event) {
  const std::lock_guard lock(mutex_);
  if (event != nullptr) // one that was never recorded is not waited for
    enter({What::wait, host(), known(stream), nullptr, event});
}

void StreamClock::host_waited(const std::shared_ptr<StreamTime>& stream) {
  const std::lock_guard lock(mutex_);
  enter({What::host_stream, host(), known(stream)});
}

void StreamClock::host_waited_for(const std::shared_ptr<EventTime>& event) {
  const std::lock_guard lock(mutex_);
  if (event != nullptr)
    enter({What::host_event, host(), nullptr, nullptr, event});
}

void StreamClock::host_waited_for_all() {
  const std::lock_guard lock(mutex_);
  enter({What::host_all, host()});
}

void StreamClock::finished(const std::shared_ptr<TimedWork>& work) {
  const std::lock_guard lock(mutex_);
  work->finished_ = true;
  drain();
}

void StreamClock::enter(Entry entry) {
  entries_.push_back(std::move(entry));
  drain();
}

void StreamClock::drain() {
  while (!entries_.empty() && applicable(entries_.front())) {
    apply(entries_.front());
    entries_.pop_front();
  }
  if (entries_.size() < look_at_)
    return;
  // A program that never asks for a time must not pile up what it did.
  advance(entries_.size() > kMostWaiting);
  look_at_ = std::max<std::size_t>(64, 2 * entries_.size());
}

void StreamClock::advance(bool patient) {
  for (const Entry& entry : entries_) {
    entry.host->held = false;
    if (entry.stream != nullptr)
      entry.stream->held = false;
  }
  legacy_->held = blocking_held_ = any_held_ = false;
  std::deque<Entry> kept;
  for (Entry& entry : entries_) {
    if (!is_held(entry)) {
      if (patient && entry.what == What::work && entry.work->finished_)
        entry.work->wait();
      if (applicable(entry)) {
        apply(entry);
        continue;
      }
    }
    hold(entry);
    kept.push_back(std::move(entry));
  }
  entries_ = std::move(kept);
}

bool StreamClock::applicable(const Entry& entry) const {
  switch (entry.what) {
  case What::work: return entry.work->finished_ && entry.work->priced();
  case What::wait:
  case What::host_event: return entry.event->at.has_value();
  default: return true;
  }
}

bool StreamClock::is_held(const Entry& entry) const {
  if (entry.host->held || (entry.what == What::host_all && any_held_))
    return true;
  if (entry.stream == nullptr)
    return false;
  const StreamTime& stream = *entry.stream;
  return stream.held || (stream.kind == StreamKind::legacy && blocking_held_) ||
         (stream.kind == StreamKind::blocking && legacy_->held);
}

void StreamClock::hold(const Entry& entry) {
  any_held_ = true;
  if (entry.what == What::host_stream || entry.what == What::host_event ||
      entry.what == What::host_all) {
    entry.host->held = true;
  } else if (entry.what != What::record) { // what comes after a record does not wait for it
    entry.stream->held = true;
    blocking_held_ = blocking_held_ || entry.stream->kind != StreamKind::free;
  }
}

Moment StreamClock::ready(const StreamTime& stream) const {
  switch (stream.kind) {
  case StreamKind::legacy: return later(stream.at, blocking_);
  case StreamKind::blocking: return later(stream.at, legacy_->at);
  case StreamKind::free: break;
  }
  return stream.at;
}

void StreamClock::apply(const Entry& entry) {
  switch (entry.what) {
  case What::work: apply_work(entry); break;
  case What::record: entry.event->at = later(ready(*entry.stream), entry.host->at); break;
  case What::wait: entry.stream->at = later(ready(*entry.stream), *entry.event->at); break;
  case What::host_stream: entry.host->at = later(entry.host->at, ready(*entry.stream)); break;
  case What::host_event: entry.host->at = later(entry.host->at, *entry.event->at); break;
  case What::host_all: entry.host->at = later(entry.host->at, all_); break;
  }
}

Moment StreamClock::after_cost(Moment begin, const Cost& cost) {
  double from = begin.ns;
  switch (cost.engine) {
  case Engine::multiprocessors: from = multiprocessors_.place(from, cost.ns, cost.share); break;
  case Engine::copy_in: from = copy_in_.place(from, cost.ns, cost.share); break;
  case Engine::copy_out: from = copy_out_.place(from, cost.ns, cost.share); break;
  case Engine::none: break;
  }
  return {from + cost.ns, cost.known ? begin.unknown : ++unknown_};
}

void StreamClock::apply_work(const Entry& entry) {
  const Moment begin = later(ready(*entry.stream), entry.host->at);
  Moment end = begin;
  std::vector<Moment> ends;
  for (const TimedWork::Step& step : entry.work->steps_) {
    Moment at = begin;
    for (const std::size_t need : step.needs)
      at = later(at, ends.at(need));
    for (const auto& [transfer, bytes] : step.transfers)
      at = after_cost(at, transfer_cost_(transfer, bytes));
    for (const auto& quote : step.quotes)
      at = after_cost(at, quote->wait()); // it is known
    for (const auto& event : step.events)
      event->at = at;
    ends.push_back(at);
    end = later(end, at);
  }
  StreamTime& stream = *entry.stream;
  stream.at = end;
  if (stream.kind != StreamKind::free)
    blocking_ = later(blocking_, end);
  all_ = later(all_, end);
}

std::optional<double> StreamClock::elapsed_ns(const std::shared_ptr<EventTime>& begin,
                                              const std::shared_ptr<EventTime>& end) {
  const std::lock_guard lock(mutex_);
  if (!begin->at || !end->at)
    advance(true);
  if (!begin->at || !end->at)
    return std::nullopt;
  if (end->at->unknown > begin->at->unknown)
    return std::numeric_limits<double>::quiet_NaN();
  return end->at->ns - begin->at->ns;
}

Moment StreamClock::now() {
  const std::lock_guard lock(mutex_);
  advance(true);
  return all_;
}

} // namespace kernevo::cuda
