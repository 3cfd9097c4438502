#include "kernevo/device/cuda_worker.h"

#include "kernevo/base/file_cage.h"
#include "kernevo/base/sandbox.h"
#include "kernevo/device/cuda_context.h"
#include "kernevo/device/cuda_messages.h"
#include "kernevo/device/last_words.h"
#include "kernevo/device/nvml.h"

#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <optional>
#include <unistd.h>
#include <utility>

namespace kernevo {
namespace {

// What a driver reads and opens is all there; the user's files are not. It goes on without where
// the system has no Landlock: a mount namespace would take the devices away.
Result<void> confine_files(const CudaSettings& settings) {
  if (file_layer() != FileLayer::landlock)
    return {};
  FileAccess access;
  access.readable = {"/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/opt", "/run"};
  access.readable.insert(access.readable.end(), settings.readable.begin(), settings.readable.end());
  access.writable = {"/dev", "/tmp"};
  KERNEVO_TRY(cage, FileCage::make(access));
  if (!cage.enter())
    return fail(ErrorCode::infrastructure, "the cuda worker cannot confine its files");
  return {};
}

class Conversation {
public:
  explicit Conversation(const CudaSettings& settings) : settings_(settings) {}

  // The answer to one message; nothing where the worker is of no more use.
  std::string answer(Message& message) {
    const std::string kind = kind_of_message(message.text);
    if (kind == "list" || kind == "open" || kind == "look")
      LastWords::keep_in(message.attached);
    if (kind == "list")
      return encode(list());
    if (kind == "open")
      return encode(open(message.text));
    if (kind == "look")
      return encode(look());
    if (kind == "load")
      return encode(load(message.text));
    if (kind == "run")
      return encode_outcome(run(message));
    if (kind == "counters")
      return encode_bytes(open_counters());
    if (kind == "count")
      return encode_bytes(count(message));
    if (kind == "shots")
      return encode(prepare_shots(message));
    if (kind == "shoot")
      return encode(context_ ? context_->shoot() : Result<CudaShotAnswer>(nothing_open()));
    if (kind == "audit")
      return encode(context_ ? context_->audit() : Result<CudaShotAnswer>(nothing_open()));
    if (kind == "write" || kind == "read")
      return encode_bytes(part(message.text, kind == "write"));
    return encode_bytes(
        fail(ErrorCode::infrastructure, "the cuda worker was asked for nothing it knows"));
  }

  bool broken() const { return context_ != nullptr && context_->broken(); }

private:
  static tl::unexpected<Error> nothing_open() {
    return fail(ErrorCode::infrastructure, "the cuda worker has no module");
  }

  Result<const CudaDriver*> driver() {
    if (!driver_) {
      KERNEVO_TRY(opened, CudaDriver::open(settings_.libcuda));
      driver_ = std::move(opened);
    }
    return &*driver_;
  }

  Result<CudaListing> list() {
    KERNEVO_TRY(driver, this->driver());
    CudaListing listing{driver->version(), driver->stand_in(), {}};
    KERNEVO_TRY(count, driver->count());
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      KERNEVO_TRY(facts, driver->facts(ordinal));
      listing.gpus.push_back(std::move(facts));
    }
    return listing;
  }

  Result<CudaFacts> open(std::string_view text) {
    KERNEVO_TRY(message, decode_cuda_open(text));
    KERNEVO_TRY(driver, this->driver());
    KERNEVO_TRY(facts, driver->facts(message.ordinal));
    // Drivers may count otherwise after a GPU has gone.
    if (!message.uuid.empty() && message.uuid != facts.uuid)
      return tl::unexpected<Error>(
          lost_device(fmt::format("cuda:{}", message.ordinal), "another GPU has its number now"));
    facts_ = facts;
    return std::move(facts);
  }

  Result<GpuTelemetry> look() {
    if (!facts_)
      return nothing_open();
    if (!nvml_)
      nvml_.emplace(settings_.libnvml, facts_->uuid, facts_->bus);
    return nvml_->look();
  }

  Result<CudaLoadAnswer> load(std::string_view text) {
    KERNEVO_TRY(message, decode_cuda_load(text));
    if (!facts_ || context_)
      return fail(ErrorCode::infrastructure, "the cuda worker takes one module of one GPU");
    KERNEVO_TRY(context, CudaContext::open(*driver_, *facts_));
    // A driver that is up needs no more of the system. One that plays a GPU starts its helpers when
    // it needs them.
    KERNEVO_CHECK(confine_this_process(
        facts_->stand_in.empty() ? Confinement::drive : Confinement::compile, {}));
    context_ = std::move(context);
    KERNEVO_TRY(answer, context_->load(message));
    answer.process = getpid();
    return std::move(answer);
  }

  Result<RunOutcome> run(Message& message) {
    if (!context_)
      return nothing_open();
    KERNEVO_TRY(run, decode_run(message.text));
    KERNEVO_TRY(arena, Arena::attach(std::move(message.attached), run.regions));
    return context_->run(run.request, arena);
  }

  // Before a module is there: later the worker may start nothing, and the library may want to.
  Result<std::string> open_counters() {
    if (!facts_ || context_)
      return nothing_open();
    cupti_ = Cupti::open(settings_.libcupti, !facts_->stand_in.empty());
    return std::string();
  }

  Result<std::string> count(Message& message) {
    if (!context_ || !cupti_)
      return nothing_open();
    KERNEVO_TRY(wanted, decode_count(message.text));
    KERNEVO_TRY(arena, Arena::attach(std::move(message.attached), wanted.run.regions));
    if (!*cupti_) {
      CountedRun refused;
      refused.refusal = cupti_->error().why;
      refused.remedy = cupti_->error().remedy;
      return encode_counted(refused);
    }
    KERNEVO_TRY(counted, context_->count(**cupti_, wanted, arena));
    return encode_counted(counted);
  }

  Result<CudaShotsAnswer> prepare_shots(Message& message) {
    if (!context_)
      return nothing_open();
    KERNEVO_TRY(shots, decode_shots(message.text));
    KERNEVO_TRY(arena, Arena::attach(std::move(message.attached), shots.run.regions));
    return context_->prepare_shots(shots, arena);
  }

  Result<std::string> part(std::string_view text, bool writes) {
    if (!context_)
      return nothing_open();
    KERNEVO_TRY(part, decode_part(text));
    return writes ? context_->write(part.first, part.second) : context_->read(part.first);
  }

  CudaSettings settings_;
  std::optional<CudaDriver> driver_;
  std::optional<CudaFacts> facts_;
  std::optional<Nvml> nvml_;
  std::optional<Granted<Cupti>> cupti_;
  std::unique_ptr<CudaContext> context_;
};

int serve(const CudaSettings& settings) {
  WorkerChannel channel;
  if (auto confined = confine_files(settings); !confined) {
    channel.send(encode_bytes(tl::unexpected<Error>(confined.error())));
    return 3;
  }
  Conversation conversation(settings);
  while (std::optional<Message> message = channel.receive()) {
    std::string answer;
    try {
      answer = conversation.answer(*message);
    } catch (const std::bad_alloc&) {
      answer = encode_bytes(fail(ErrorCode::infrastructure, "the cuda worker is out of memory"));
    }
    if (!channel.send(answer))
      break;
    // A context after a fault serves nobody; another worker takes over.
    if (conversation.broken())
      break;
  }
  // Without the driver's farewells, which may wait for a kernel that never ends.
  _exit(0);
}

} // namespace

WorkerRole cuda_device_role() {
  auto settings = std::make_shared<CudaSettings>();
  return {[settings](const std::string& preparation) {
            if (auto told = decode_settings(preparation))
              *settings = std::move(*told);
            // A worker has an empty environment; the libraries get what concerns them.
            for (const auto& [name, value] : settings->environment)
              setenv(name.c_str(), value.c_str(), 1);
          },
          [settings] { return serve(*settings); }};
}

} // namespace kernevo
