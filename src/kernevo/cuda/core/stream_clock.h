// Virtual time: when the work of each stream would begin and end on the named GPU, by what every
// piece of it is priced at. The host's own computing takes no time; what it waits for it has seen
// end. Work is entered in the order in which the program asks for it, by whichever thread, and may
// be executed and priced later: nothing here depends on when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace kernevo::cuda {

// What of the GPU a piece of work keeps busy. Pieces that together ask for more than there is of
// one wait for each other, also in different streams.
enum class Engine : std::uint8_t { none, multiprocessors, copy_in, copy_out };

struct Cost {
  double ns = 0;
  Engine engine = Engine::none;
  double share = 1;  // of the engine
  bool known = true; // false: nobody can say, nor how long anything took that it was part of
};

// A cost that may become known later. Thread-safe.
class Quote {
public:
  virtual ~Quote() = default;
  virtual std::optional<Cost> look() const = 0; // without waiting
  virtual Cost wait() const = 0;
};

enum class Transfer : std::uint8_t {
  to_device,    // from memory of the host that the GPU can read
  from_device,  // to such memory
  pageable_in,  // by way of a buffer of the driver's
  pageable_out, // the same
  on_device,
  fill,
  on_host, // the GPU has nothing to do with it
};

// A point of virtual time. Behind work without a price nobody knows it, only what came since.
struct Moment {
  double ns = 0;
  std::uint64_t unknown = 0; // the last such piece of work before it
};

struct EventTime {
  std::optional<Moment> at;
};

// One submission: a launch, a copy, a graph. Whoever executes it says what it did, step by step.
class TimedWork {
public:
  // What is priced on this thread until the end of the scope belongs to this work.
  class Scope {
  public:
    explicit Scope(std::shared_ptr<TimedWork> work);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    std::shared_ptr<TimedWork> work_;
    TimedWork* outer_;
  };
  // Of the innermost scope of this thread; null outside.
  static TimedWork* current();

  void add(std::shared_ptr<const Quote> quote);
  // Parts of one transfer, until the next step.
  void add_bytes(Transfer transfer, std::uint64_t bytes);
  // Reached when this step ends.
  void add_event(std::shared_ptr<EventTime> event);
  // What is added from now on begins when these steps have ended; the number of the new step.
  std::size_t begin_step(std::vector<std::size_t> needs);
  // This step and all that began after it.
  std::vector<std::size_t> steps_since(std::size_t first) const;

private:
  friend class StreamClock;
  struct Step {
    std::vector<std::size_t> needs;
    std::vector<std::shared_ptr<const Quote>> quotes;
    std::vector<std::pair<Transfer, std::uint64_t>> transfers;
    std::vector<std::shared_ptr<EventTime>> events;
  };
  Step& last();
  bool priced() const;
  void wait() const;

  std::vector<Step> steps_;
  bool finished_ = false;
};

// How streams order each other.
enum class StreamKind : std::uint8_t {
  legacy,   // the default stream: after all blocking ones, and they after it
  blocking, // what cudaStreamCreate makes
  free,     // cudaStreamNonBlocking
};

struct StreamTime {
  StreamKind kind = StreamKind::blocking;
  Moment at = {};    // the end of its last work
  bool held = false; // while entries are gone through: something of it is not known yet
};

class StreamClock {
public:
  using TransferCost = std::function<Cost(Transfer, std::uint64_t bytes)>;
  explicit StreamClock(TransferCost transfer_cost);

  // The rest in the order of the program's calls. Null is the legacy default stream.
  std::shared_ptr<TimedWork> submit(const std::shared_ptr<StreamTime>& stream);
  std::shared_ptr<EventTime> record(const std::shared_ptr<StreamTime>& stream);
  void wait(const std::shared_ptr<StreamTime>& stream, const std::shared_ptr<EventTime>& event);
  // This thread of the host has waited for the work of the stream, for an event, for everything.
  void host_waited(const std::shared_ptr<StreamTime>& stream);
  void host_waited_for(const std::shared_ptr<EventTime>& event);
  void host_waited_for_all();

  // The work has been executed.
  void finished(const std::shared_ptr<TimedWork>& work);

  // From one event to the other; waits for prices. Nothing when work before one of them was not
  // executed yet, not a number when work between them has no price.
  std::optional<double> elapsed_ns(const std::shared_ptr<EventTime>& begin,
                                   const std::shared_ptr<EventTime>& end);
  // The end of all work so far, as far as it was executed; waits for prices.
  Moment now();

private:
  struct Host {
    Moment at;
    bool held = false;
  };
  enum class What : std::uint8_t { work, record, wait, host_stream, host_event, host_all };
  struct Entry {
    What what = What::work;
    std::shared_ptr<Host> host;
    std::shared_ptr<StreamTime> stream = nullptr;
    std::shared_ptr<TimedWork> work = nullptr;
    std::shared_ptr<EventTime> event = nullptr;
  };
  // The latest pieces of work on an engine.
  class EngineTime {
  public:
    // When work that could begin at `ready` does.
    double place(double ready, double ns, double share);

  private:
    struct Busy {
      double begin = 0;
      double end = 0;
      double share = 0;
    };
    bool fits(double begin, double end, double share) const;
    std::deque<Busy> busy_;
    double latest_ = 0;
  };

  void enter(Entry entry);
  // Applies what stands first and is known.
  void drain();
  // Goes through all entries; those that wait for something not yet known stay, and what waits for
  // them. `patient`: waits for prices.
  void advance(bool patient);
  bool applicable(const Entry& entry) const;
  bool is_held(const Entry& entry) const;
  void hold(const Entry& entry);
  void apply(const Entry& entry);
  void apply_work(const Entry& entry);
  Moment after_cost(Moment begin, const Cost& cost);
  Moment ready(const StreamTime& stream) const;
  const std::shared_ptr<StreamTime>& known(const std::shared_ptr<StreamTime>& stream) const {
    return stream == nullptr ? legacy_ : stream;
  }
  std::shared_ptr<Host> host();

  std::mutex mutex_;
  TransferCost transfer_cost_;
  std::deque<Entry> entries_; // that are not applied yet
  std::size_t look_at_ = 64;  // so many are worth a look through all of them
  std::shared_ptr<StreamTime> legacy_ =
      std::make_shared<StreamTime>(StreamTime{StreamKind::legacy});
  Moment blocking_; // the end of work in blocking streams and the legacy one
  Moment all_;      // in any stream
  bool blocking_held_ = false;
  bool any_held_ = false;
  std::uint64_t unknown_ = 0;
  EngineTime multiprocessors_;
  EngineTime copy_in_;
  EngineTime copy_out_;
};

} // namespace kernevo::cuda
