// A prepared kernel on a device: launches over PTX as a subject.
#pragma once

#include "kernevo/evaluate/prepare_kernel.h"
#include "kernevo/evaluate/subject.h"

#include <memory>
#include <optional>

namespace kernevo {

// Device and prepared kernel must outlive it.
class KernelSubject final : public Subject {
public:
  KernelSubject(const PreparedKernel& prepared, Build build, std::unique_ptr<LoadedModule> module,
                bool instrumented);

  KernelLanguage language() const override { return prepared_.kernel->language; }
  bool instrumented() const override { return instrumented_; }
  Result<std::unique_ptr<BoundSubject>> bind(const Problem& problem) override;

  const PreparedKernel& prepared() const { return prepared_; }
  LoadedModule& module() const { return *module_; }
  // The device's view of a run of this plan.
  RunRequest request(const LaunchPlan& plan, const SubjectRun& run) const;

private:
  // Blocks may be run apart when nothing they write depends on other blocks.
  bool is_separable(const LaunchPlan& plan);

  const PreparedKernel& prepared_;
  Build build_; // what is loaded
  std::unique_ptr<LoadedModule> module_;
  bool instrumented_;
  std::optional<bool> blocks_may_meet_; // read off the module when it is first asked
};

// Either a subject, or what is wrong with the module.
struct KernelSubjectOutcome {
  std::unique_ptr<KernelSubject> subject;
  std::optional<Finding> refusal;
};

// Loads the prepared build, or another of the same kernel. Room for every shape of the task. A
// module the device has no instruction for is an `unsupported`
// error; one that takes the device down is refused.
Result<KernelSubjectOutcome> load_kernel(Device& device, const PreparedKernel& prepared,
                                         ModuleLimits limits);
Result<KernelSubjectOutcome> load_kernel(Device& device, const PreparedKernel& prepared,
                                         Build build, ModuleLimits limits);

} // namespace kernevo
