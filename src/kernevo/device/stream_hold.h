// Holds a stream until all of its work is queued, so that the time between two events is the
// device's alone, however slow the host is at launching.
#pragma once

#include "kernevo/device/cuda_driver.h"

#include <cstdint>
#include <string>

namespace kernevo {

class StreamHold {
public:
  // Of the current context. Where the device can hold no stream, this one does nothing and
  // name() says so.
  static StreamHold make(const CudaDriver& driver);

  // "held by a stream operation", "held by a kernel", "not held".
  const std::string& name() const { return name_; }
  driver::Status close(driver::Stream stream);
  // Lets the stream go on; harmless when it was not held.
  void release();

private:
  const CudaDriver* driver_ = nullptr;
  std::string name_ = "not held";
  std::uint32_t* word_ = nullptr; // host memory that the device sees
  driver::Address address_ = 0;
  driver::Function kernel_ = nullptr; // where streams cannot wait for a value
  std::uint32_t turn_ = 0;
};

} // namespace kernevo
