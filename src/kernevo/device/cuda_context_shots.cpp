// Shots: the same plan again and again on buffers that are used in turns.
#include "kernevo/device/cuda_context.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

namespace status = driver::status;

constexpr std::size_t kMostSets = 3;
// No more than this for all sets together, nor than this share of what is free.
constexpr std::uint64_t kMostForSets = std::uint64_t{2} << 30U;
constexpr std::uint64_t kShareForSets = 4;

bool is_kept(const TensorBinding& tensor) {
  return tensor.initialized && !tensor.read_only;
}

} // namespace

CudaContext::Maybe<CudaShotsAnswer> CudaContext::try_prepare(const CudaShotsMessage& message,
                                                             const Arena& arena) {
  Shots shots;
  shots.request = std::make_unique<RunRequest>(message.run.request);
  shots.cold = message.cold;
  const RunRequest& request = *shots.request;
  std::uint64_t bytes = 0;
  for (const TensorBinding& tensor : request.tensors)
    bytes += arena.region(tensor.region).size() + 2 * GuardedMemory::kGuard;
  for (const ScratchBuffer& scratch : request.plan.scratch)
    bytes += scratch.bytes() + 2 * GuardedMemory::kGuard;
  std::size_t available = 0;
  std::size_t total = 0;
  if (const auto done = calls().memory_info(&available, &total); done != status::success)
    return trouble(done, "ask for its memory");
  const std::uint64_t room =
      std::min<std::uint64_t>(kMostForSets, std::uint64_t{available} / kShareForSets);
  // A hot cache needs the same addresses.
  const std::size_t sets =
      shots.cold ? std::clamp<std::size_t>(room / std::max<std::uint64_t>(bytes, 1), 1, kMostSets)
                 : 1;
  for (std::size_t set = 0; set < sets; ++set) {
    auto buffers = allocate(request, arena);
    if (!buffers)
      return tl::unexpected<Trouble>(std::move(buffers.error()));
    for (std::size_t i = 0; i < request.tensors.size(); ++i)
      if (auto done = upload(buffers->all[i], arena.region(request.tensors[i].region)); !done)
        return tl::unexpected<Trouble>(std::move(done.error()));
    shots.sets.push_back(std::move(*buffers));
  }
  for (const TensorBinding& tensor : request.tensors) {
    const std::span<std::byte> region = arena.region(tensor.region);
    shots.inputs.emplace_back();
    shots.original.emplace_back();
    if (tensor.read_only)
      shots.inputs.back().assign(region.begin(), region.end());
    if (!is_kept(tensor))
      continue;
    auto original = GuardedMemory::allocate(driver_, pattern_, region.size());
    if (!original)
      return trouble(original.error(), fmt::format("find {} bytes of memory", region.size()));
    if (auto done = upload(*original, region); !done)
      return tl::unexpected<Trouble>(std::move(done.error()));
    shots.original.back() = shots.originals.size();
    shots.originals.push_back(std::move(*original));
  }
  if (!hold_)
    hold_ = StreamHold::make(driver_);
  shots_ = std::move(shots);
  return CudaShotsAnswer{hold_->name(), static_cast<int>(sets)};
}

Result<CudaShotsAnswer> CudaContext::prepare_shots(const CudaShotsMessage& message,
                                                   const Arena& arena) {
  shots_.reset();
  KERNEVO_CHECK(check_request(message.run.request, arena));
  if (message.run.request.plan.launches.empty())
    return fail(ErrorCode::infrastructure, "there is nothing to time: the plan launches nothing");
  auto answer = try_prepare(message, arena);
  if (answer)
    return std::move(*answer);
  if (answer.error().error)
    return tl::unexpected<Error>(std::move(*answer.error().error));
  return fail(ErrorCode::infrastructure, answer.error().finding->message);
}

CudaContext::Maybe<void> CudaContext::make_fresh(const Buffers& buffers) {
  const Shots& shots = *shots_;
  if (auto done = poison(buffers, *shots.request, false); !done)
    return tl::unexpected<Trouble>(std::move(done.error()));
  for (std::size_t i = 0; i < shots.original.size(); ++i)
    if (shots.original[i] && buffers.all[i].bytes() > 0)
      if (const auto done = calls().copy_within(buffers.all[i].address(),
                                                shots.originals[*shots.original[i]].address(),
                                                buffers.all[i].bytes(), stream_);
          done != status::success)
        return trouble(done, "put a tensor back");
  return {};
}

CudaContext::Maybe<double> CudaContext::try_shot() {
  Shots& shots = *shots_;
  const std::size_t turn = shots.next;
  shots.next = (shots.next + 1) % shots.sets.size();
  const Buffers& buffers = shots.sets[turn];
  if (auto fresh = make_fresh(buffers); !fresh)
    return tl::unexpected<Trouble>(std::move(fresh.error()));
  // Hot caches hold what the same work on the same buffers has left there; what it wrote is made
  // unknown again, so that only the run that is timed can have made the outputs.
  if (!shots.cold) {
    if (auto warm = go(buffers, *shots.request, false, false); !warm)
      return warm;
    if (auto fresh = make_fresh(buffers); !fresh)
      return tl::unexpected<Trouble>(std::move(fresh.error()));
  }
  auto time = go(buffers, *shots.request, true, shots.cold);
  if (!time)
    return time;
  shots.last = turn;
  if (auto whole = check_guards(buffers, *shots.request); !whole)
    return tl::unexpected<Trouble>(std::move(whole.error()));
  return time;
}

Result<CudaShotAnswer> CudaContext::shoot() {
  if (!shots_)
    return fail(ErrorCode::infrastructure, "no shots were prepared");
  auto time = try_shot();
  if (time)
    return CudaShotAnswer{std::nullopt, *time};
  if (time.error().finding)
    return CudaShotAnswer{std::move(time.error().finding), 0};
  return tl::unexpected<Error>(std::move(*time.error().error));
}

Result<const TensorBinding*> CudaContext::part_of_shots(const CudaPartMessage& part) const {
  if (!shots_ || part.tensor >= shots_->request->tensors.size())
    return fail(ErrorCode::infrastructure, "there is no such tensor in these shots");
  const std::uint64_t size = shots_->sets.front().all[part.tensor].bytes();
  if (part.offset > size || part.bytes > size - part.offset)
    return fail(ErrorCode::infrastructure, "the part lies outside its tensor");
  return &shots_->request->tensors[part.tensor];
}

Result<std::string> CudaContext::write(const CudaPartMessage& part, std::string_view bytes) {
  KERNEVO_TRY(tensor, part_of_shots(part));
  if (bytes.size() != part.bytes)
    return fail(ErrorCode::infrastructure, "a part to be written came without its bytes");
  if (bytes.empty())
    return std::string();
  Shots& shots = *shots_;
  if (tensor->read_only)
    std::memcpy(shots.inputs[part.tensor].data() + part.offset, bytes.data(), bytes.size());
  std::vector<const GuardedMemory*> places;
  if (shots.original[part.tensor])
    places.push_back(&shots.originals[*shots.original[part.tensor]]);
  else
    for (const Buffers& set : shots.sets)
      places.push_back(&set.all[part.tensor]);
  for (const GuardedMemory* place : places)
    if (const auto done =
            calls().copy_to_device(place->address() + part.offset, bytes.data(), bytes.size());
        done != status::success) {
      auto what = trouble(done, "write a tensor");
      return what.value().error ? Result<std::string>(tl::unexpected<Error>(*what.value().error))
                                : fail(ErrorCode::infrastructure, what.value().finding->message);
    }
  return std::string();
}

Result<std::string> CudaContext::read(const CudaPartMessage& part) {
  KERNEVO_CHECK(part_of_shots(part));
  if (!shots_->last)
    return fail(ErrorCode::infrastructure, "no shot has been taken");
  std::string bytes(part.bytes, '\0');
  const GuardedMemory& memory = shots_->sets[*shots_->last].all[part.tensor];
  if (!bytes.empty())
    if (const auto done =
            calls().copy_to_host(bytes.data(), memory.address() + part.offset, bytes.size());
        done != status::success) {
      auto what = trouble(done, "read a tensor");
      return what.value().error ? Result<std::string>(tl::unexpected<Error>(*what.value().error))
                                : fail(ErrorCode::infrastructure, what.value().finding->message);
    }
  return bytes;
}

CudaContext::Maybe<void> CudaContext::try_audit() {
  const Shots& shots = *shots_;
  for (const Buffers& set : shots.sets) {
    if (auto whole = check_guards(set, *shots.request); !whole)
      return whole;
    for (std::size_t i = 0; i < shots.inputs.size(); ++i)
      if (shots.request->tensors[i].read_only)
        if (auto kept = check_input(set.all[i], shots.inputs[i], shots.request->tensors[i],
                                    shots.request->plan.launches.back());
            !kept)
          return kept;
  }
  return {};
}

Result<CudaShotAnswer> CudaContext::audit() {
  if (!shots_)
    return fail(ErrorCode::infrastructure, "no shots were prepared");
  auto whole = try_audit();
  if (whole)
    return CudaShotAnswer{};
  if (whole.error().finding)
    return CudaShotAnswer{std::move(whole.error().finding), 0};
  return tl::unexpected<Error>(std::move(*whole.error().error));
}

} // namespace kernevo
