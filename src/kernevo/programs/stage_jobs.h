// What can be asked of the stage, as records. The other side is python/kernevo_judge.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/program_report.h"
#include "kernevo/model/verdict.h"
#include "kernevo/programs/stage.h"
#include "kernevo/programs/stage_fault.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

// Result errors are the machine's; what a job found wrong is its answer's error.
template <class T> using Answer = tl::expected<T, StageFault>;

// A task file in KernelBench's format, and how it is judged.
struct ProgramTask {
  std::filesystem::path file;
  std::string precision = "fp32"; // fp16, bf16
  std::string mode;               // "train" or "eval"; empty: the task's own
  bool allow_tf32 = false;
  std::string gpu = "A100";
  std::uint64_t seed = 1;   // of weights and decoys: candidates see what it makes
  std::uint64_t secret = 1; // of what they are judged on
  std::uint64_t memory = std::uint64_t{8} << 30U; // bytes of tensors that this machine takes
  double seconds = 60;                            // of one job
  double build_seconds = 300;                     // of a program's extensions, beside the job's own
};

// Both its seeds from one; what candidates see does not tell the secret.
void seed_task(ProgramTask& task, std::uint64_t secret);

enum class CaseKind {
  small,
  odd, // sizes that nothing divides
  middle,
  scaled, // the task's own made smaller until they fit this machine
  real,   // the task's own
};
std::string_view name_of(CaseKind kind);

struct ProgramCase {
  std::string id;
  CaseKind kind = CaseKind::small;
  std::string globals;               // JSON: the sizes of the task file and what they are here
  std::string inputs;                // for people: "16x1024 float32, 3"
  std::vector<std::int64_t> extents; // of the inputs, all of them
  std::uint64_t outputs = 0;         // elements
  std::uint64_t input_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t output_bytes = 0;
  double flops = 0;

  std::uint64_t bytes() const { return input_bytes + weight_bytes + output_bytes; }
};

struct TaskDescription {
  std::vector<ProgramCase> cases; // one of them real
  bool float64 = false;           // the oracle's arithmetic
  std::string mode;
  std::vector<std::string> warnings;

  const ProgramCase* find(CaseKind kind) const;
};

// A set of inputs to judge with, and what is expected of them.
struct InputVariant {
  std::string name;
  bool used = false;
  std::string why; // not
  std::filesystem::path inputs;
  std::filesystem::path expected;
};

struct PreparedCase {
  std::vector<InputVariant> variants;
  std::string trivial; // why right and wrong cannot be told apart; empty where they can
  std::filesystem::path init;
  std::filesystem::path decoy;
};

struct ProgramClass {
  std::filesystem::path file;
  std::string name = "ModelNew";
};

// What one call of a program asks of the GPU.
struct Recording {
  std::string record; // as it was said: for the replay, which trusts nothing of it
  bool reads_back = false;
  std::uint64_t launches = 0;
  std::uint64_t operators = 0;
  std::string printed;
  std::vector<std::string> notes;
};

enum class ReplayMode { sanitize, whole, priced };
std::string_view name_of(ReplayMode mode);

struct ReplayFinding {
  std::string kind; // of FindingKind, or another word
  std::string text;
  std::string kernel;
};

struct Replayed {
  std::filesystem::path outputs; // empty where nothing was computed
  std::vector<ReplayFinding> findings;
  bool narrow = true; // it computes with numbers of less than 32 bits
  ProgramReport report;
};

struct OutputComparison {
  bool right = false;
  std::optional<Mismatch> worst;
  double worst_ratio = 0; // error / tolerance
  std::uint64_t elements = 0;
  std::string text; // where numbers cannot say it: another shape, type or structure
};

struct BenchmarkProblem {
  std::filesystem::path file;
  std::string name;
  int id = 0;
};

// Asks one stage, which is started when it is first needed, and again when it has ended.
class StageJobs {
public:
  // nullptr: a Stage of its own.
  explicit StageJobs(std::unique_ptr<StageChannel> channel = nullptr)
      : channel_(std::move(channel)) {}

  Result<Answer<BenchmarkProblem>> find_problem(const std::filesystem::path& checkout, int level,
                                                const std::string& problem);
  Result<Answer<std::vector<BenchmarkProblem>>> list_problems(const std::filesystem::path& checkout,
                                                              int level);
  Result<Answer<TaskDescription>> describe(const ProgramTask& task);
  // With inputs of every kind, or the task's own alone.
  Result<Answer<PreparedCase>> prepare(const ProgramTask& task, const ProgramCase& one,
                                       bool every_kind, const std::filesystem::path& place);
  // Shapes alone, for pricing at sizes that nobody could fill.
  Result<Answer<PreparedCase>> prepare_shapes(const ProgramTask& task, const ProgramCase& one,
                                              const std::filesystem::path& place);
  // After so many calls that count for nothing. `execute`: what it asks of the GPU is also done,
  // for programs that look at results.
  Result<Answer<Recording>> record(const ProgramTask& task, const ProgramClass& program,
                                   const PreparedCase& prepared, int warm_ups, bool execute,
                                   const std::filesystem::path& place);
  // `inputs` empty: none are put in place.
  Result<Answer<Replayed>> replay(const ProgramTask& task, const Recording& recording,
                                  const std::filesystem::path& inputs, ReplayMode mode,
                                  const std::filesystem::path& place);
  // `narrow`: the tolerance is one that such numbers cannot meet where the task has wider ones.
  Result<Answer<OutputComparison>> compare(const ProgramTask& task,
                                           const std::filesystem::path& expected,
                                           const std::filesystem::path& outputs, bool narrow);

private:
  // The reply of a request given as JSON text without its number.
  Result<Answer<std::string>> ask(const std::string& request, double seconds);
  Result<Answer<PreparedCase>> prepare(const ProgramTask& task, const ProgramCase& one,
                                       const std::filesystem::path& place, bool every_kind,
                                       bool values);

  std::unique_ptr<StageChannel> channel_;
  std::uint64_t asked_ = 0;
};

} // namespace kernevo
