#include "kernevo/vgpu/tier/tier.h"

#include "kernevo/vgpu/program/kernels.h"
#include "kernevo/vgpu/tier/plugin.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <unistd.h>

namespace kernevo::vgpu {
namespace {

// A quick compilation takes 3 to 6 ms, and its code saves 3 to 9 ns per warp instruction.
constexpr std::uint64_t kPays = 1'000'000;
// A thorough one takes 40 to 120 ms, and its code saves 2 to 4 ns more.
constexpr std::uint64_t kPaysToOptimise = 40'000'000;
// A guess from fewer instructions than this is worth nothing.
constexpr std::uint64_t kFirstLook = 1U << 14U;
// A claim that fails this often is given up, and a function that keeps changing is left alone.
constexpr std::uint32_t kRefutations = 16;
constexpr std::uint32_t kMostVersions = 8;

} // namespace

// One function for one kind of launch: what was made of it, and who waits for it.
struct TierUnit {
  CompileJob job; // its program is set only while it is compiled: a unit must not keep it alive
  enum class State { idle, pending, ready, failed } state = State::idle;
  bool optimised = false;                                  // or about to be
  std::vector<std::unique_ptr<CompiledFunction>> versions; // old ones may still be running
  std::map<ptx::RegisterId, std::uint32_t> refutations;
  std::string problem;
  std::vector<std::atomic<const CompiledFunction*>*> listeners;
  // By launches that have ended: warp instructions interpreted, and (of a kernel) compiled.
  std::uint64_t interpreted = 0;
  std::uint64_t compiled = 0;

  const CompiledFunction* code() const {
    return versions.empty() ? nullptr : versions.back().get();
  }
};

namespace {

// Stands for a thread that launches. What it asked for is called off or finished before the thread
// ends: a process that exits destroys the exiting thread's objects before anything static, and a
// compilation would not survive the end of LLVM's statics.
class Launcher {
public:
  static const Launcher* of_this_thread() {
    static thread_local const Launcher launcher;
    return &launcher;
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

private:
  Launcher() = default;
  ~Launcher();
};

// Program, function, counting, full; the facts are few and searched.
struct UnitKey {
  std::uint64_t program = 0;
  std::uint32_t function = 0;
  bool counting = false;
  bool full = false;
  auto operator<=>(const UnitKey&) const = default;
};

struct Units {
  std::weak_ptr<const Program> program;
  std::multimap<UnitKey, TierUnit> units;
};

class CompileService {
public:
  // Never destroyed: code may run until the process ends. Only its thread is stopped at exit.
  static CompileService& instance() {
    static auto* service = new CompileService; // NOLINT(cppcoreguidelines-owning-memory)
    return *service;
  }

  std::mutex mutex;
  std::shared_ptr<ObjectStore> store;

  // With the mutex held.
  TierUnit& unit(const TierHandle::Launch& launch, std::uint32_t function, bool full) {
    Units& units = programs_[launch.program->id];
    units.program = launch.program;
    const UnitKey key{launch.program->id, function, launch.counting, full};
    const auto range = units.units.equal_range(key);
    for (auto at = range.first; at != range.second; ++at)
      if (at->second.job.facts == launch.facts)
        return at->second;
    TierUnit& made = units.units.emplace(key, TierUnit())->second;
    made.job.function = function;
    made.job.facts = launch.facts;
    made.job.full = full;
    made.job.counting = launch.counting;
    return made;
  }

  // With the mutex held: every unit of a program.
  template <class Visit> void each(std::uint64_t program, Visit visit) {
    if (const auto found = programs_.find(program); found != programs_.end())
      for (auto& [key, unit] : found->second.units)
        visit(key, unit);
  }

  // With the mutex held.
  void enqueue(TierUnit& unit, const TierHandle::Launch& launch, bool optimise) {
    if (stopping_) { // like what was queued when the thread ended
      if (unit.versions.empty())
        unit.state = TierUnit::State::failed;
      finished_.notify_all();
      return;
    }
    if (unit.state == TierUnit::State::idle)
      unit.state = TierUnit::State::pending;
    unit.optimised = optimise;
    queue_.push_back({&unit, launch.program, launch.launcher, optimise});
    if (!thread_.joinable()) {
      std::atexit([] { instance().stop(); });
      owner_ = getpid();
      thread_ = std::thread([this] { work(); });
    }
    wake_.notify_all();
  }

  void wait_for(std::unique_lock<std::mutex>& lock, const TierUnit& unit) {
    finished_.wait(lock, [&] {
      return unit.state == TierUnit::State::ready || unit.state == TierUnit::State::failed;
    });
  }

  // Calls off what a thread asked for and waits for what is under way for it.
  void forget(const void* launcher) {
    std::unique_lock lock(mutex);
    std::deque<Task> called_off; // destroyed without the lock: programs may go with them
    for (Task& task : queue_)
      if (task.launcher == launcher) {
        call_off(*task.unit);
        called_off.push_back(std::move(task));
      }
    std::erase_if(queue_, [](const Task& task) { return task.program == nullptr; });
    if (running_for_ == launcher)
      cancelled_ = true;
    finished_.wait(lock, [&] { return running_for_ != launcher; });
    lock.unlock();
  }

  // With the mutex held: forgets programs that are gone.
  void sweep() {
    std::erase_if(programs_, [](const auto& entry) { return entry.second.program.expired(); });
  }

  void stop() {
    if (owner_ != getpid())
      return; // forked from the process that has the thread
    {
      const std::lock_guard lock(mutex);
      stopping_ = true;
      cancelled_ = true;
      wake_.notify_all();
    }
    if (thread_.joinable())
      thread_.join();
  }

private:
  struct Task {
    TierUnit* unit;
    std::shared_ptr<const Program> program; // keeps the unit, too
    const void* launcher;
    bool optimise;
  };

  // As if nobody had asked: another launch may.
  static void call_off(TierUnit& unit) {
    unit.optimised = false;
    if (unit.state == TierUnit::State::pending)
      unit.state = TierUnit::State::idle;
  }

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (stopping_)
        break;
      Task task = std::move(queue_.front());
      queue_.pop_front();
      running_for_ = task.launcher;
      cancelled_ = false;
      compile(lock, task);
      running_for_ = nullptr;
      finished_.notify_all();
      // The program may go with the task, and its destructor is not ours to run under the lock.
      lock.unlock();
      task.program.reset();
      lock.lock();
    }
    for (const Task& task : queue_)
      task.unit->state = TierUnit::State::failed;
    finished_.notify_all();
  }

  void compile(std::unique_lock<std::mutex>& lock, const Task& task) {
    TierUnit& unit = *task.unit;
    CompileJob job = unit.job;
    job.program = task.program;
    job.optimise = task.optimise;
    if (!task.program->text_hash.empty())
      job.store = store;
    job.cancelled = &cancelled_;
    lock.unlock();
    const auto compiler = load_compiler();
    Result<std::unique_ptr<CompiledFunction>> made =
        compiler
            ? (*compiler)->compile(job)
            : Result<std::unique_ptr<CompiledFunction>>(tl::unexpected<Error>(compiler.error()));
    lock.lock();
    if (made) {
      unit.versions.push_back(std::move(*made));
      unit.state = TierUnit::State::ready;
      for (auto* listener : unit.listeners)
        listener->store(unit.code(), std::memory_order_release);
    } else if (cancelled_) {
      call_off(unit);
    } else if (unit.versions.empty()) {
      unit.problem = format_error(made.error());
      unit.state = TierUnit::State::failed;
    }
  }

  std::map<std::uint64_t, Units> programs_; // by Program::id
  std::deque<Task> queue_;
  std::condition_variable wake_;
  std::condition_variable finished_;
  std::thread thread_;
  pid_t owner_ = 0;                   // of the thread
  const void* running_for_ = nullptr; // whose task is being compiled
  bool stopping_ = false;
  std::atomic<bool> cancelled_ = false;
};

Launcher::~Launcher() {
  CompileService::instance().forget(this);
}

// exit() destroys the objects of the thread that calls it before it runs any handler. What a
// compilation has made by then, tables of LLVM among it, would be destroyed before stop(), which
// was registered earlier, and under the compiler's hands.
struct StopsBeforeHandlers {
  ~StopsBeforeHandlers() {
    if (getpid() == gettid()) // the program's first thread
      CompileService::instance().stop();
  }
};

[[maybe_unused]] const bool armed = [] {
  static thread_local const StopsBeforeHandlers object{};
  (void)object;
  return true;
}();

} // namespace

void set_object_store(std::shared_ptr<ObjectStore> store) {
  CompileService& service = CompileService::instance();
  const std::lock_guard lock(service.mutex);
  service.store = std::move(store);
}

TierHandle::TierHandle(Launch launch)
    : launch_(std::move(launch)), slots_(std::make_unique<Slot[]>(launch_.program->codes.size())) {
  if (launch_.tier == Tier::interpreter)
    return;
  launch_.launcher = Launcher::of_this_thread();
  if (launch_.tier == Tier::compiled) {
    for (const std::uint32_t function : reachable_functions(*launch_.program, launch_.kernel))
      if (!launch_.program->codes[function].ops.empty())
        for (const bool full : {true, false})
          ask(function, full, kPaysToOptimise, true);
    return;
  }
  // What an earlier launch made is there at once.
  CompileService& service = CompileService::instance();
  const std::lock_guard lock(service.mutex);
  service.sweep();
  service.each(launch_.program->id, [&](const UnitKey& key, TierUnit& unit) {
    if (key.counting != launch_.counting || unit.job.facts != launch_.facts)
      return;
    Slot& slot = slots_[key.function];
    auto& code = key.full ? slot.full : slot.partial;
    (key.full ? slot.asked_full : slot.asked_partial) = unit.state != TierUnit::State::idle;
    (key.full ? slot.before_full : slot.before_partial) = unit.interpreted;
    if (key.function == launch_.kernel)
      compiled_before_ += unit.compiled;
    unit.listeners.push_back(&code);
    code.store(unit.code(), std::memory_order_release);
  });
}

TierHandle::~TierHandle() {
  if (launch_.tier == Tier::interpreter)
    return;
  CompileService& service = CompileService::instance();
  const std::lock_guard lock(service.mutex);
  const Slot* first = slots_.get();
  const Slot* last = first + launch_.program->codes.size();
  for (std::uint32_t function = 0; function < launch_.program->codes.size(); ++function)
    for (const bool full : {true, false}) {
      const Slot& slot = slots_[function];
      const std::uint64_t interpreted = full ? slot.interpreted_full : slot.interpreted_partial;
      const std::uint64_t compiled = full && function == launch_.kernel ? compiled_.load() : 0;
      if (interpreted + compiled == 0)
        continue;
      TierUnit& unit = service.unit(launch_, function, full);
      unit.interpreted += interpreted;
      unit.compiled += compiled;
    }
  service.each(launch_.program->id, [&](const UnitKey&, TierUnit& unit) {
    std::erase_if(unit.listeners, [&](const std::atomic<const CompiledFunction*>* listener) {
      const auto* at = reinterpret_cast<const std::byte*>(listener); // NOLINT
      return at >= reinterpret_cast<const std::byte*>(first) &&      // NOLINT
             at < reinterpret_cast<const std::byte*>(last);          // NOLINT
    });
  });
}

void TierHandle::interpreted(std::uint32_t function, bool full, std::uint64_t instructions) {
  if (launch_.tier != Tier::automatic)
    return;
  Slot& slot = slots_[function];
  if ((full ? slot.asked_full : slot.asked_partial).load(std::memory_order_relaxed))
    return;
  const std::uint64_t so_far = (full ? slot.interpreted_full : slot.interpreted_partial)
                                   .fetch_add(instructions, std::memory_order_relaxed) +
                               instructions;
  const std::uint64_t before = full ? slot.before_full : slot.before_partial;
  if (before + so_far < kFirstLook)
    return;
  // What launches before this one took, those after it may take again.
  if (const std::uint64_t to_come = before + expected(so_far); to_come >= kPays)
    ask(function, full, to_come, false);
}

void TierHandle::ask(std::uint32_t function, bool full, std::uint64_t to_come, bool wait) {
  Slot& slot = slots_[function];
  if ((full ? slot.asked_full : slot.asked_partial).exchange(true))
    return;
  auto& code = full ? slot.full : slot.partial;
  CompileService& service = CompileService::instance();
  std::unique_lock lock(service.mutex);
  TierUnit& unit = service.unit(launch_, function, full);
  if (std::find(unit.listeners.begin(), unit.listeners.end(), &code) == unit.listeners.end())
    unit.listeners.push_back(&code);
  if (unit.state == TierUnit::State::idle) {
    // A launch that waits wants the best at once; others take what is there soonest.
    if (!wait)
      service.enqueue(unit, launch_, false);
    if (wait || to_come >= kPaysToOptimise)
      service.enqueue(unit, launch_, true);
  }
  if (wait)
    service.wait_for(lock, unit);
  code.store(unit.code(), std::memory_order_release);
}

void TierHandle::refuted(std::uint32_t function, bool full, ptx::RegisterId reg) {
  CompileService& service = CompileService::instance();
  const std::lock_guard lock(service.mutex);
  TierUnit& unit = service.unit(launch_, function, full);
  if (unit.state != TierUnit::State::ready || ++unit.refutations[reg] < kRefutations ||
      unit.versions.size() >= kMostVersions || !unit.job.demoted.insert(reg).second)
    return;
  service.enqueue(unit, launch_, unit.optimised);
}

void TierHandle::compiled(std::uint64_t instructions) {
  if (launch_.tier != Tier::automatic || improved_.load(std::memory_order_relaxed))
    return;
  const std::uint64_t so_far =
      compiled_.fetch_add(instructions, std::memory_order_relaxed) + instructions;
  if (compiled_before_ + expected(so_far) < kPaysToOptimise || improved_.exchange(true))
    return;
  CompileService& service = CompileService::instance();
  const std::lock_guard lock(service.mutex);
  service.each(launch_.program->id, [&](const UnitKey& key, TierUnit& unit) {
    const Slot& slot = slots_[key.function];
    if (unit.state == TierUnit::State::ready && !unit.optimised &&
        unit.code() == (key.full ? slot.full : slot.partial).load(std::memory_order_relaxed))
      service.enqueue(unit, launch_, true);
  });
}

std::uint64_t TierHandle::expected(std::uint64_t so_far) const {
  const std::uint64_t done = done_.load(std::memory_order_relaxed);
  const std::uint64_t left = launch_.blocks - std::min(done, launch_.blocks);
  return static_cast<std::uint64_t>(
      static_cast<double>(so_far) *
      std::max(1.0, static_cast<double>(left) / static_cast<double>(done + 1)));
}

std::string TierHandle::problem() const {
  if (launch_.tier == Tier::interpreter)
    return "";
  CompileService& service = CompileService::instance();
  const std::lock_guard lock(service.mutex);
  std::string text;
  service.each(launch_.program->id, [&](const UnitKey&, const TierUnit& unit) {
    if (text.empty() && unit.state == TierUnit::State::failed)
      text = unit.problem;
  });
  return text;
}

} // namespace kernevo::vgpu
