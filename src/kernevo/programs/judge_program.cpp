#include "kernevo/programs/judge_program.h"

#include "kernevo/base/files.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/programs/price_program.h"
#include "kernevo/programs/same_work.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

// What the virtual GPU does in a second on two ordinary cores.
constexpr double kFlopsPerSecond = 1e9;
constexpr double kElementsPerSecond = 5e7;

constexpr int kMostWarmUps = 3;
constexpr double kSanitized = 20; // times as long, with every sanitizer

double seconds_whole(const ProgramCase& one) {
  return one.flops / kFlopsPerSecond + static_cast<double>(one.bytes()) / 4 / kElementsPerSecond;
}

// What is wrong with a program on one case.
struct CaseFault {
  FaultKind kind = FaultKind::correctness_mismatch;
  FaultClass fault_class = FaultClass::candidate;
  Rung rung = Rung::small_shapes;
  std::string summary;
  std::vector<Diagnostic> diagnostics;
  std::optional<Finding> finding;
  std::optional<Mismatch> mismatch;
};

CaseFault fault_of(const StageFault& fault, Rung running) {
  CaseFault made;
  made.kind = *charged_with(fault.kind);
  made.rung = rung_of(fault.kind, running);
  made.summary = fault.text;
  if (fault.where) {
    made.summary = format_error({ErrorCode::input, fault.text, fault.where, ""});
    made.diagnostics.push_back({Diagnostic::Severity::error, *fault.where, fault.text});
  }
  for (const std::string& line : fault.detail)
    made.diagnostics.push_back({Diagnostic::Severity::note, fault.where.value_or(Place{}), line});
  return made;
}

std::optional<FindingKind> finding_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(FindingKind::crash); ++i)
    if (name_of(static_cast<FindingKind>(i)) == name)
      return static_cast<FindingKind>(i);
  return std::nullopt;
}

// The program's name without the folders it was compiled in.
std::string without_folders(std::string text, const fs::path& program) {
  const std::string name = program.filename().string();
  for (std::size_t at = text.find('/' + name); at != std::string::npos;
       at = text.find('/' + name, at + 1)) {
    const std::size_t begin = text.rfind(' ', at);
    const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
    text.erase(first, at + 1 - first);
    at = first;
  }
  return text;
}

CaseFault fault_of(const ReplayFinding& found, const fs::path& program, Rung running) {
  CaseFault made;
  made.rung = running;
  const auto kind = finding_named(found.kind);
  made.kind = kind ? kernevo::fault_of(*kind) : FaultKind::candidate_runtime_error;
  made.summary = without_folders(found.text, program);
  Finding finding;
  finding.kind = kind.value_or(FindingKind::crash);
  finding.message = made.summary;
  finding.kernel = found.kernel;
  made.finding = std::move(finding);
  return made;
}

std::string index_text(const std::vector<std::int64_t>& index) {
  std::string text;
  for (const std::int64_t i : index)
    text += fmt::format("{}{}", text.empty() ? " at [" : ", ", i);
  return text.empty() ? text : text + "]";
}

struct Care {
  bool every_kind = false; // of inputs, not the task's own alone
  bool sanitize = false;
  bool last_chance = false; // it has failed at other sizes
  bool price = false;
};

class ProgramLadder {
public:
  ProgramLadder(StageJobs& jobs, const ProgramCheckOptions& options, std::string source, Gpu gpu,
                fs::path place)
      : jobs_(jobs), options_(options), source_(std::move(source)), gpu_(std::move(gpu)),
        place_(std::move(place)) {
    check_.language = language_of_program(source_);
  }

  Result<ProgramCheck> climb() {
    KERNEVO_TRY(described, jobs_.describe(options_.task));
    if (!described)
      return tl::unexpected<Error>(of_task(described.error()));
    check_.task = std::move(*described);
    for (const std::string& warning : check_.task.warnings)
      warn(warning);
    // Where the task's own sizes are too large, what smaller ones take is what they are held
    // against.
    const Care small{.every_kind = true,
                     .sanitize = true,
                     .price = !options_.small_only && !fits(*check_.task.find(CaseKind::real))};
    for (const CaseKind kind : {CaseKind::small, CaseKind::odd})
      if (const ProgramCase* one = check_.task.find(kind)) {
        KERNEVO_TRY(fault, judge(*one, Rung::small_shapes, small));
        if (fault)
          return retried_at_own_sizes(std::move(*fault));
      }
    if (!options_.small_only) {
      KERNEVO_TRY(fault, judge_large());
      if (fault)
        return failed(std::move(*fault));
    }
    return concluded();
  }

private:
  // Nobody but the task or the machine is to blame.
  Error of_task(const StageFault& fault) const {
    Error error = error_of(fault);
    if (charged_with(fault.kind)) {
      error.code = ErrorCode::input;
      error.message = fmt::format("the reference of '{}' does not run: {}",
                                  options_.task.file.filename().string(), fault.text);
    }
    return error;
  }

  void warn(std::string text) {
    auto& warnings = check_.verdict.warnings;
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end())
      warnings.push_back(std::move(text));
  }

  double patience() const { return options_.patience_minutes * 60; }
  // Whether it can be run whole. Inputs, decoys, a snapshot, what is expected and what came: six
  // copies.
  bool fits(const ProgramCase& one) const {
    return one.bytes() * 6 <= options_.task.memory && seconds_whole(one) <= patience() / 4;
  }

  // The task's own sizes where this machine can run them, else the nearest, and a look at whether
  // the program does the same at its own.
  Result<std::optional<CaseFault>> judge_large() {
    const ProgramCase& real = *check_.task.find(CaseKind::real);
    if (fits(real))
      return judge(real, Rung::real_shapes, {.price = options_.price});
    for (const CaseKind kind : {CaseKind::middle, CaseKind::scaled}) {
      const ProgramCase* one = check_.task.find(kind);
      if (one == nullptr || !fits(*one))
        continue;
      KERNEVO_TRY(fault, judge(*one, Rung::real_shapes, {.price = true}));
      if (fault)
        return std::optional(std::move(*fault));
    }
    if (priced_ != nullptr)
      return same_at(real, *priced_);
    unproven_ = fmt::format("the task's own sizes ({}) are too large for this machine, and none of "
                            "the task's sizes could be made smaller",
                            real.inputs);
    return std::optional<CaseFault>();
  }

  Result<std::optional<CaseFault>> same_at(const ProgramCase& real, const ProgramCase& judged) {
    observe(fmt::format("the task's own sizes, {}", real.inputs));
    KERNEVO_TRY(own, price_program(jobs_, slow(real), options_.program, real, fresh_place()));
    if (!own)
      return blame(own.error(), Rung::real_shapes);
    const ProgramPrice& seen = *check_.price; // of what was found right
    std::string why = !own->unpriced.empty() ? own->unpriced : seen.unpriced;
    if (why.empty())
      why = why_not_same_work({&judged, &seen}, {&real, &*own}, gpu_,
                              options_.task.precision != "fp32" || options_.task.allow_tf32);
    if (!why.empty()) {
      unproven_ = why;
    } else {
      check_.price = std::move(*own);
      warn(fmt::format("the task's own sizes ({}) were priced and not run: it was judged up to {}",
                       real.inputs, judged.inputs));
    }
    return std::optional<CaseFault>();
  }

  Result<std::optional<CaseFault>> blame(const StageFault& fault, Rung rung) const {
    if (!charged_with(fault.kind))
      return tl::unexpected<Error>(error_of(fault));
    return std::optional(fault_of(fault, rung));
  }

  ProgramTask slow(const ProgramCase& one) const {
    ProgramTask task = options_.task;
    task.seconds = std::max(task.seconds, std::min(patience(), 4 * seconds_whole(one)));
    return task;
  }

  fs::path fresh_place() {
    const fs::path place = place_ / fmt::format("{}", ++places_);
    std::error_code ignored;
    fs::create_directories(place, ignored);
    return place;
  }

  void observe(const std::string& what) const {
    if (options_.observe)
      options_.observe(what);
  }

  Result<std::optional<CaseFault>> judge(const ProgramCase& one, Rung rung, Care care) {
    check_.verdict.rung = rung;
    observe(fmt::format("{} sizes, {}", name_of(one.kind), one.inputs));
    const ProgramTask task = slow(one);
    const fs::path place = fresh_place();
    KERNEVO_TRY(prepared, jobs_.prepare(task, one, care.every_kind, place));
    if (!prepared)
      return tl::unexpected<Error>(of_task(prepared.error()));
    if (!prepared->trivial.empty())
      warn(fmt::format("case {} cannot tell right from wrong: {}", one.id, prepared->trivial));
    KERNEVO_TRY(recorded, record(task, *prepared, care.last_chance, place));
    if (!recorded)
      return blame(recorded.error(), rung);
    take(*recorded);
    if (options_.require_kernels && recorded->launches == 0)
      return std::optional(CaseFault{FaultKind::interface_contract_error,
                                     FaultClass::candidate,
                                     rung,
                                     "it launches no kernel of its own: all it does is "
                                     "torch's",
                                     {},
                                     {},
                                     {}});
    for (const InputVariant& variant : prepared->variants) {
      if (!variant.used)
        continue;
      KERNEVO_TRY(fault, judge_variant(task, one, variant, *recorded, rung, care.sanitize, place));
      if (fault)
        return std::optional(std::move(*fault));
    }
    if (care.price) {
      // The work that was found right, and no other, is what it is paid for.
      KERNEVO_TRY(
          price, price_recording(jobs_, task, *recorded, prepared->variants.front().inputs, place));
      if (!price)
        return blame(price.error(), rung);
      check_.price = std::move(*price);
      priced_ = &one;
    }
    std::error_code ignored;
    fs::remove_all(place, ignored);
    return std::optional<CaseFault>();
  }

  Result<Answer<Recording>> record(const ProgramTask& task, const PreparedCase& prepared,
                                   bool last_chance, const fs::path& place) {
    // Another number of calls before it each time: who counts calls cannot know which one it is.
    const int drawn = 1 + (places_ + static_cast<int>(task.secret % kMostWarmUps)) % kMostWarmUps;
    const int warm_ups = last_chance ? kMostWarmUps : drawn;
    KERNEVO_TRY(recorded, jobs_.record(task, options_.program, prepared, warm_ups, false, place));
    if (!recorded || !recorded->reads_back)
      return std::move(recorded);
    // What it does depends on what it reads: then it must be there.
    return jobs_.record(task, options_.program, prepared, warm_ups, true, place);
  }

  void take(const Recording& recording) {
    check_.launches = recording.launches;
    check_.operators = recording.operators;
    if (check_.verdict.printed.empty())
      check_.verdict.printed = recording.printed;
    for (const std::string& note : recording.notes)
      if (std::find(check_.notes.begin(), check_.notes.end(), note) == check_.notes.end())
        check_.notes.push_back(note);
  }

  Result<std::optional<CaseFault>> judge_variant(const ProgramTask& task, const ProgramCase& one,
                                                 const InputVariant& variant,
                                                 const Recording& recording, Rung rung,
                                                 bool sanitize, const fs::path& place) {
    CheckedCase record;
    record.case_id = one.id;
    record.distribution = variant.name;
    record.seed = task.secret;
    record.elements = one.outputs;
    record.elements_checked = 0;
    KERNEVO_TRY(replayed, jobs_.replay(task, recording, variant.inputs,
                                       sanitize ? ReplayMode::sanitize : ReplayMode::whole, place));
    std::optional<CaseFault> fault;
    if (!replayed) {
      if (!charged_with(replayed.error().kind))
        return tl::unexpected<Error>(error_of(replayed.error()));
      fault = fault_of(replayed.error(), rung);
    } else if (!replayed->findings.empty()) {
      fault = fault_of(replayed->findings.front(), options_.program.file, rung);
    } else {
      KERNEVO_TRY(compared,
                  jobs_.compare(task, variant.expected, replayed->outputs, replayed->narrow));
      if (!compared)
        return blame(compared.error(), rung);
      record.elements_checked = compared->elements;
      record.worst_error_ratio = compared->worst_ratio;
      if (!compared->right)
        fault = mismatch(one, variant, *compared, recording, rung);
    }
    check_.verdict.cases.push_back(record);
    return fault;
  }

  static CaseFault mismatch(const ProgramCase& one, const InputVariant& variant,
                            const OutputComparison& compared, const Recording& recording,
                            Rung rung) {
    CaseFault fault;
    fault.rung = rung;
    fault.mismatch = compared.worst;
    const std::string where =
        compared.worst ? fmt::format("output {}{} is {:.6g}, expected {:.6g} within {:.3g}",
                                     compared.worst->buffer, index_text(compared.worst->index),
                                     compared.worst->actual, compared.worst->expected,
                                     compared.worst->tolerance)
        : !compared.text.empty() ? compared.text
                                 : "the results differ in number, shape or type";
    fault.summary =
        fmt::format("case {} ({}), {} inputs: {}", one.id, one.inputs, variant.name, where);
    if (recording.reads_back) {
      // Recorded on other inputs, what it does may not be what it would do on these.
      fault.kind = FaultKind::unproven;
      fault.fault_class = FaultClass::ambiguous;
      fault.summary = "it reads results back while it runs, and what it does then cannot be held "
                      "against other inputs: " +
                      fault.summary;
    }
    return fault;
  }

  // Programs may be made for the task's own sizes alone, or for such as are like them. Then those
  // decide, or the nearest that this machine can run.
  Result<ProgramCheck> retried_at_own_sizes(CaseFault small) {
    if (small.rung == Rung::parse || small.rung == Rung::compile || options_.small_only)
      return failed(std::move(small));
    const ProgramCase& real = *check_.task.find(CaseKind::real);
    const ProgramCase* const nearest = nearest_to_real();
    if (nearest == nullptr)
      return failed(unproven_where_it_names_its_size(std::move(small), real));
    std::vector<CheckedCase> before = std::exchange(check_.verdict.cases, {});
    // All that small sizes are judged by is left to them.
    const Care care{.every_kind = true,
                    .sanitize = kSanitized * seconds_whole(*nearest) <= patience(),
                    .last_chance = true,
                    .price = options_.price || nearest != &real};
    KERNEVO_TRY(fault, judge(*nearest, Rung::real_shapes, care));
    if (!fault) {
      warn(fmt::format("made for the task's own sizes, or such as are like them: {}",
                       small.summary));
      if (nearest != &real) {
        KERNEVO_TRY(other, same_at(real, *nearest));
        if (other)
          return failed(std::move(*other));
      }
      return concluded();
    }
    // Where it fails alike, small sizes show it best; else what it is made for counts.
    if (nearest == &real && fault->kind != small.kind)
      return failed(std::move(*fault));
    check_.verdict.cases = std::move(before);
    return failed(nearest == &real ? std::move(small)
                                   : unproven_where_it_names_its_size(std::move(small), real));
  }

  // The task's own sizes, or the largest below that this machine can run; null where there are none
  // but those that failed.
  const ProgramCase* nearest_to_real() const {
    for (const CaseKind kind : {CaseKind::real, CaseKind::scaled, CaseKind::middle})
      if (const ProgramCase* one = check_.task.find(kind); one != nullptr && fits(*one))
        return one;
    return nullptr;
  }

  CaseFault unproven_where_it_names_its_size(CaseFault fault, const ProgramCase& real) const {
    if (!names_own_size(real))
      return fault;
    fault.fault_class = FaultClass::ambiguous;
    fault.kind = FaultKind::unproven;
    fault.summary =
        fmt::format("it seems to be made for the task's own sizes alone ({}), which are "
                    "too large to run here: {}",
                    real.inputs, fault.summary);
    return fault;
  }

  // One that the nearest case does not have. Small powers of two are sizes of blocks, too.
  bool names_own_size(const ProgramCase& real) const {
    const ProgramCase* const nearest = nearest_to_real();
    const ProgramCase& other = nearest != nullptr ? *nearest : check_.task.cases.front();
    return std::ranges::any_of(real.extents, [&](std::int64_t extent) {
      const bool block = extent <= 1024 && std::has_single_bit(static_cast<std::uint64_t>(extent));
      return extent >= 16 && !block &&
             std::ranges::find(other.extents, extent) == other.extents.end() &&
             names_number(source_, extent);
    });
  }

  ProgramCheck failed(CaseFault fault) {
    Verdict& verdict = check_.verdict;
    verdict.correct = false;
    verdict.rung = fault.rung;
    verdict.fault = fault.kind;
    verdict.fault_class = fault.fault_class;
    verdict.summary = std::move(fault.summary);
    verdict.diagnostics = std::move(fault.diagnostics);
    verdict.finding = std::move(fault.finding);
    verdict.mismatch = std::move(fault.mismatch);
    if (!verdict.cases.empty() && (verdict.finding || verdict.mismatch))
      verdict.failing_case = verdict.cases.back();
    return std::move(check_);
  }

  ProgramCheck concluded() {
    Verdict& verdict = check_.verdict;
    if (verdict.cases.empty() && unproven_.empty())
      unproven_ = "no case of the task could be run";
    if (!unproven_.empty())
      return failed(
          {FaultKind::unproven, FaultClass::ambiguous, verdict.rung, unproven_, {}, {}, {}});
    double worst = 0;
    std::uint64_t elements = 0;
    for (const CheckedCase& one : verdict.cases) {
      worst = std::max(worst, one.worst_error_ratio);
      elements += one.elements_checked.value_or(0);
    }
    verdict.correct = true;
    if (!options_.price)
      check_.price.reset();
    verdict.summary = fmt::format(
        "correct on {} cases, {} elements compared, worst error {:.0f} % of its tolerance",
        verdict.cases.size(), elements, worst * 100);
    if (check_.launches == 0)
      warn("it launches no kernel of its own: all it does is torch's");
    return std::move(check_);
  }

  StageJobs& jobs_;
  const ProgramCheckOptions& options_;
  std::string source_;
  Gpu gpu_;
  fs::path place_;
  ProgramCheck check_;
  std::string unproven_;                // why
  const ProgramCase* priced_ = nullptr; // the last of those that were found right and priced
  int places_ = 0;
};

} // namespace

Result<ProgramCheck> check_program(StageJobs& jobs, const ProgramCheckOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  KERNEVO_TRY(source, read_text_file(options.program.file));
  KERNEVO_TRY(gpu, find_gpu(options.task.gpu));
  KERNEVO_TRY(scratch, TemporaryFolder::make());
  KERNEVO_TRY(check, ProgramLadder(jobs, options, source, std::move(gpu), scratch.path()).climb());
  check.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::move(check);
}

} // namespace kernevo
