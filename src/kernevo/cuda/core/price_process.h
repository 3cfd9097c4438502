// The price worker's client: starts `kernevo __worker price`, found beside this library, when
// something is first asked.
#pragma once

#include "kernevo/base/message_socket.h"
#include "kernevo/base/result.h"
#include "kernevo/model/launch_price.h"

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace kernevo::cuda {

class PriceProcess {
public:
  explicit PriceProcess(std::string gpu) : gpu_(std::move(gpu)) {}

  // Starts it unless it runs. It is started anew once after it died.
  Result<void> start();
  // Waits for the answer. The module's PTX is sent with its first kernel.
  Result<LaunchPrice> price(std::uint64_t module, const std::vector<std::string>& texts,
                            const std::string& kernel, const LaunchCounts& counts,
                            bool metrics = false);
  // What the assembler makes of a kernel.
  Result<AssembledKernel> kernel(std::uint64_t module, const std::vector<std::string>& texts,
                                 const std::string& kernel);

private:
  Result<void> start_locked();
  Result<PriceAnswer> ask_of_module(std::uint64_t module, const std::vector<std::string>& texts,
                                    PriceRequest request);
  Result<PriceAnswer> ask(const PriceRequest& request);

  std::string gpu_;
  std::mutex mutex_;
  FileDescriptor channel_;
  std::set<std::uint64_t> sent_; // modules
  int starts_ = 0;
};

} // namespace kernevo::cuda
