// The task's reference kernel in float64: what it would answer without rounding errors.
#pragma once

#include "kernevo/evaluate/reference_oracle.h"
#include "kernevo/kernel/kernel_file.h"

#include <memory>
#include <span>
#include <vector>

namespace kernevo {

class WideReference {
public:
  WideReference() = default;
  WideReference(const WideReference&) = delete;
  WideReference& operator=(const WideReference&) = delete;
  virtual ~WideReference() = default;

  // By buffer; empty for inputs and for integers.
  struct Runs {
    std::vector<std::vector<double>> values;  // beyond its type's range: infinite
    std::vector<std::vector<double>> effects; // of changed inputs and of approximated functions
  };
  // `inputs` are those of the reference itself. An input error is one of the widened kernel, which
  // need not work everywhere.
  virtual Result<Runs> run(const CaseInputs& inputs, const ReferenceLimits& limits) = 0;
};

// Whether its floating arguments are all narrower than float64.
bool can_be_widened(const Task& task);

// Nothing where the kernel cannot be widened, or computes in float64.
Result<std::unique_ptr<WideReference>> make_wide_reference(Device& device, const Task& task,
                                                           const KernelFile& kernel,
                                                           std::span<const ShapeCase> unseen);

} // namespace kernevo
