#include "memory_store.h"

#include <fmt/format.h>

namespace kernevo::store {

// Events are kept as text, as a disk would have them.
struct MemoryStore::Run {
  struct Event {
    std::int64_t milliseconds = 0;
    std::optional<double> seconds;
    std::string kind;
    Step step = 0;
    std::string body;
  };

  std::mutex mutex;
  std::vector<Event> events;
  std::map<Step, StepRow> steps;
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> memo;
  std::optional<Journal::Snapshot> snapshot;
  bool written = false; // by somebody, now
  bool drop_next = false;
};

namespace {

using Run = MemoryStore::Run;

std::string location_of(const std::string& run) {
  return "memory://" + run;
}

std::optional<Step> first_step(const Run& run, std::string StepRow::* field,
                               const std::string& value, Step before) {
  for (const auto& [step, row] : run.steps)
    if (step < before && row.*field == value)
      return step;
  return std::nullopt;
}

class MemoryJournal : public Journal {
public:
  MemoryJournal(const std::string& name, std::shared_ptr<Run> run, Access access)
      : Journal(location_of(name), std::filesystem::temp_directory_path()), run_(std::move(run)),
        writes_(access == Access::write) {}
  ~MemoryJournal() override {
    const std::lock_guard lock(run_->mutex);
    run_->written = run_->written && !writes_;
  }

  std::int64_t events() const override {
    const std::lock_guard lock(run_->mutex);
    return static_cast<std::int64_t>(run_->events.size());
  }

  Result<void> read(std::int64_t from,
                    const std::function<bool(const StoredEvent&)>& take) override {
    for (auto number = from;; ++number) {
      Run::Event stored;
      {
        const std::lock_guard lock(run_->mutex);
        if (static_cast<std::size_t>(number) > run_->events.size())
          return {};
        stored = run_->events[static_cast<std::size_t>(number - 1)];
      }
      KERNEVO_TRY(event, event_from_json(stored.kind, stored.body));
      if (!take({number, stored.milliseconds, stored.seconds, std::move(event)}))
        return {};
    }
  }

  Result<std::vector<StepRow>> steps(Step from, std::size_t limit) override {
    const std::lock_guard lock(run_->mutex);
    std::vector<StepRow> rows;
    for (auto row = run_->steps.lower_bound(from); row != run_->steps.end() && rows.size() < limit;
         ++row)
      rows.push_back(row->second);
    return rows;
  }

  Result<std::optional<Step>> find_source(const std::string& hash, Step before) override {
    const std::lock_guard lock(run_->mutex);
    return first_step(*run_, &StepRow::source, hash, before);
  }
  Result<std::optional<Step>> find_identity(const std::string& identity, Step before) override {
    const std::lock_guard lock(run_->mutex);
    return first_step(*run_, &StepRow::identity, identity, before);
  }

  Result<std::optional<Snapshot>> snapshot() override {
    const std::lock_guard lock(run_->mutex);
    const bool usable =
        run_->snapshot && run_->snapshot->number <= static_cast<std::int64_t>(run_->events.size());
    return usable ? run_->snapshot : std::nullopt;
  }
  Result<void> put_snapshot(const Snapshot& snapshot) override {
    const std::lock_guard lock(run_->mutex);
    KERNEVO_CHECK(may_write());
    run_->snapshot = snapshot;
    return {};
  }

  Result<std::optional<std::string>> recall(const std::string& key) override {
    const std::lock_guard lock(run_->mutex);
    const auto found = run_->memo.find(key);
    return found == run_->memo.end() ? std::nullopt : std::optional(found->second);
  }
  Result<void> remember(const std::string& key, std::string_view body) override {
    const std::lock_guard lock(run_->mutex);
    KERNEVO_CHECK(may_write());
    run_->memo.emplace(key, body);
    return {};
  }
  Result<std::vector<std::string>> remembered() override {
    const std::lock_guard lock(run_->mutex);
    std::vector<std::string> keys;
    for (const auto& [key, body] : run_->memo)
      keys.push_back(key);
    return keys;
  }

protected:
  Result<void> commit(const Entry& entry) override {
    const std::lock_guard lock(run_->mutex);
    KERNEVO_CHECK(may_write());
    KERNEVO_TRY(row, row_after(entry.event));
    std::map<std::string, std::string> blobs(entry.blobs.begin(), entry.blobs.end());
    Run::Event event{entry.milliseconds, entry.seconds, std::string(kind_of(entry.event)),
                     step_of(entry.event), to_json(entry.event)};
    if (std::exchange(run_->drop_next, false)) {
      dropped_ = true;
      return may_write();
    }
    run_->blobs.merge(blobs);
    if (row)
      run_->steps.insert_or_assign(row->step, std::move(*row));
    run_->events.push_back(std::move(event));
    return {};
  }

  Result<std::optional<std::string>> load_blob(const std::string& hash) override {
    const std::lock_guard lock(run_->mutex);
    const auto found = run_->blobs.find(hash);
    return found == run_->blobs.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::vector<std::string>> blob_hashes() override {
    const std::lock_guard lock(run_->mutex);
    std::vector<std::string> hashes;
    for (const auto& [hash, body] : run_->blobs)
      hashes.push_back(hash);
    return hashes;
  }

  Result<std::vector<RunEvent>> events_of_step(Step step, std::string_view kind) override {
    const std::lock_guard lock(run_->mutex);
    std::vector<RunEvent> events;
    for (const Run::Event& stored : run_->events)
      if (stored.step == step && stored.kind == kind) {
        KERNEVO_TRY(event, event_from_json(kind, stored.body));
        events.push_back(std::move(event));
      }
    return events;
  }

private:
  Result<void> may_write() const {
    if (!writes_)
      return fail(ErrorCode::infrastructure, "was opened for reading only", Place{location()});
    if (dropped_)
      return fail(ErrorCode::infrastructure, "its writer has ended", Place{location()});
    return {};
  }

  // The index of the event's step with the event, when it changes it.
  Result<std::optional<StepRow>> row_after(const RunEvent& event) const {
    const auto known = run_->steps.find(step_of(event));
    const bool there = known != run_->steps.end();
    if (const auto* d = std::get_if<Directive>(&event)) {
      if (there)
        return fail(ErrorCode::infrastructure, fmt::format("step {} is decided already", d->step),
                    Place{location()});
      StepRow row;
      row.step = d->step;
      row.mode = name_of(d->mode);
      row.proposer = d->proposer;
      row.direction = d->direction;
      row.parent = d->parent;
      return row;
    }
    if (!there)
      return std::nullopt;
    StepRow row = known->second;
    if (const auto* c = std::get_if<Candidate>(&event)) {
      row.source = c->source;
      row.title = c->title;
      return row;
    }
    if (const auto* e = std::get_if<Evaluation>(&event)) {
      row.identity = e->identity;
      row.outcome = name_of(e->outcome);
      row.objective_ns = e->objective ? std::optional(e->objective->value) : std::nullopt;
      row.summary = e->summary;
      return row;
    }
    return std::nullopt;
  }

  std::shared_ptr<Run> run_;
  bool writes_;
  bool dropped_ = false;
};

} // namespace

std::shared_ptr<MemoryStore::Run> MemoryStore::find(const std::string& run) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(run);
  return found == runs_.end() ? nullptr : found->second;
}

Result<std::unique_ptr<Journal>> MemoryStore::create(const std::string& run) {
  {
    const std::lock_guard lock(mutex_);
    if (!runs_.emplace(run, std::make_shared<Run>()).second)
      return fail(ErrorCode::usage, "holds a run already", Place{location_of(run)});
  }
  return open(run, Journal::Access::write);
}

Result<std::unique_ptr<Journal>> MemoryStore::open(const std::string& run, Journal::Access access) {
  const std::shared_ptr<Run> found = find(run);
  if (!found)
    return fail(ErrorCode::usage, "holds no run", Place{location_of(run)});
  if (access == Journal::Access::write) {
    const std::lock_guard lock(found->mutex);
    if (found->written)
      return fail(ErrorCode::usage, "another kernevo is writing this run", Place{location_of(run)},
                  "close the other journal");
    found->written = true;
  }
  return std::make_unique<MemoryJournal>(run, found, access);
}

Result<Repair> MemoryStore::repair(const std::string& run) {
  return fail(ErrorCode::unsupported, "a run in memory cannot be damaged, nor repaired",
              Place{location_of(run)});
}

void MemoryStore::drop_next_transaction(const std::string& run) {
  if (const std::shared_ptr<Run> found = find(run)) {
    const std::lock_guard lock(found->mutex);
    found->drop_next = true;
  }
}

} // namespace kernevo::store
