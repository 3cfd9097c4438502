// Counters: the same plan pass by pass, each from the same start, every launch a range of its own.
#include "kernevo/device/cuda_context.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace kernevo {
namespace {

namespace status = driver::status;

// A pass more than this is a library that never comes to an end.
constexpr int kMostPasses = 1000;
// Each takes room in what is counted, and time to be read.
constexpr std::size_t kMostLaunches = 256;

std::string range_of(std::size_t launch) {
  return fmt::format("launch {}", launch);
}

CountedRun refused(CounterRefusal refusal) {
  CountedRun run;
  run.refusal = std::move(refusal.why);
  run.remedy = std::move(refusal.remedy);
  return run;
}

} // namespace

// What a run before may have changed is as it was.
CudaContext::Maybe<void> CudaContext::put_back(const Buffers& buffers, const RunRequest& request,
                                               const Arena& arena) {
  for (std::size_t i = 0; i < request.tensors.size(); ++i)
    if (request.tensors[i].initialized)
      if (auto done = upload(buffers.all[i], arena.region(request.tensors[i].region)); !done)
        return done;
  return poison(buffers, request, false);
}

// One pass; a refusal where the hardware says no.
CudaContext::Maybe<Granted<bool>> CudaContext::count_pass(Cupti::Session& session,
                                                          const Buffers& buffers,
                                                          const RunRequest& request) {
  const auto no = [](CounterRefusal refusal) {
    return Granted<bool>(tl::unexpected<CounterRefusal>(std::move(refusal)));
  };
  if (auto begun = session.begin(); !begun)
    return no(std::move(begun).error());
  for (std::size_t i = 0; i < buffers.launches.size(); ++i) {
    if (auto begun = session.begin_range(range_of(i)); !begun)
      return no(std::move(begun).error());
    if (auto launched = queue(buffers.launches[i]); !launched)
      return tl::unexpected<Trouble>(std::move(launched.error()));
    if (const auto done = calls().event_record(events_[1], stream_); done != status::success)
      return fault_of_launch(done, *buffers.launches[i].launch, true);
    if (auto waited = wait_for(events_[1], request.seconds, request); !waited)
      return tl::unexpected<Trouble>(std::move(waited.error()));
    if (auto ended = session.end_range(); !ended)
      return no(std::move(ended).error());
  }
  return session.end();
}

CudaContext::Maybe<CountedRun>
CudaContext::try_count(const Cupti& cupti, const CudaCountMessage& message, const Arena& arena) {
  const RunRequest& request = message.run.request;
  auto buffers = allocate(request, arena);
  if (!buffers)
    return tl::unexpected<Trouble>(std::move(buffers.error()));
  auto session = cupti.count(context_, facts_.ordinal, message.counters, buffers->launches.size());
  if (!session)
    return refused(std::move(session).error());
  CountedRun run;
  for (bool all = false; !all;) {
    if (++run.passes > kMostPasses)
      return refused({fmt::format("CUPTI asks for more than {} passes", kMostPasses),
                      "update CUPTI, or set KERNEVO_LIBCUPTI to another"});
    if (auto ready = put_back(*buffers, request, arena); !ready)
      return tl::unexpected<Trouble>(std::move(ready.error()));
    if (auto flushed = flush(); !flushed)
      return tl::unexpected<Trouble>(std::move(flushed.error()));
    if (const auto done = calls().context_synchronize(); done != status::success)
      return trouble(done, "copy the inputs");
    auto pass = count_pass(**session, *buffers, request);
    if (!pass)
      return tl::unexpected<Trouble>(std::move(pass.error()));
    if (!*pass)
      return refused(std::move(*pass).error());
    all = **pass;
  }
  if (auto whole = check_guards(*buffers, request); !whole)
    return tl::unexpected<Trouble>(std::move(whole.error()));
  auto values = (*session)->values();
  if (!values)
    return refused(std::move(values).error());
  for (std::size_t i = 0; i < buffers->launches.size(); ++i) {
    const auto found = values->find(range_of(i));
    if (found == values->end())
      return refused({fmt::format("CUPTI lost what it counted of launch {}", i),
                      "update CUPTI, or set KERNEVO_LIBCUPTI to another"});
    run.launches.push_back({request.plan.launches[i].kernel, std::move(found->second)});
  }
  return run;
}

Result<CountedRun> CudaContext::count(const Cupti& cupti, const CudaCountMessage& message,
                                      const Arena& arena) {
  shots_.reset(); // their memory may be needed
  const RunRequest& request = message.run.request;
  KERNEVO_CHECK(check_request(request, arena));
  if (request.plan.launches.empty())
    return CountedRun{};
  if (request.plan.launches.size() > kMostLaunches)
    return refused({fmt::format("the shape takes {} launches, and at most {} are counted",
                                request.plan.launches.size(), kMostLaunches),
                    "name a smaller shape with --case"});
  auto run = try_count(cupti, message, arena);
  if (run)
    return std::move(*run);
  if (!run.error().finding)
    return tl::unexpected<Error>(std::move(*run.error().error));
  CountedRun failed;
  failed.fault = std::move(run.error().finding);
  return failed;
}

} // namespace kernevo
