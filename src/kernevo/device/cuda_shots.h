// Shots on a real GPU: each side in a process of its own, the two in turns, nobody else on the GPU
// as far as we can say.
#pragma once

#include "kernevo/device/cuda_session.h"
#include "kernevo/device/device.h"
#include "kernevo/device/gpu_lease.h"

#include <array>
#include <functional>
#include <memory>

namespace kernevo {

class CudaShots final : public DeviceShots {
public:
  // Asked after every shot: why it is worth nothing. An error ends the shots.
  using Look = std::function<Result<std::vector<std::string>>()>;
  // What an error means for the device.
  using Judge = std::function<Error(Error)>;
  using PutBack = std::function<void(std::unique_ptr<CudaSession>)>;

  static Result<std::unique_ptr<DeviceShots>>
  make(GpuLease lease, std::array<std::unique_ptr<CudaSession>, 2> sides,
       std::array<const Timed*, 2> timed, bool cold, Look look, Judge judge, PutBack put_back);
  ~CudaShots() override;

  Result<Shot> shoot(Side side) override;
  Result<void> write(Side side, std::size_t tensor, std::uint64_t offset,
                     std::span<const std::byte> bytes) override;
  Result<void> read(Side side, std::size_t tensor, std::uint64_t offset,
                    std::span<std::byte> bytes) override;
  std::optional<Fault> fault() const override { return fault_; }
  Result<std::optional<Fault>> audit() override;

private:
  CudaShots(GpuLease lease, std::array<std::unique_ptr<CudaSession>, 2> sides, Look look,
            Judge judge, PutBack put_back);
  Result<CudaSession*> session_of(Side side);

  GpuLease lease_;
  std::array<std::unique_ptr<CudaSession>, 2> sides_;
  Look look_;
  Judge judge_;
  PutBack put_back_;
  std::optional<Fault> fault_;
  bool disturbed_before_ = false;
};

} // namespace kernevo
