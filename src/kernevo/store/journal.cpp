#include "kernevo/store/journal.h"

#include "kernevo/base/hash.h"
#include "kernevo/base/one_line.h"

#include <chrono>
#include <fmt/format.h>
#include <set>

namespace kernevo::store {
namespace {

constexpr std::size_t kHashShown = 12;

std::int64_t now_milliseconds() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string shown(const std::string& hash) {
  return one_line(std::string_view(hash).substr(0, kHashShown), kHashShown);
}

} // namespace

std::string reference_of(const RunEvent& event) {
  if (const auto* started = std::get_if<RunStarted>(&event))
    return started->task;
  if (const auto* candidate = std::get_if<Candidate>(&event))
    return candidate->source;
  if (const auto* attempt = std::get_if<Attempt>(&event))
    return attempt->source;
  if (const auto* evaluation = std::get_if<Evaluation>(&event))
    return evaluation->profile;
  return {};
}

Result<void> Journal::append(const RunEvent& event, const Blobs& blobs,
                             std::optional<double> seconds) {
  Entry entry{now_milliseconds(), seconds, event, {}};
  for (const std::string& body : blobs)
    entry.blobs.emplace_back(sha256_hex(body), body);
  return commit(entry);
}

Result<std::string> Journal::blob(const std::string& hash) {
  KERNEVO_TRY(body, load_blob(hash));
  if (!body)
    return fail(ErrorCode::input, fmt::format("blob {} is missing", shown(hash)), Place{location_});
  if (sha256_hex(*body) != hash)
    return fail(ErrorCode::input, fmt::format("blob {} is damaged", shown(hash)), Place{location_});
  return std::move(*body);
}

Result<std::optional<StepRow>> Journal::step(Step step) {
  KERNEVO_TRY(rows, steps(step, 1));
  if (rows.empty() || rows.front().step != step)
    return std::nullopt;
  return std::optional(std::move(rows.front()));
}

template <class Event>
Result<std::optional<Event>> Journal::first_of_step(Step step, std::string_view kind) {
  KERNEVO_TRY(events, events_of_step(step, kind));
  return events.empty() ? std::nullopt : std::optional(std::get<Event>(std::move(events.front())));
}

template <class Event>
Result<std::vector<Event>> Journal::all_of_step(Step step, std::string_view kind) {
  KERNEVO_TRY(events, events_of_step(step, kind));
  std::vector<Event> all;
  for (RunEvent& event : events)
    all.push_back(std::get<Event>(std::move(event)));
  return all;
}

Result<std::optional<Evaluation>> Journal::evaluation(Step step) {
  return first_of_step<Evaluation>(step, "evaluation");
}

Result<std::optional<Candidate>> Journal::candidate(Step step) {
  return first_of_step<Candidate>(step, "candidate");
}

Result<std::optional<Directive>> Journal::directive(Step step) {
  return first_of_step<Directive>(step, "directive");
}

Result<std::vector<Attempt>> Journal::attempts(Step step) {
  return all_of_step<Attempt>(step, "attempt");
}

Result<std::vector<ModelCall>> Journal::calls(Step step) {
  return all_of_step<ModelCall>(step, "model_call");
}

Result<Journal::BlobAudit> Journal::audit_blobs() {
  std::set<std::string> wanted;
  KERNEVO_CHECK(read(1, [&](const StoredEvent& stored) {
    if (std::string hash = reference_of(stored.event); !hash.empty())
      wanted.insert(std::move(hash));
    return true;
  }));
  KERNEVO_TRY(hashes, blob_hashes());
  BlobAudit audit;
  for (std::string& hash : hashes)
    if (wanted.erase(hash) == 0)
      audit.orphans.push_back(std::move(hash));
  audit.missing.assign(wanted.begin(), wanted.end());
  return audit;
}

} // namespace kernevo::store
