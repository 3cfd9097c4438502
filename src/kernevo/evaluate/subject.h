// What is judged: something that makes a problem's outputs of its inputs. The ladder, the oracle
// and the comparison know no more of it than this.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/device.h"
#include "kernevo/model/kernel_language.h"
#include "kernevo/model/launch.h"
#include "kernevo/model/task.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kernevo {

// What a run may use and how it is watched.
struct SubjectRun {
  std::vector<TensorBinding> tensors; // in the order of the problem's buffers
  std::uint64_t instruction_budget = 0;
  double seconds = 60;
  Instruments instruments = {};
};

// A subject set up for one problem.
class BoundSubject {
public:
  BoundSubject() = default;
  BoundSubject(const BoundSubject&) = delete;
  BoundSubject& operator=(const BoundSubject&) = delete;
  virtual ~BoundSubject() = default;

  // Of all its launches; 0 where only a run can tell.
  virtual std::uint64_t blocks() const = 0;
  // The same launch by launch; none where only a run can tell.
  virtual std::vector<std::uint64_t> launch_blocks() const { return {}; }
  // The grid whose blocks can be run apart from each other; nothing where no part of the work can.
  virtual std::optional<std::array<std::int64_t, 3>> separable_grid() const = 0;
  // Launches that can be run without the others, on numbers in place of what those would have left:
  // what their threads do to each other shows all the same. Grids, in order; and the scratch that
  // the launches use, to be bound after the tensors.
  virtual std::vector<std::array<std::int64_t, 3>> parts() const { return {}; }
  virtual std::vector<ScratchBuffer> scratch() const { return {}; }
  virtual Result<RunOutcome> run_part(std::size_t, const SubjectRun& run, const Arena& arena) {
    return this->run(run, arena);
  }
  // Result errors are the machine's trouble; what the subject does wrong is in the outcome.
  virtual Result<RunOutcome> run(const SubjectRun& run, const Arena& arena) = 0;
};

class Subject {
public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  virtual KernelLanguage language() const = 0;
  // Its runs take Instruments and note what is written.
  virtual bool instrumented() const = 0;
  // An error is the subject's own: it does not fit the problem. The subject outlives what it binds.
  virtual Result<std::unique_ptr<BoundSubject>> bind(const Problem& problem) = 0;
};

} // namespace kernevo
