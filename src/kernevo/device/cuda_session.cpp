#include "kernevo/device/cuda_session.h"

#include "kernevo/device/check_outcome.h"
#include "kernevo/device/last_words.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// The worker holds kernels to their limit by itself; this ends the wait for one that hangs, and for
// a library that plays a GPU, slowly.
constexpr double kGraceSeconds = 60;
constexpr double kWallFactor = 10;
constexpr double kStartSeconds = 300;
constexpr double kCountFactor = 20; // passes over a run, about
constexpr std::size_t kMostAtOnce = std::size_t{64} << 20U;

double wall_limit(const RunRequest& request) {
  return kGraceSeconds +
         kWallFactor * request.seconds *
             static_cast<double>(std::max<std::size_t>(request.plan.launches.size(), 1));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; // NOLINT
}

Result<Message> ask_observer(WorkerProcess& worker, const std::string& message) {
  const LastWords words;
  WorkerEnd end = WorkerEnd::crashed;
  std::optional<Message> answer;
  if (worker.send(message, words.descriptor()))
    answer = worker.receive(kStartSeconds, &end);
  if (answer)
    return std::move(*answer);
  const std::string fix = "see nvidia-smi and the system's log";
  if (end == WorkerEnd::timed_out)
    return fail(ErrorCode::infrastructure,
                fmt::format("the CUDA driver did not answer within {:.0f} s", kStartSeconds),
                std::nullopt, fix);
  std::string said = words.line();
  // A library of ours ends a process for nothing but a setting it cannot follow.
  constexpr std::string_view ours = "kernevo: ";
  if (said.starts_with(ours) && worker.describe_end() == "exit code 2")
    return fail(ErrorCode::input, said.substr(ours.size()));
  return fail(ErrorCode::infrastructure,
              fmt::format("the CUDA driver took its process down: {}{}{}", worker.describe_end(),
                          said.empty() ? "" : "; it said: ", said),
              std::nullopt, fix);
}

} // namespace

void CudaProcesses::add(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  ids_.insert(id);
}

void CudaProcesses::remove(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = ids_.find(id); found != ids_.end())
    ids_.erase(found);
}

std::vector<std::int64_t> CudaProcesses::all() const {
  const std::lock_guard lock(mutex_);
  return {ids_.begin(), ids_.end()};
}

CudaSession::CudaSession(std::shared_ptr<CudaGround> ground, std::string ptx, std::string file,
                         std::string cubin, const ModuleLimits& limits)
    : ground_(std::move(ground)),
      module_{std::move(ptx), std::move(file), std::move(cubin), limits.memory_bytes} {}

CudaSession::~CudaSession() {
  stop();
}

bool CudaSession::serves(const CudaLoadMessage& module) const {
  return module_.ptx == module.ptx && module_.file == module.file &&
         module_.cubin == module.cubin && module_.memory_bytes == module.memory_bytes;
}

void CudaSession::stop() {
  if (!worker_)
    return;
  worker_.reset();
  ground_->processes.remove(process_);
}

CudaSession::End CudaSession::describe_end(WorkerEnd end, double seconds) {
  End what;
  if (end == WorkerEnd::timed_out) {
    what.finding.emplace();
    what.finding->kind = FindingKind::time_limit;
    what.finding->message =
        fmt::format("did not finish within {:.0f} s on {} and was stopped", seconds, ground_->name);
  } else if (worker_->was_killed()) {
    what.error = Error{ErrorCode::infrastructure, "the system killed the cuda worker", std::nullopt,
                       "memory may be short: try again"};
  } else {
    what.finding.emplace();
    what.finding->kind = FindingKind::crash;
    what.finding->message = "the worker process ended with " + worker_->describe_end();
  }
  stop();
  return what;
}

tl::expected<std::string, CudaSession::End> CudaSession::ask(const std::string& message,
                                                             double seconds, int attached) {
  WorkerEnd end = WorkerEnd::crashed;
  std::optional<Message> answer;
  if (worker_->send(message, attached))
    answer = worker_->receive(seconds, &end);
  else
    answer = worker_->receive(kGraceSeconds, &end);
  if (answer)
    return std::move(answer->text);
  return tl::unexpected<End>(describe_end(end, seconds));
}

// An answer that is none, or trouble: the worker says nothing more that counts.
template <class T> Result<T> CudaSession::settle(Result<T> answer) {
  if (!answer)
    stop();
  return answer;
}

Result<std::optional<Finding>> CudaSession::start() {
  stop();
  const auto broken = [this](End end) -> Result<std::optional<Finding>> {
    stop();
    if (end.error)
      return tl::unexpected<Error>(std::move(*end.error));
    return std::move(end.finding);
  };
  KERNEVO_TRY(worker, WorkerProcess::start("cuda", encode(ground_->settings)));
  worker_ = std::move(worker);
  process_ = 0;
  ground_->processes.add(process_);
  auto opened =
      ask(encode(CudaOpenMessage{ground_->facts.ordinal, ground_->facts.uuid}), kStartSeconds);
  if (!opened) // no module was there that could have done it
    return fail(ErrorCode::infrastructure,
                fmt::format("the worker on {} did not start", ground_->name));
  KERNEVO_CHECK(settle(decode_facts(*opened)));
  if (with_counters_) {
    auto ready = ask(encode_word("counters"), kStartSeconds);
    if (!ready)
      return fail(ErrorCode::infrastructure,
                  fmt::format("the CUPTI library took the worker on {} down", ground_->name),
                  std::nullopt, "set KERNEVO_LIBCUPTI to another");
    KERNEVO_CHECK(settle(decode_bytes(*ready)));
  }
  auto loaded = ask(encode(module_), kStartSeconds);
  if (!loaded)
    return broken(std::move(loaded.error()));
  KERNEVO_TRY(answer, settle(decode_load_answer(*loaded)));
  if (answer.refusal) {
    stop();
    return std::move(answer.refusal);
  }
  ground_->processes.remove(process_);
  process_ = answer.process;
  ground_->processes.add(process_);
  loaded_ = answer.loaded;
  return std::nullopt;
}

Result<RunOutcome> CudaSession::run(const RunRequest& request, const Arena& arena) {
  if (!worker_) {
    KERNEVO_TRY(refusal, start());
    if (refusal)
      return RunOutcome::stopped_by(std::move(*refusal));
  }
  auto answer =
      ask(encode(RunMessage{request, arena.regions()}), wall_limit(request), arena.descriptor());
  if (!answer) {
    if (answer.error().error)
      return tl::unexpected<Error>(std::move(*answer.error().error));
    return RunOutcome::stopped_by(std::move(*answer.error().finding));
  }
  KERNEVO_TRY(outcome, settle(decode_cuda_outcome(*answer)));
  if (auto possible = check_outcome(request, outcome, false); !possible) {
    stop();
    return tl::unexpected<Error>(std::move(possible).error());
  }
  // A context seldom survives a fault, and never usefully.
  if (outcome.fault)
    stop();
  return std::move(outcome);
}

Result<CountedRun> CudaSession::count(const RunRequest& request, const Arena& arena,
                                      const std::vector<std::string>& counters) {
  CountedRun run;
  if (!worker_) {
    KERNEVO_TRY(refusal, start());
    if (refusal) {
      run.fault = std::move(*refusal);
      return run;
    }
  }
  auto answer = ask(encode(CudaCountMessage{counters, {request, arena.regions()}}),
                    kCountFactor * wall_limit(request), arena.descriptor());
  if (!answer) {
    if (answer.error().error)
      return tl::unexpected<Error>(std::move(*answer.error().error));
    run.fault = std::move(*answer.error().finding);
    return run;
  }
  KERNEVO_TRY(text, settle(decode_bytes(*answer)));
  return settle(decode_counted(text, request));
}

Result<CudaShotsAnswer> CudaSession::prepare_shots(const RunRequest& request, const Arena& arena,
                                                   bool cold) {
  if (!worker_) {
    KERNEVO_TRY(refusal, start());
    if (refusal)
      return fail(ErrorCode::infrastructure, refusal->message);
  }
  shot_seconds_ = wall_limit(request);
  auto answer = ask(encode(CudaShotsMessage{cold, {request, arena.regions()}}), shot_seconds_,
                    arena.descriptor());
  if (!answer)
    return answer.error().error ? tl::unexpected<Error>(std::move(*answer.error().error))
                                : fail(ErrorCode::infrastructure, answer.error().finding->message);
  return settle(decode_shots_answer(*answer));
}

Result<CudaShotAnswer> CudaSession::shoot() {
  if (!worker_)
    return fail(ErrorCode::infrastructure, "the worker that took the shots has ended");
  auto answer = ask(encode_word("shoot"), shot_seconds_);
  if (!answer) {
    if (answer.error().error)
      return tl::unexpected<Error>(std::move(*answer.error().error));
    return CudaShotAnswer{std::move(answer.error().finding), 0};
  }
  auto shot = settle(decode_shot_answer(*answer));
  if (shot && shot->fault)
    stop();
  return shot;
}

Result<CudaShotAnswer> CudaSession::audit() {
  if (!worker_)
    return fail(ErrorCode::infrastructure, "the worker that took the shots has ended");
  auto answer = ask(encode_word("audit"), shot_seconds_);
  if (!answer) {
    if (answer.error().error)
      return tl::unexpected<Error>(std::move(*answer.error().error));
    return CudaShotAnswer{std::move(answer.error().finding), 0};
  }
  return settle(decode_shot_answer(*answer));
}

Result<void> CudaSession::write(const CudaPartMessage& part, std::span<const std::byte> bytes) {
  CudaPartMessage piece = part;
  for (std::size_t at = 0; at < bytes.size(); at += kMostAtOnce) {
    if (!worker_)
      return fail(ErrorCode::infrastructure, "the worker that took the shots has ended");
    const auto now = bytes.subspan(at, std::min(kMostAtOnce, bytes.size() - at));
    piece.offset = part.offset + at;
    piece.bytes = now.size();
    auto answer = ask(encode_write(piece, text_of(now)), kStartSeconds);
    if (!answer)
      return fail(ErrorCode::infrastructure, "the worker that took the shots has ended");
    KERNEVO_CHECK(settle(decode_bytes(*answer)));
  }
  return {};
}

Result<void> CudaSession::read(const CudaPartMessage& part, std::span<std::byte> bytes) {
  CudaPartMessage piece = part;
  for (std::size_t at = 0; at < bytes.size(); at += kMostAtOnce) {
    if (!worker_)
      return fail(ErrorCode::infrastructure, "the worker that took the shots has ended");
    const auto now = bytes.subspan(at, std::min(kMostAtOnce, bytes.size() - at));
    piece.offset = part.offset + at;
    piece.bytes = now.size();
    auto answer = ask(encode_read(piece), kStartSeconds);
    if (!answer)
      return fail(ErrorCode::infrastructure, "the worker that took the shots has ended");
    KERNEVO_TRY(text, settle(decode_bytes(*answer)));
    if (text.size() != now.size()) {
      stop();
      return fail(ErrorCode::infrastructure, "the worker read more or less than it was asked for");
    }
    std::memcpy(now.data(), text.data(), now.size());
  }
  return {};
}

Result<CudaListing> CudaObserver::list(const CudaSettings& settings) {
  KERNEVO_TRY(worker, WorkerProcess::start("cuda", encode(settings)));
  KERNEVO_TRY(answer, ask_observer(worker, encode_word("list")));
  return decode_listing(answer.text);
}

Result<CudaFacts> CudaObserver::open(int ordinal, const std::string& uuid) {
  const std::lock_guard lock(mutex_);
  worker_.reset();
  KERNEVO_TRY(worker, WorkerProcess::start("cuda", encode(settings_)));
  KERNEVO_TRY(answer, ask_observer(worker, encode(CudaOpenMessage{ordinal, uuid})));
  KERNEVO_TRY(facts, decode_facts(answer.text));
  worker_ = std::move(worker);
  return std::move(facts);
}

Result<GpuTelemetry> CudaObserver::look() {
  const std::lock_guard lock(mutex_);
  if (!worker_)
    return fail(ErrorCode::infrastructure, "nobody watches the GPU");
  auto answer = ask_observer(*worker_, encode_word("look"));
  if (!answer) {
    worker_.reset();
    return tl::unexpected<Error>(std::move(answer).error());
  }
  return decode_telemetry(answer->text);
}

} // namespace kernevo
