#include "kernevo/device/cuda_shots.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo {

CudaShots::CudaShots(GpuLease lease, std::array<std::unique_ptr<CudaSession>, 2> sides, Look look,
                     Judge judge, PutBack put_back)
    : lease_(std::move(lease)), sides_(std::move(sides)), look_(std::move(look)),
      judge_(std::move(judge)), put_back_(std::move(put_back)) {}

CudaShots::~CudaShots() {
  for (std::unique_ptr<CudaSession>& session : sides_)
    if (session != nullptr)
      put_back_(std::move(session));
}

Result<std::unique_ptr<DeviceShots>>
CudaShots::make(GpuLease lease, std::array<std::unique_ptr<CudaSession>, 2> sides,
                std::array<const Timed*, 2> timed, bool cold, Look look, Judge judge,
                PutBack put_back) {
  for (std::size_t side = 0; side < sides.size(); ++side)
    if (sides.at(side) != nullptr)
      if (auto ready =
              sides.at(side)->prepare_shots(*timed.at(side)->request, *timed.at(side)->arena, cold);
          !ready)
        return tl::unexpected<Error>(judge(std::move(ready).error()));
  std::unique_ptr<CudaShots> shots(new CudaShots(
      std::move(lease), std::move(sides), std::move(look), std::move(judge), std::move(put_back)));
  KERNEVO_TRY(disturbances, shots->look_());
  shots->disturbed_before_ = !disturbances.empty();
  return shots;
}

Result<CudaSession*> CudaShots::session_of(Side side) {
  CudaSession* session = sides_.at(static_cast<std::size_t>(side)).get();
  if (session == nullptr)
    return fail(ErrorCode::infrastructure, "there is no candidate in these shots");
  return session;
}

Result<Shot> CudaShots::shoot(Side side) {
  KERNEVO_TRY(session, session_of(side));
  if (fault_)
    return fail(ErrorCode::infrastructure, fault_->finding.message);
  auto answer = session->shoot();
  if (!answer)
    return tl::unexpected<Error>(judge_(std::move(answer).error()));
  if (answer->fault) {
    fault_ = Fault{side, std::move(*answer->fault)};
    return fail(ErrorCode::infrastructure, fault_->finding.message);
  }
  // What was wrong before or after a shot may have been wrong during it.
  KERNEVO_TRY(disturbances, look_());
  const bool disturbed = !disturbances.empty();
  const Shot shot{{answer->nanoseconds}, disturbed || disturbed_before_};
  disturbed_before_ = disturbed;
  return shot;
}

Result<void> CudaShots::write(Side side, std::size_t tensor, std::uint64_t offset,
                              std::span<const std::byte> bytes) {
  KERNEVO_TRY(session, session_of(side));
  auto done = session->write({tensor, offset, bytes.size()}, bytes);
  if (!done)
    return tl::unexpected<Error>(judge_(std::move(done).error()));
  return {};
}

Result<void> CudaShots::read(Side side, std::size_t tensor, std::uint64_t offset,
                             std::span<std::byte> bytes) {
  KERNEVO_TRY(session, session_of(side));
  auto done = session->read({tensor, offset, bytes.size()}, bytes);
  if (!done)
    return tl::unexpected<Error>(judge_(std::move(done).error()));
  return {};
}

Result<std::optional<DeviceShots::Fault>> CudaShots::audit() {
  if (fault_)
    return fault_;
  for (const Side side : {Side::incumbent, Side::candidate}) {
    CudaSession* session = sides_.at(static_cast<std::size_t>(side)).get();
    if (session == nullptr)
      continue;
    auto answer = session->audit();
    if (!answer)
      return tl::unexpected<Error>(judge_(std::move(answer).error()));
    if (answer->fault) {
      fault_ = Fault{side, std::move(*answer->fault)};
      return fault_;
    }
  }
  return std::optional<Fault>();
}

} // namespace kernevo
