// What may be seen of a task and of what came of a kernel, and by whom: the one place that decides
// it. Whatever leaves for a prompt, an agent or a client passes here and comes out as a record of
// the same type with the secrets gone, so that nobody who prints or encodes it can leak them.
//
// A proposer learns of the shapes its kernels are judged on in secret how many cases there were and
// whether they passed; of a fault on one of them its kind. Nothing else that depends on such a
// shape passes.
#pragma once

#include "kernevo/evaluate/audience.h"
#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/compare.h"
#include "kernevo/model/diagnosis.h"
#include "kernevo/model/search_records.h"
#include "kernevo/search/history.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kernevo {

// --- the task

Task visible(Task task, Audience audience);

// The file as its author wrote it; for a proposer without the secret shapes and the comments that
// go with them. An error for what is no task.
Result<std::string> visible_task_text(std::string_view text, const std::string& file,
                                      Audience audience);

// Sizes and attributes that are the same in every shape a kernel will meet, also in those it is not
// shown: what a proposer may rely on.
Dims sizes_in_common(const Task& task);

// What a check runs a kernel at beside the task's own shapes: listed, made smaller, drawn for it.
std::vector<ShapeCase> unseen_shapes(const Task& task, std::span<const ShapeCase> drawn);

// --- a check

// A case as people read it: "37x113 (hidden)".
std::string case_title(const CheckedCase& one);

struct VisibleVerdict {
  Verdict verdict;
  // For a proposer: cases that were run and are not among those of the verdict. Absent when one of
  // them failed, for the number would say which.
  std::optional<std::size_t> hidden_cases;
  std::optional<Diagnosis> diagnosis; // for a proposer: of the fault
};
VisibleVerdict visible(Verdict verdict, std::string_view source, Audience audience);

struct VisibleCheck {
  CheckResult result;
  std::optional<std::size_t> hidden_cases;
  std::optional<Diagnosis> diagnosis;
};
VisibleCheck visible(CheckResult result, std::string_view source, Audience audience);
// For users and clients: the verdict and what it stands on, without the PTX.
std::string to_json(const VisibleCheck& check);

// What is wrong with a kernel, as whoever is to mend it may know it.
Diagnosis diagnose(const Verdict& verdict, std::string_view source);
// When no more is known than this, or no more may be said.
Diagnosis diagnose(FaultKind kind);

// An error that came up on a shape proposers are not shown says so, wherever it goes.
Error of_hidden_case(Error error);
PreparationFault of_hidden_case(PreparationFault fault);
Error visible(Error error, Audience audience);
template <class T> Result<T> visible(Result<T> result, Audience audience) {
  if (!result)
    return tl::unexpected<Error>(visible(std::move(result).error(), audience));
  return result;
}

// --- times and searches

// Only the task's own shapes are timed; a time of another would be a leak.
BenchResult visible(BenchResult result, const Task& task, Audience audience);
WrongKernel visible(WrongKernel wrong, std::string_view source, Audience audience);
search::Trial visible(search::Trial trial, Audience audience);
Evaluation visible(Evaluation evaluation, Audience audience);

// What an option says that makes a command speak as to a proposer.
inline constexpr const char* kBlindHelp =
    "Say nothing of hidden shapes but how many there are and whether they passed: for whoever "
    "writes the kernel";

} // namespace kernevo
