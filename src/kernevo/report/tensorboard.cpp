#include "kernevo/report/tensorboard.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace kernevo::report {
namespace {

namespace fs = std::filesystem;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// TensorBoard knows its files by the first word; the rest says whose they are.
constexpr std::string_view kPrefix = "events.out.tfevents.";

std::string suffix_of(const std::string& run) {
  std::string name = run;
  std::replace(name.begin(), name.end(), '/', '_');
  return "." + name + ".kernevo";
}

std::vector<fs::path> own_files(const fs::path& folder, const std::string& run) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::string suffix = suffix_of(run);
    if (name.size() <= kPrefix.size() + suffix.size() || !name.starts_with(kPrefix) ||
        !name.ends_with(suffix))
      continue;
    // Between the two stands a time alone: not the file of a run whose name ends like this one's.
    const std::string time =
        name.substr(kPrefix.size(), name.size() - kPrefix.size() - suffix.size());
    if (time.find_first_not_of("0123456789") == std::string::npos)
      files.push_back(entry.path());
  }
  return files;
}

} // namespace

Result<std::unique_ptr<TensorboardLog>>
TensorboardLog::create(const fs::path& folder, store::Journal& journal, const std::string& run) {
  const std::vector<fs::path> old = own_files(folder, run);
  // TensorBoard counts time from the first record on.
  double began = now_seconds();
  const auto made = static_cast<std::int64_t>(began);
  KERNEVO_CHECK(journal.read(1, [&](const store::StoredEvent& first) {
    began = static_cast<double>(first.milliseconds) / 1e3;
    return false;
  }));
  const fs::path path = folder / fmt::format("{}{:010}{}", kPrefix, made, suffix_of(run));
  KERNEVO_TRY(file, EventFile::create(path, began));
  std::unique_ptr<TensorboardLog> log(new TensorboardLog(path, std::move(file)));
  evolve::RunState state;
  Result<void> written;
  KERNEVO_CHECK(journal.read(1, [&](const store::StoredEvent& stored) {
    state.apply(stored.event);
    written = log->put(stored.event, state, static_cast<double>(stored.milliseconds) / 1e3);
    return written.has_value();
  }));
  KERNEVO_CHECK(written);
  KERNEVO_CHECK(log->file_.flush());
  std::error_code ignored;
  for (const fs::path& one : old)
    if (one != path)
      fs::remove(one, ignored);
  return log;
}

Result<void> TensorboardLog::put(const RunEvent& event, const evolve::RunState& state,
                                 double wall_seconds) {
  ++events_;
  return file_.write(wall_seconds, static_cast<std::int64_t>(step_of(event)),
                     scalars_.take(event, state));
}

void TensorboardLog::show(const RunEvent* event, const evolve::RunProgress& progress) {
  if (event == nullptr || problem_)
    return;
  auto done = put(*event, *progress.state, now_seconds());
  if (done)
    done = file_.flush();
  if (!done)
    problem_ = done.error();
}

} // namespace kernevo::report
