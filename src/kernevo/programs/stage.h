// A Python that has imported PyTorch and Triton and forks a confined child for each job, so that a
// job costs what it does and not what its imports do, and one that crashes costs nobody else's.
// What is asked and answered is stage_jobs.h.
#pragma once

#include "kernevo/base/message_socket.h"
#include "kernevo/base/result.h"
#include "kernevo/base/temporary_folder.h"

#include <memory>
#include <string>
#include <string_view>

namespace kernevo {

struct StageVersions {
  std::string python;
  std::string torch;
  std::string triton;
};

// Whoever answers requests; a test has one made of a script.
class StageChannel {
public:
  StageChannel() = default;
  StageChannel(const StageChannel&) = delete;
  StageChannel& operator=(const StageChannel&) = delete;
  virtual ~StageChannel() = default;

  // One request and its reply, both JSON. An error is the machine's: the stage is gone, or was late
  // and has been given up. Nothing can be asked of it then.
  virtual Result<std::string> ask(std::string_view request, double seconds) = 0;
};

class Stage : public StageChannel {
public:
  // Takes the seconds that importing PyTorch does.
  static Result<std::unique_ptr<Stage>> start();

  Result<std::string> ask(std::string_view request, double seconds) override;
  const StageVersions& versions() const { return versions_; }

private:
  Stage(TemporaryFolder scratch, FileDescriptor channel)
      : scratch_(std::move(scratch)), channel_(std::move(channel)) {}
  Result<void> meet();

  TemporaryFolder scratch_; // its home
  FileDescriptor channel_;
  StageVersions versions_;
};

} // namespace kernevo
